"""What each change of `advise` gains, worked out by hand from bytes and FLOPs: COUNTING §13 for a dense model."""

import pytest

import mansard
from mansard.records import Advice

P, B = 989.4e12, 3.35e12  # an H100 SXM in bf16
P8 = 1978.9e12  # and in fp8
L, h, H, H_kv, d, f, V = 32, 4096, 32, 8, 128, 14336, 128256  # Llama-3.1-8B
LAYER = h * (H + 2 * H_kv) * d + H * d * h + 3 * h * f
HEAD = h * V
NORMS = (2 * L + 1) * h
CACHE = 2 * L * H_kv * d  # elements a token


def pairs(new: int, cached: int) -> int:
    return new * cached + new * (new + 1) // 2


def decode_s(batch: int, context: int, *, kv: float = 2, layer_bytes: float = 2, bandwidth: float = B) -> float:
    """A decode step that memory binds: weights, norms, the cache read and written, looked-up rows, logits."""
    weights = layer_bytes * L * LAYER + 2 * (HEAD + NORMS)
    return (weights + batch * (kv * CACHE * context + 2 * h + 2 * V)) / bandwidth


def prefill_s(new: int, cached: int = 0, peak: float = P) -> float:
    """A prefill that compute binds: linear layers, one row of logits, attention of every pair."""
    return (2 * L * LAYER * new + 2 * HEAD + 4 * H * d * L * pairs(new, cached)) / peak


def advised(**words: object) -> dict[tuple[str, str], Advice]:
    found = mansard.advise("llama-3.1-8b", on="h100-sxm", **words)  # type: ignore[arg-type]
    assert list(found) == sorted(found, key=lambda one: -one.speedup_best)
    return {(one.change, one.phase): one for one in found}


PROMPT, OUTPUT = 8000, 500
CONTEXT = PROMPT + OUTPUT // 2


@pytest.fixture(scope="module")
def found() -> dict[tuple[str, str], Advice]:
    return advised(prompt=PROMPT, output=OUTPUT)


def test_twice_the_bandwidth_and_twice_the_peak(found: dict[tuple[str, str], Advice]) -> None:
    assert found["twice the bandwidth", "decode"].speedup_best == pytest.approx(2)
    assert found["twice the bandwidth", "prefill"].speedup_best == 1
    assert found["twice the peak", "decode"].speedup_best == 1
    assert found["twice the peak", "prefill"].speedup_best == pytest.approx(2)
    assert "waits for memory" in found["twice the peak", "decode"].why


def test_half_the_cache_bits(found: dict[tuple[str, str], Advice]) -> None:
    one = found["half the cache bits (fp8)", "decode"]
    assert one.best_s_after == pytest.approx(decode_s(1, CONTEXT, kv=1))
    assert one.speedup_best == pytest.approx(decode_s(1, CONTEXT) / decode_s(1, CONTEXT, kv=1))


def test_shorter_weights(found: dict[tuple[str, str], Advice]) -> None:
    half = found["half the weight bits, weights only (fp8)", "decode"]
    assert half.best_s_after == pytest.approx(decode_s(1, CONTEXT, layer_bytes=1))
    quarter = found["a quarter of the weight bits, weights only (int4, groups of 128)", "decode"]
    assert quarter.best_s_after == pytest.approx(decode_s(1, CONTEXT, layer_bytes=(4 + (16 + 4) / 128) / 8))
    # Weights alone leave prefill, which compute binds, where it was; fp8 arithmetic speeds its linear layers up.
    assert found["half the weight bits, weights only (fp8)", "prefill"].speedup_best == 1
    both = found["half the weight bits, arithmetic too (fp8)", "prefill"]
    attention, rest = 4 * H * d * L * pairs(PROMPT, 0) / P, 2 * HEAD / P
    assert both.best_s_after == pytest.approx(2 * L * LAYER * PROMPT / P8 + attention + rest, rel=1e-4)


@pytest.mark.parametrize("factor", [2, 4])
def test_a_larger_batch_is_judged_by_tokens_a_second(found: dict[tuple[str, str], Advice], factor: int) -> None:
    one = found[f"batch ×{factor}", "decode"]
    assert one.best_s_after == pytest.approx(decode_s(factor, CONTEXT))
    assert one.speedup_best == pytest.approx(factor * decode_s(1, CONTEXT) / decode_s(factor, CONTEXT))
    assert found[f"batch ×{factor}", "prefill"].speedup_best == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize(("name", "ratio"), [("half the context", 0.5), ("twice the context", 2.0)])
def test_another_context_is_judged_by_the_tokens_that_are_computed(
    found: dict[tuple[str, str], Advice], name: str, ratio: float
) -> None:
    new = int(PROMPT * ratio)
    assert found[name, "decode"].best_s_after == pytest.approx(decode_s(1, int(CONTEXT * ratio)))
    assert found[name, "prefill"].speedup_best == pytest.approx(ratio * prefill_s(PROMPT) / prefill_s(new))


def test_half_of_the_prompt_from_a_cache(found: dict[tuple[str, str], Advice]) -> None:
    one = found["half of the prompt from a prefix cache", "prefill"]
    assert one.best_s_after == pytest.approx(prefill_s(PROMPT // 2, PROMPT // 2))


def test_a_cached_prefix_is_halved_with_its_prompt() -> None:
    found = advised(prompt=PROMPT, cached=6000)
    before = prefill_s(2000, 6000)
    assert found["half the context", "prefill"].speedup_best == pytest.approx(0.5 * before / prefill_s(1000, 3000))
    assert found["twice the context", "prefill"].speedup_best == pytest.approx(2 * before / prefill_s(4000, 12000))


def test_fused_attention_computes_what_the_mask_leaves() -> None:
    found = advised(prompt=PROMPT, attention="standard")
    one = found["fused attention", "prefill"]
    assert one.best_s_after == pytest.approx(prefill_s(PROMPT))
    assert one.speedup_best > 1
    assert ("fused attention", "prefill") not in advised(prompt=PROMPT)


def test_what_is_short_already_is_not_offered_again() -> None:
    names = {change for change, _ in advised(weights="fp8", kv="fp8")}
    assert not [name for name in names if "(fp8)" in name]
    assert "half the weight bits, weights only (int4, groups of 128)" in names
    deepseek = {one.change for one in mansard.advise("deepseek-v3", on="h200-sxm")}
    assert not [name for name in deepseek if "weight bits" in name and "(fp8)" in name]


def test_the_next_devices_are_no_worse_in_anything() -> None:
    here = mansard.load_device("h100-sxm")
    for change, phase in advised():
        if change.startswith("moving to"):
            there = mansard.load_device(change.removeprefix("moving to "))
            assert there.memory_bandwidth.value >= 0.95 * here.memory_bandwidth.value, phase
            assert there.peak("bf16").flops_per_s >= 0.95 * here.peak("bf16").flops_per_s
            assert there.vendor == here.vendor


def test_changes_that_do_not_fit_say_so() -> None:
    found = {(one.change, one.phase): one for one in mansard.advise("llama-3.1-70b", on="h100-sxm")}
    assert found["batch ×2", "decode"].fits_after is False
    assert found["a quarter of the weight bits, weights only (int4, groups of 128)", "decode"].fits_after is True


def test_an_engine_that_moves_activations_saturates_where_its_step_does() -> None:
    found = mansard.saturate("llama-3.1-8b", on="h100-sxm", context=128, engine="eager")
    ideal = mansard.saturate("llama-3.1-8b", on="h100-sxm", context=128)
    assert ideal.batch == 438  # COUNTING §14, row 25
    assert found.batch is None or found.batch > ideal.batch
