"""Families whose layers carry a state: parameters, state, work and bytes derived by hand."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from mansard.models import read_config

# Mamba-2 2.7B, the published sizes: hidden h, heads H of P, N state, G groups, k kernel, L layers, V vocabulary.
h, H, P, N, G, k, L, V = 2560, 80, 64, 128, 1, 4, 64, 50288
INNER, CONVOLVED = H * P, H * P + 2 * G * N
MATRICES = h * (INNER + CONVOLVED + H) + INNER * h
DOCUMENT: dict[str, Any] = {
    "model_type": "mamba2", "hidden_size": h, "num_heads": H, "head_dim": P, "state_size": N, "n_groups": G,
    "conv_kernel": k, "num_hidden_layers": L, "vocab_size": V, "expand": 2, "tie_word_embeddings": True,
    "use_bias": False, "use_conv_bias": True, "dtype": "bfloat16",
}  # fmt: skip
H100 = "h100-sxm"


def model(**changes: Any) -> mansard.ModelConfig:
    return read_config(DOCUMENT | changes, "config.json")


def test_parameters_are_the_matrices_the_convolution_three_vectors_and_the_norms() -> None:
    layer = MATRICES + CONVOLVED * (k + 1) + 3 * H + INNER + h
    assert MATRICES == 40_181_760
    assert model().parameters == L * layer + V * h + h
    assert model(tie_word_embeddings=False).parameters == L * layer + 2 * V * h + h
    assert model(use_bias=True).parameters - model().parameters == L * (INNER + CONVOLVED + H + h)
    assert model().parameters - model(use_conv_bias=False).parameters == L * CONVOLVED


def test_decode_does_the_matrices_and_reads_and_writes_the_state() -> None:
    found = mansard.analyze(model(), on=H100).decode
    assert found is not None
    assert found.flops == 2 * (L * MATRICES + V * h) == 5_400_739_840
    scan = next(row for row in found.operators if row.kind == "scan")
    state = L * H * P * N
    assert state == 41_943_040
    assert scan.cache_read_bytes + scan.cache_write_bytes == 2 * 4 * state == 335_544_320
    assert scan.vector_flops == L * ((5 * N + 8) * INNER + 6 * H + 4 * CONVOLVED)
    in_bf16 = mansard.analyze(model(), on=H100, state="bf16").decode
    assert in_bf16 is not None
    scan = next(row for row in in_bf16.operators if row.kind == "scan")
    assert scan.cache_read_bytes + scan.cache_write_bytes == 2 * 2 * state == 167_772_160


def test_the_intensity_levels_off_where_the_state_is_all_that_is_moved() -> None:
    """A sequence's FLOPs over the bytes of its state: 16.10 in fp32, 32.19 in bf16."""
    work, state = 5_400_739_840, L * H * P * N
    assert (round(work / (8 * state), 2), round(work / (4 * state), 2)) == (16.10, 32.19)
    found = mansard.saturate(model(), on=H100, context=4096)
    convolved = L * CONVOLVED * 2 * ((k - 1) + 1)  # inputs read, and the token's own written
    assert found.batch is None
    assert found.plateau_intensity == pytest.approx(work / (8 * state + convolved), rel=1e-12)


def test_a_prompt_begins_without_a_state_and_a_cached_prefix_with_one() -> None:
    fresh = mansard.analyze(model(), on=H100, prompt=512).prefill
    behind = mansard.analyze(model(), on=H100, prompt=512, cached=256).prefill
    state = 4 * L * H * P * N
    inputs = 2 * L * CONVOLVED * (k - 1)
    assert (fresh.bytes.cache_read, fresh.bytes.cache_write) == (0, state + inputs)
    assert (behind.bytes.cache_read, behind.bytes.cache_write) == (state + inputs, state + inputs)
    assert fresh.flops == 512 * 2 * L * MATRICES + 2 * V * h


def test_memory_holds_a_state_for_each_sequence_however_long() -> None:
    """As the class keeps it: the state in fp32, and k inputs of each convolved channel in the model's dtype."""
    short, long = (mansard.analyze(model(), on=H100, batch=3, prompt=n).memory for n in (64, 4096))
    assert short.state_bytes == long.state_bytes == 3 * (4 * L * H * P * N + 2 * L * CONVOLVED * k)
    assert long.cache_bytes == 0


def test_a_step_does_not_depend_on_the_context() -> None:
    steps = [mansard.step(model(), on=H100, context=context) for context in (2, 100_000)]
    assert steps[0].bytes == steps[1].bytes
    assert steps[0].flops == steps[1].flops


def test_widths_that_contradict_each_other_are_one_error() -> None:
    with pytest.raises(InputError) as refused:
        model(num_heads=81, n_groups=2)
    assert {fault.key for fault in refused.value.faults} == {"expand", "n_groups"}
