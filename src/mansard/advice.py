"""Which change helps most: each tried on the same scenario, with the gain in the bound and the reason."""

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import NamedTuple

from mansard.inputs.device import Device, DeviceLike, Fact
from mansard.inputs.device_file import usable_devices
from mansard.inputs.formats import cache_bits, layer_formats, opaque_format
from mansard.inputs.model import ModelLike, distinct
from mansard.inputs.modules import stored_matrices
from mansard.precision import DTYPE_BITS
from mansard.records import Advice, Advised, Phase
from mansard.scenarios import Scenario, scenario, with_deployment, with_device

_NOTHING = 1.005  # a gain below half a percent is none
_SHORTER = 0.9  # of the bits as they are: less of a difference is none
_AS_GOOD = 0.95  # of what the device at hand has
_WIDE = 12  # bits from which four are a quarter, not a half
ALONE: dict[str, float] = {}  # the change leaves the work of all phases as it is


class Change(NamedTuple):
    """A change: what it is called, the scenario that has it, and what it acts on.

    work: by phase, the work that its step does beside that of the scenario as it is (1 where it is not named), so that
    a larger batch or a longer prompt is judged per token.
    acts_on: "memory", "compute" or "both", for the sentence that says why it does nothing.
    """

    name: str
    after: Scenario
    work: dict[str, float]
    acts_on: str
    why: str


def changes(where: Scenario) -> tuple[Advice, ...]:
    """Every change of the scenario that could help or is often thought to, the most helpful first; no other devices."""
    return _ranked(where, _changes(where))


def advise(
    model: ModelLike,
    *,
    on: DeviceLike,
    batch: int | None = None,
    prompt: int | None = None,
    output: int | None = None,
    cached: int | None = None,
    context: int | None = None,
    images: int | None = None,
    resolution: str | int | None = None,
    frames: int | None = None,
    seconds: float | None = None,
    weights: str | None = None,
    activations: str | None = None,
    kv: str | None = None,
    state: str | None = None,
    attention: str | None = None,
    routing: str | None = None,
    engine: str | None = None,
    mtp: bool = False,
    online: bool = False,
) -> Advised:
    """The same as `analyze(…).advice`, with the next devices up beside the changes on this one.

    >>> by_name = {(one.change, one.phase): one for one in advise("llama-3.1-8b", on="h100-sxm")}
    >>> by_name["twice the peak", "decode"].speedup_best
    1.0
    """
    where = scenario(
        model, on=on, batch=batch, prompt=prompt, output=output, cached=cached, context=context, images=images,
        resolution=resolution, frames=frames, seconds=seconds, weights=weights, activations=activations, kv=kv,
        state=state, attention=attention, routing=routing, engine=engine, mtp=mtp, online=online,
    )  # fmt: skip
    return Advised(_ranked(where, [*_changes(where), *_next_devices(where)]))


def _ranked(where: Scenario, tried: "list[Change] | Iterator[Change]") -> tuple[Advice, ...]:
    before = where.phases()
    found = [one for change in tried for name, phase in before.items() for one in _judged(change, name, phase)]
    return tuple(sorted(found, key=lambda one: -one.speedup_best))


def _judged(change: Change, name: str, before: Phase) -> Iterator[Advice]:
    after = change.after.phase(name)
    speedup = change.work.get(name, 1.0) * before.best_s / after.best_s
    if abs(speedup - 1) < 1e-12:  # the way there and back through other sums
        speedup = 1.0
    yield Advice(
        change=change.name,
        phase=name,
        speedup_best=speedup,
        speedup_expected=None,
        best_s_after=after.best_s,
        bound_after=after.bound,
        fits_after=change.after.fits(),
        why=_why(change, before, after, speedup),
    )


def _why(change: Change, before: Phase, after: Phase, speedup: float) -> str:
    if speedup >= _NOTHING:
        moved = f"; then {after.bound} binds" if after.bound != before.bound else ""
        return f"{change.why}{moved}"
    if speedup <= 2 - _NOTHING:
        widened = f", since products run in {after.dtype}, not {before.dtype}" if after.dtype != before.dtype else ""
        return f"{change.why}: {before.name} gets slower{widened}"
    if change.work.get(before.name, 1.0) != 1:
        return f"{before.name} is bound by {before.bound}, which grows with the work: nothing is gained per token"
    idle = "memory" if before.bound == "compute" else "compute"
    if change.acts_on == idle:
        return f"{before.name} waits for {before.bound}, and this only shortens the {idle} clock"
    return f"{change.why}, but that is too small a part of this step to show"


def _changes(where: Scenario) -> Iterator[Change]:
    yield from _shorter_weights(where)
    yield from _cache_and_attention(where)
    device = where.binding.device
    faster = replace(device, bandwidth=_scaled(device.memory_bandwidth, 2))
    yield Change(
        "twice the bandwidth", with_device(where, faster), ALONE, "memory", "every byte moves in half the time"
    )
    stronger = replace(
        device,
        peaks=tuple((dtype, _scaled(fact, 2)) for dtype, fact in device.peaks),
        vector_peak=_scaled(device.vector_peak, 2) if device.vector_peak else None,
    )
    yield Change(
        "twice the peak", with_device(where, stronger), ALONE, "compute", "every operation takes half the time"
    )
    yield from _workloads(where)


def _shorter_weights(where: Scenario) -> Iterator[Change]:
    bits = _weight_bits(where)
    part = "a quarter of" if bits > _WIDE else "half"
    for name, asked, share in (
        ("half the weight bits, weights only (fp8)", "fp8-weights", 8),
        ("half the weight bits, arithmetic too (fp8)", "fp8", 8),
        (f"{part} the weight bits, weights only (int4, groups of 128)", "int4-g128", 4.5),
    ):
        if share < _SHORTER * bits and _can_be_computed(where, asked):
            deployed = where.binding.deployment._replace(weights=asked)
            why = "fewer bytes of weights are read" + (
                ", and the products run at the rate of fp8" if asked == "fp8" else ""
            )
            yield Change(name, with_deployment(where, deployed), ALONE, "both" if asked == "fp8" else "memory", why)


def _can_be_computed(where: Scenario, weights: str) -> bool:
    """Whether arithmetic in a short format is a change at all: a device without it would fall back to a wider one."""
    return weights != "fp8" or dict(where.binding.device.peaks).get("fp8") is not None


def _weight_bits(where: Scenario) -> float:
    """Bits of an element of the layers' matrices, over all of them."""
    model, deployed = where.binding.model, where.binding.deployment
    if model.opaque_parameters:
        return opaque_format(model, deployed).bits_per_weight
    elements = bits = 0.0
    stacks = [(model.distinct_layers, model.hidden_size)]
    stacks += [(distinct(encoder.layers), encoder.hidden_size) for encoder in model.encoders]
    for layer, count, hidden in ((*one, hidden) for layers, hidden in stacks for one in layers):
        formats = layer_formats(layer, model, deployed)
        for one in stored_matrices(layer, hidden):
            here = count * one.copies * one.matrix.elements
            elements += here
            bits += here * formats(one.part, one.matrix).bits_per_weight
    return bits / elements if elements else DTYPE_BITS[model.dtype]


def _cache_and_attention(where: Scenario) -> Iterator[Change]:
    model, deployed = where.binding.model, where.binding.deployment
    if model.opaque_parameters:
        return
    if model.has_decoder and cache_bits(model, deployed) > 8:
        shorter = deployed._replace(kv="fp8")
        yield Change(
            "half the cache bits (fp8)", with_deployment(where, shorter), ALONE, "memory", "half the cache is read"
        )
    standard = deployed.attention == "standard" or (
        deployed.attention != "fused" and where.binding.engine.attention == "standard"
    )
    if standard:
        fused = deployed._replace(attention="fused")
        why = "scores stay on the chip, and what the mask hides is not computed"
        yield Change("fused attention", with_deployment(where, fused), ALONE, "both", why)
    if where.binding.engine.fusion != "full":
        whole = deployed._replace(engine="ideal")
        yield Change("full fusion", with_deployment(where, whole), ALONE, "memory", "activations stay on the chip")


def _workloads(where: Scenario) -> Iterator[Change]:
    work, model = where.asked, where.binding.model
    rate = "tokens" if model.has_decoder else "inputs"
    for factor in (2, 4):
        larger = replace(where, asked=work._replace(batch=work.batch * factor))
        why = f"the weights are read once for more sequences (gain in {rate} per second)"
        yield Change(f"batch ×{factor}", larger, dict.fromkeys(where.phase_names, factor), "memory", why)
    context, whole = where.workload.decode_context, where.workload.decoder_prompt
    if not model.layers or model.start_tokens:
        return
    for name, ratio in (("half the context", 0.5), ("twice the context", 2.0)):
        length, cached = max(1, int(context * ratio)), int(work.cached * ratio)
        prompt = max(cached + 1, int(work.prompt * ratio))
        other = replace(where, asked=work._replace(context=length, prompt=prompt, cached=cached))
        longer = (other.workload.decoder_prompt - cached) / (whole - work.cached)
        # Twice the prompt is twice the work asked for: prefill is judged per token that it computes.
        yield Change(
            name,
            other,
            {"prefill": longer},
            "both",
            "less to attend to (gain per prompt token)" if ratio < 1 else "more to attend to, and to prefill",
        )
    if work.cached == 0 and work.prompt > 1:
        half = replace(where, asked=work._replace(cached=work.prompt // 2))
        yield Change(
            "half of the prompt from a prefix cache", half, ALONE, "both", "the cached half is read, not computed"
        )


def _scaled(fact: Fact, factor: float) -> Fact:
    return fact._replace(value=fact.value * factor)


def _next_devices(where: Scenario) -> Iterator[Change]:
    """The same vendor's next device with more bandwidth, and its next with more peak; neither worse in the other."""
    here = where.binding.device
    peaks = where.binding.main_plan.peaks
    dtype = peaks[0][0] if peaks else "bf16"
    others = [device for device in usable_devices() if device.vendor == here.vendor]
    measures: tuple[Callable[[Device], float], ...] = (
        lambda device: device.memory_bandwidth.value,
        lambda device: _peak(device, dtype),
    )

    def keeps_up(device: Device) -> bool:
        """Whether it is no worse in the other measure: a step up in one and down in the other is a trade."""
        return all(measure(device) > _AS_GOOD * measure(here) for measure in measures)

    chosen: dict[str, Device] = {}
    for measure in measures:
        better = [device for device in others if measure(device) > 1.05 * measure(here) and keeps_up(device)]
        for device in sorted(better, key=measure)[:1]:
            chosen[device.name] = device
    for device in chosen.values():
        ratio = device.memory_bandwidth.value / here.memory_bandwidth.value
        why = f"{ratio:.2g} times the bandwidth, {_peak(device, dtype) / _peak(here, dtype):.2g} times the peak"
        yield Change(f"moving to {device.name}", with_device(where, device), ALONE, "both", why)


def _peak(device: Device, dtype: str) -> float:
    known = dict(device.peaks)
    return known[dtype].value if dtype in known else 0.0
