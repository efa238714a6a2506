"""Decode steps of published models behind long prompts, derived by hand, and dispatched by their classes."""

from types import ModuleType

import pytest
from configurations import catalogued

pytestmark = [pytest.mark.trace, pytest.mark.filterwarnings("ignore")]


def test_deepseek_v3_expands_its_latents(published: ModuleType) -> None:
    H, r, nope, rope, v, L, prompt = 128, 512, 128, 64, 128, 61, 4096
    N = L * 187_105_280 + 3 * 396_361_728 + 58 * (9 * 44_040_192 + 1_835_008)
    logits = 2 * 7168 * 129_280
    phases = published.trace_language_model(catalogued("deepseek-v3"), batch=1, prompt=prompt).phases
    assert phases["prefill"].gemm_flops == 2 * N * prompt + logits
    assert phases["prefill"].attention_flops == 2 * H * (nope + rope + v) * prompt * prompt * L
    again = 2 * prompt * r * H * (nope + v) * L
    assert phases["decode"].flops == 2 * N + logits + 2 * H * (nope + rope + v) * (prompt + 1) * L + again
    assert phases["decode"].flops == 8_477_498_556_416


def test_gpt_oss_decodes_with_windows(published: ModuleType) -> None:
    attends, window = 4096, 128
    phases = published.trace_language_model(catalogued("gpt-oss-120b"), batch=1, prompt=attends - 1).phases
    layers = 2 * 36 * (26_542_080 + 368_640 + 4 * 24_883_200)
    attention = 4 * 64 * 64 * 18 * (attends + window)
    assert phases["decode"].gemm_flops == layers + 1_158_266_880
    assert phases["decode"].attention_flops == attention
    assert phases["decode"].flops == 11_507_908_608


def test_qwen3_decodes_with_experts(published: ModuleType) -> None:
    attends = 4096
    phases = published.trace_language_model(catalogued("qwen3-30b-a3b"), batch=1, prompt=attends - 1).phases
    layers = 2 * 48 * (18_874_368 + 262_144 + 8 * 4_718_592)
    assert phases["decode"].flops == layers + 622_329_856 + 4 * 32 * 128 * 48 * attends == 9_304_539_136


def test_gemma_3_decodes_with_windows(published: ModuleType) -> None:
    attends, window = 32_768, 1024
    phases = published.trace_language_model(catalogued("gemma-3-27b"), batch=1, prompt=attends - 1).phases
    assert phases["decode"].attention_flops == 4 * 32 * 128 * (10 * attends + 52 * window) == 6_241_124_352
