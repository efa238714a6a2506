"""Faults of other calculators, each a regression test with the right value, derived by hand."""

import pytest

import mansard
from mansard.errors import InputError
from mansard.models import read_config

H100 = "h100-sxm"
# Llama-3.1-8B: L layers, hidden h, H query and K key/value heads of d, feed-forward f, vocabulary V.
L, h, H, K, d, f, V = 32, 4096, 32, 8, 128, 14336, 128256
LAYER = h * (H + 2 * K) * d + H * d * h + 3 * h * f
N = 8000


def llama(**asked: object) -> mansard.Analysis:
    return mansard.analyze("llama-3.1-8b", on=H100, **asked)  # type: ignore[arg-type]


def test_prefill_is_neither_the_full_square_nor_every_token_s_logits() -> None:
    right = 2 * L * LAYER * N + 2 * h * V + 4 * H * d * L * N * (N + 1) // 2
    full_square = 2 * L * LAYER * N + 2 * h * V + 4 * H * d * L * N * N
    all_logits = 2 * L * LAYER * N + 2 * h * V * N + 4 * H * d * L * N * (N + 1) // 2
    found = llama(prompt=N).prefill.flops
    assert found == right
    assert found < full_square < all_logits * 1.2
    assert round(found / 1e12, 2) == 128.45


def test_the_embedding_is_a_look_up_in_decode_and_no_product_in_prefill() -> None:
    decode = llama(context=4096).decode
    assert decode is not None
    embedding = next(row for row in decode.operators if row.name == "embedding")
    assert (embedding.flops, embedding.weight_bytes) == (0, 2 * h)
    assert decode.bytes.weights < 2 * (L * LAYER + h * V) + 1e6  # 15.0 GB, not 16.06


def test_grouped_queries_hold_in_fused_attention() -> None:
    decode = llama(context=4096).decode
    assert decode is not None
    assert decode.bytes.cache_read == L * 2 * K * d * 2 * 4095


def test_the_cache_is_not_rewritten_in_each_step() -> None:
    decode = llama(context=4096).decode
    assert decode is not None
    assert decode.bytes.cache_write == L * 2 * K * d * 2


def test_decode_attention_counts_the_context_and_both_of_its_products() -> None:
    decode = llama(context=4096).decode
    assert decode is not None
    attention = next(row for row in decode.operators if row.kind == "attention")
    assert attention.flops == L * H * (2 * d + 2 * d) * 4096


def test_scores_are_not_written_by_fused_attention_nor_by_decode() -> None:
    prefill = llama(prompt=N, engine="usual").prefill
    attention = next(row for row in prefill.operators if row.kind == "attention")
    assert attention.activation_bytes == L * N * (2 * H * d + 2 * K * d) * 2


def test_bandwidth_is_decimal() -> None:
    decode = llama(context=4096).decode
    assert decode is not None
    assert decode.best_s == decode.bytes.total / 3.35e12
    assert decode.best_s != decode.bytes.total / (3350 * 2**30)


def test_the_peak_is_dense_and_of_the_dtype() -> None:
    prefill = llama(prompt=N).prefill
    assert prefill.best_s == prefill.flops / 989.4e12  # not 1,979 (sparse), not 67 (fp32)


def test_the_feed_forward_width_is_read_and_not_assumed() -> None:
    prefill = llama(prompt=N).prefill
    up = next(row for row in prefill.operators if row.name == "gate_up_proj")
    assert up.flops == 2 * N * L * 2 * h * f  # neither 4·h nor one matrix of it


def test_a_batch_that_does_not_fit_says_so() -> None:
    memory = llama(batch=256, context=4096).memory
    assert memory.fits is False
    assert memory.total_bytes > memory.weights_bytes + 256 * 4096 * L * 2 * K * d * 2 > 80e9


@pytest.mark.parametrize(("batch", "experts"), [(1, 8), (32, 163.3), (256, 255.9)])
def test_a_batch_touches_distinct_experts(batch: int, experts: float) -> None:
    decode = mansard.analyze("deepseek-v3", on=H100, batch=batch, context=4096, weights="bf16").decode
    assert decode is not None
    read = sum(row.weight_bytes for row in decode.operators if row.kind == "experts")
    assert read / (58 * 3 * 7168 * 2048 * 2) == pytest.approx(experts, abs=0.05)


def test_prefill_of_a_mixture_works_with_the_chosen_experts() -> None:
    prefill = mansard.analyze("mixtral-8x7b", on=H100, prompt=N).prefill
    assert round(prefill.flops / 1e12, 1) == 218.7  # neither 747 (all experts) nor 58 (none)
    assert round(prefill.best_s * 1e3, 1) == 221.0


def test_latent_attention_caches_latent_and_rotary_part() -> None:
    facts = mansard.analyze("deepseek-v3", on=H100).to_dict()["model"]
    assert facts["kv_bytes_per_token"] == 61 * (512 + 64) * 2  # 62,464 without the rotary part; 1.7 MB as heads


def test_windows_are_a_layer_s_own() -> None:
    short, long = (
        mansard.analyze("gpt-oss-120b", on=H100, prompt=2, output=2, context=context).memory.cache_bytes_per_sequence
        for context in (128, 4096)
    )
    assert short == 36 * 2 * 8 * 64 * 2 * 128
    assert long - short == 18 * 2 * 8 * 64 * 2 * (4096 - 128)


def test_four_bit_experts_have_scales() -> None:
    weights = mansard.analyze("gpt-oss-120b", on=H100).memory.weights_bytes
    experts = 36 * 128 * 3 * 2880 * 2880
    assert weights > experts * 4.25 / 8
    assert weights / 1e9 == pytest.approx(65.25, abs=0.1)  # the published file; 240 GB if the format is ignored


@pytest.mark.parametrize("model_type", ["llama5", "mixtral2", "qwen4", "my_model"])
def test_an_architecture_that_is_not_known_is_refused_by_name(model_type: str) -> None:
    document = {"model_type": model_type, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4}
    with pytest.raises(InputError, match=model_type):
        read_config(document, "config.json")


def test_no_batch_saturates_at_a_real_context() -> None:
    assert mansard.saturate("llama-3.1-8b", on=H100, context=4096).batch is None


def test_a_bound_is_below_published_kernels() -> None:
    """Decode at batch 1 and 32 on one H100 as others measured them: no bound may exceed a measurement."""
    for batch, measured_ms in ((1, 6.29), (32, 12.25), (256, 51.9)):
        decode = llama(batch=batch, context=4096).decode
        assert decode is not None
        assert decode.best_s * 1e3 < measured_ms
