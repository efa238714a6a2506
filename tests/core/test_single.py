"""One operator alone: its table, its intensity and its verdict, by hand."""

import pytest

import mansard
from mansard.errors import UsageError
from mansard.operators.attention import SOFTMAX_FLOPS
from mansard.single import operator_inputs, operator_names

H100 = "h100-sxm"
EXAMPLES = {
    "gemm": {"m": 64, "n": 128, "k": 256},
    "attention": {"length": 512, "head_dim": 64},
    "latent_attention": {"length": 512},
    "moe": {"tokens": 4, "hidden": 64, "intermediate": 128, "experts": 8, "per_token": 2},
    "norm": {"tokens": 4, "hidden": 64},
    "activation": {"tokens": 4, "intermediate": 64},
    "rotary": {"tokens": 4, "heads": 8, "head_dim": 64},
    "residual": {"tokens": 4, "hidden": 64},
    "embedding": {"tokens": 4, "hidden": 64},
    "append": {"tokens": 4, "kv_heads": 8, "head_dim": 64},
    "sampling": {"batch": 4, "vocab": 1000},
}


def test_standard_attention() -> None:
    n, d = 4096, 128
    found = mansard.operator("attention", on=H100, length=n, head_dim=d, kind="standard")
    assert found.flops == 2 * n * n * d + 3 * n * n + 2 * n * n * d == 8_640_266_240
    assert found.bytes == 8 * n * n + 8 * n * d == 138_412_032
    assert found.intensity == pytest.approx(62.42, abs=0.005)
    assert found.bound == "memory"
    assert [step.loads_bytes for step in found.steps] == [2 * 2 * n * d, 2 * n * n, 2 * n * n + 2 * n * d]
    assert [step.stores_bytes for step in found.steps] == [2 * n * n, 2 * n * n, 2 * n * d]
    (query,) = found.beside
    assert query.intensity == pytest.approx(1, abs=0.01)
    assert "full square" in " ".join(note.text for note in found.notes)


def test_fused_attention_moves_no_scores() -> None:
    n, d = 4096, 128
    found = mansard.operator("attention", on=H100, length=n, head_dim=d)
    assert found.bytes == 8 * n * d
    assert found.intensity == pytest.approx(2060, rel=1e-3)
    assert found.bound == "compute"


def test_gemm() -> None:
    m, n, k = 64, 128, 256
    found = mansard.operator("gemm", on=H100, m=m, n=n, k=k)
    assert (found.flops, found.bytes) == (2 * m * n * k, 2 * (m * k + k * n + m * n))
    short = mansard.operator("gemm", on=H100, m=m, n=n, k=k, weights="int4-g128")
    assert short.bytes == 2 * (m * k + m * n) + (4 * k * n + 20 * n * k // 128) // 8
    assert short.dtype == "bf16"


def test_a_mixture_reads_the_experts_that_it_touches() -> None:
    found = mansard.operator("moe", on=H100, **EXAMPLES["moe"])
    touched = 8 * (1 - (3 / 4) ** 4)
    weights = touched * 3 * 64 * 128 * 2
    assert found.flops == 2 * 4 * 2 * 3 * 64 * 128
    assert found.bytes == pytest.approx(weights + 2 * 4 * 2 * (64 + 2 * 128 + 128 + 64))


@pytest.mark.parametrize("name", operator_names())
def test_every_operator_answers_and_names_its_faults(name: str) -> None:
    found = mansard.operator(name, on=H100, **EXAMPLES[name])
    assert found.best_s == max(found.memory_s, found.compute_s) > 0
    assert sum(step.loads_bytes + step.stores_bytes for step in found.steps) == found.bytes
    assert set(EXAMPLES[name]) <= set(operator_inputs(name))
    with pytest.raises(UsageError) as error:
        mansard.operator(name, on=H100, nonsense=1)
    assert "nonsense" in str(error.value)
    for key in EXAMPLES[name]:
        assert key in str(error.value)


def test_an_operator_that_is_not_known() -> None:
    with pytest.raises(UsageError, match="did you mean gemm"):
        mansard.operator("gem", on=H100)


def test_attention_with_a_window_and_a_batch() -> None:
    b, n, d, H, H_kv, W = 3, 1000, 64, 8, 2, 128
    one = mansard.operator(
        "attention", on=H100, length=n, head_dim=d, heads=H, kv_heads=H_kv, kind="decode", window=W, batch=b
    )
    softmax = SOFTMAX_FLOPS
    assert one.flops == b * H * W * (4 * d + softmax)
    assert one.bytes == 2 * b * (2 * H * d + 2 * H_kv * W * d)
    prompt = mansard.operator("attention", on=H100, length=n, head_dim=d, causal="yes", window=W)
    assert prompt.flops == (W * (W + 1) // 2 + (n - W) * W) * (4 * d + softmax)
    with pytest.raises(UsageError, match="window"):
        mansard.operator("attention", on=H100, length=n, head_dim=d, kind="standard", window=W)


def test_latent_attention_absorbed_and_expanded() -> None:
    H, r, nope, rope, v, a, softmax = 128, 512, 128, 64, 128, 4096, SOFTMAX_FLOPS
    absorbed = mansard.operator("latent_attention", on=H100, length=a)
    assert absorbed.flops == (2 * H * (2 * r + rope) + softmax * H) * a
    cache, queries, output = (r + rope) * a, H * (nope + rope), H * v  # its own latent is handed over, not read
    assert absorbed.bytes == 2 * (cache + queries + output)
    expanded = mansard.operator("latent_attention", on=H100, length=a, form="expanded")
    again = 2 * r * H * (nope + v) * (a - 1)
    assert expanded.flops == (2 * H * (nope + rope + v) + softmax * H) * a + again
    with pytest.raises(UsageError, match="must not exceed length"):
        mansard.operator("latent_attention", on=H100, length=4, new=5)
