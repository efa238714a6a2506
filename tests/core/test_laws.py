"""Laws that hold for every model, device and workload: monotony, additivity, scalar equals array."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mansard
from mansard.inputs.device import Device

MODELS = ("llama-3.1-8b", "mixtral-8x7b", "deepseek-v3", "gpt-oss-120b", "gemma-3-27b", "qwen2.5-7b", "olmo-2-7b")
H100 = mansard.load_device("h100-sxm")
models = st.sampled_from(MODELS)
batches = st.integers(1, 4096)
lengths = st.integers(2, 200_000)


def scaled(device: Device, *, bandwidth: float = 1, peak: float = 1) -> Device:
    memory = device.memory_bandwidth._replace(value=device.memory_bandwidth.value * bandwidth)
    peaks = tuple((dtype, fact._replace(value=fact.value * peak)) for dtype, fact in device.peaks)
    return replace(device, bandwidth=memory, peaks=peaks)


@given(models, batches, lengths)
def test_operators_add_up_to_the_step(name: str, batch: int, length: int) -> None:
    for phase in mansard.analyze(name, on=H100, batch=batch, prompt=length, output=2).phases.values():
        rows = phase.operators
        assert sum(row.flops for row in rows) == phase.flops
        assert sum(row.vector_flops for row in rows) == phase.vector_flops
        assert sum(row.bytes for row in rows) == pytest.approx(phase.bytes.total, rel=1e-12)
        assert sum(row.share for row in rows) == pytest.approx(1)
        assert phase.best_s <= phase.operator_bound_s * (1 + 1e-12)
        assert phase.mfu <= 1 + 1e-12
        assert phase.mbu <= 1 + 1e-12


@given(models, batches, lengths, st.integers(1, 64))
def test_more_work_never_takes_less_time(name: str, batch: int, length: int, more: int) -> None:
    here = mansard.analyze(name, on=H100, batch=batch, prompt=length, output=2)
    longer = mansard.analyze(name, on=H100, batch=batch, prompt=length + more, output=2)
    wider = mansard.analyze(name, on=H100, batch=batch + more, prompt=length, output=2)
    for other in (longer, wider):
        assert other.prefill.best_s >= here.prefill.best_s
        assert other.decode is not None
        assert here.decode is not None
        # Chunked layers read fewer cached tokens where a new chunk begins; none of these models has them.
        assert other.decode.best_s >= here.decode.best_s


@given(models, batches, lengths, st.floats(1, 16), st.floats(1, 16))
def test_a_faster_device_is_never_slower(name: str, batch: int, length: int, bandwidth: float, peak: float) -> None:
    faster = scaled(H100, bandwidth=bandwidth, peak=peak)
    here = mansard.analyze(name, on=H100, batch=batch, prompt=length, output=2)
    there = mansard.analyze(name, on=faster, batch=batch, prompt=length, output=2)
    assert there.prefill.best_s <= here.prefill.best_s
    assert there.decode is not None
    assert here.decode is not None
    assert there.decode.best_s <= here.decode.best_s


@given(models, batches, lengths)
def test_a_number_and_an_array_agree(name: str, batch: int, length: int) -> None:
    one = mansard.analyze(name, on=H100, batch=batch, prompt=length, output=2, context=length)
    decode = mansard.grid(name, on=H100, batch=np.array([batch]), context=np.array([length]))
    prefill = mansard.grid(name, on=H100, phase="prefill", batch=np.array([batch]), prompt=np.array([length]))
    assert one.decode is not None
    for phase, many in ((one.decode, decode), (one.prefill, prefill)):
        assert many.best_s[0] == pytest.approx(phase.best_s, rel=1e-9)
        assert many.flops[0] == pytest.approx(phase.flops, rel=1e-12)
        assert many.bytes[0] == pytest.approx(phase.bytes.total, rel=1e-12)


@given(models, st.integers(1, 64), st.integers(1, 3000), st.integers(2, 40))
def test_the_closed_form_over_decode_steps_is_their_sum(name: str, batch: int, prompt: int, output: int) -> None:
    request = mansard.analyze(name, on=H100, batch=batch, prompt=prompt, output=output).request
    steps = [mansard.step(name, on=H100, batch=batch, context=prompt + gap).best_s for gap in range(1, output)]
    assert request.e2e_s.best == pytest.approx(request.ttft_s.best + sum(steps), rel=1e-9)
    assert request.itl_first_s.best == steps[0]
    assert request.itl_last_s.best == steps[-1]


@given(models, batches, lengths)
def test_fusion_only_takes_bytes_away(name: str, batch: int, length: int) -> None:
    whole, usual, none = (
        mansard.analyze(name, on=H100, batch=batch, prompt=length, output=2, engine=engine)
        for engine in ("ideal", "usual", "eager")
    )
    for phase in ("prefill", "decode"):
        assert whole.phases[phase].bytes.total <= usual.phases[phase].bytes.total <= none.phases[phase].bytes.total


@given(models, st.integers(1, 64), st.integers(2, 9000))
def test_what_is_said_to_fit_fits_and_one_more_does_not(name: str, batch: int, prompt: int) -> None:
    found = mansard.analyze(name, on=H100, batch=batch, prompt=prompt, output=2).memory
    largest = found.max_batch
    assert largest is not None
    if largest:
        assert mansard.analyze(name, on=H100, batch=largest, prompt=prompt, output=2).memory.fits
    assert not mansard.analyze(name, on=H100, batch=largest + 1, prompt=prompt, output=2).memory.fits


@given(models, st.integers(1, 5000))
def test_the_saturating_batch_is_the_edge(name: str, context: int) -> None:
    found = mansard.saturate(name, on=H100, context=context)
    if found.batch is None:
        assert found.plateau_intensity is not None
        assert found.plateau_intensity <= found.ridge_point
        return
    ratios = []
    for batch in (max(1, found.batch - 1), found.batch):
        decode = mansard.step(name, on=H100, batch=batch, context=context)
        left_out = sum(row.bytes for row in decode.operators if row.name in ("embedding", "sampling"))
        memory_s = (decode.bytes.total - left_out) / H100.memory_bandwidth.value
        ratios.append(decode.clocks.matrix_s / memory_s)
    assert ratios[1] >= 1 - 1e-9
    assert found.batch == 1 or ratios[0] < 1 + 1e-9


def test_parameters_are_what_the_operators_hold() -> None:
    """Weights that a step of many tokens reads, and the table that it only looks up, are all that is stored."""
    for name in ("llama-3.1-8b", "mixtral-8x7b", "gpt-oss-120b", "qwen2.5-7b"):
        model = mansard.load_model(name)
        found = mansard.analyze(name, on=H100, batch=1 << 20, context=2)
        assert found.decode is not None
        read = sum(row.weight_bytes for row in found.decode.operators if row.name != "embedding")
        embedding = model.embedding
        assert embedding is not None
        assert model.head is not None
        stored = found.memory.weights_bytes
        table = 2 * (embedding.token_parameters + embedding.positions * embedding.position_dim)
        assert (
            read
            == stored - (0 if model.head.tied else table) - (table - 2 * embedding.token_parameters) * model.head.tied
        )
