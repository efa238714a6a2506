"""A derivation as a report that a student can redo on paper."""

from collections.abc import Iterator
from math import floor

from mansard.inputs.device import Device
from mansard.inputs.formats import cache_bits
from mansard.inputs.model import ModelConfig
from mansard.inputs.scenario import Deployment
from mansard.memory import component_bytes, source_bytes, widest_elements, widest_of_encoder
from mansard.operators.cost import Op
from mansard.operators.step import cached_tokens_kept
from mansard.perceiving import encode_phase, readings
from mansard.precision import DTYPE_BITS
from mansard.records import Phase
from mansard.results import Analysis
from mansard.views.derivation import Derivation, Line, exact
from mansard.views.headline import headline, workload
from mansard.views.report import Block, Report, Text, facts
from mansard.views.sources import source_block
from mansard.views.tables import notes_block, saturation_line
from mansard.views.wording import bytes_both, duration, figure, milliseconds, number, scaled


def explanation_report(found: Analysis, steps: tuple[Derivation, ...], *, quiet: bool = False) -> Report:
    """Given numbers, then decode and prefill with every operator, the clocks, what they mean, request and sources."""
    blocks: list[Block] = [device_block(found), _memory(found)]
    for one in steps if found.model.pipeline else reversed(steps):
        blocks += _phase(one, found)
    blocks += [
        _request(found),
        Text(title="Saturation", lines=(saturation_line(found.saturation, not found.model.opaque_parameters),)),
    ]
    if not quiet:
        blocks += notes_block(found.notes)
    blocks.append(source_block(found.sources))
    return Report(headline=headline(found), blocks=tuple(blocks))


def device_block(found: Analysis) -> Block:
    """B and P with their sources: what every clock divides by."""
    device: Device = found.device
    dtypes = dict.fromkeys(phase.dtype for phase in found.phases.values())
    pairs = [
        (
            "B",
            f"{scaled(device.memory_bandwidth.value, 'B/s')}  memory bandwidth{_from(device.memory_bandwidth.source)}",
        )
    ]
    for dtype in dtypes:
        peak = device.peak(dtype)
        instead = "" if peak.dtype == dtype else f", which stands in for {dtype}"
        text = f"{scaled(peak.flops_per_s, 'FLOP/s')}  dense peak of {peak.dtype}{instead}{_from(peak.fact.source)}"
        pairs.append(("P", text))
        pairs.append(("P / B", f"{figure(peak.flops_per_s / device.memory_bandwidth.value)} FLOP/byte  ridge point"))
    if device.vector_peak is not None:
        text = f"{scaled(device.vector_peak.value, 'FLOP/s')}  vector units{_from(device.vector_peak.source)}"
        pairs.append(("P_vector", text))
    return facts(f"Given: {workload(found)}; the device", pairs)


def _from(source: str) -> str:
    return f"  [{source}]" if source else "  [given]"


def _memory(found: Analysis) -> Block:
    memory = found.memory
    parts = {
        "weights": memory.weights_bytes,
        "cache": memory.cache_bytes,
        "state": memory.state_bytes,
        "activations": memory.activations_bytes,
        "reserve": memory.reserve_bytes,
    }
    there = {name: size for name, size in parts.items() if size}
    put_in = "" if len(there) == 1 else " + ".join(map(number, there.values())) + " = "
    lines = [
        f"total = {' + '.join(there)}",
        f"      = {put_in}{number(memory.total_bytes)} B, {bytes_both(memory.total_bytes)}",
    ]
    lines += _parts(found)
    if memory.device_bytes is not None:
        verdict = "fits" if memory.fits else "does not fit"
        lines.append(f"device: {number(memory.device_bytes)} B, {bytes_both(memory.device_bytes)}: it {verdict}")
    return Text(title="Memory", lines=tuple(lines), literal=True)


def _parts(found: Analysis) -> Iterator[str]:
    """What the weights, the cache and the activations are made of."""
    memory, model, deployed = found.memory, found.model, found.deployment
    yield from _weights(model, deployed)
    if memory.cache_bytes and memory.cache_bytes_per_sequence:
        each, tokens = number(memory.cache_bytes_per_sequence), memory.tokens_per_sequence
        yield f"cache = {number(found.workload.batch)} · {each} B for {number(tokens)} tokens a sequence"
        kept: dict[tuple[int, int], int] = {}
        for layer, count in model.distinct_layers:
            for mixer in layer.mixers:
                size = -(-mixer.cache_elements_per_token * cache_bits(model, deployed) // 8)
                key = (size, int(cached_tokens_kept(tokens, mixer.window, mixer.chunk)))
                kept[key] = kept.get(key, 0) + count
        sums = [
            f"{number(n)} layers · {number(at)} tokens · {number(size)} B" for (size, at), n in kept.items() if size
        ]
        if found.workload.source:
            size = source_bytes(model, deployed, 1)
            sums.append(f"{number(found.workload.source)} tokens of the encoder · {number(size)} B")
        yield f"  each = {' + '.join(sums)}"
    if memory.state_bytes:
        carried = f"{number(model.state_elements)} elements in {deployed.state or model.state_dtype}"
        inputs = f"{number(model.convolution_state_elements)} inputs of earlier tokens"
        yield f"state = {number(found.workload.batch)} sequences · ({carried} + {inputs}), however long they are"
    if memory.activations_bytes:
        yield _activations(found, memory.activations_bytes)


def _weights(model: ModelConfig, deployed: Deployment) -> Iterator[str]:
    bits = DTYPE_BITS[model.dtype]
    if model.pipeline:
        for name, size in component_bytes(model.pipeline, deployed).items():
            yield f"  {name}: {number(size)} B"
    elif model.stored is not None and deployed.weights is None:
        yield f"weights = the sum of the {number(model.stored.weights)} weights that its files hold, to the byte"
    elif not model.opaque_parameters and model.quantization is None and deployed.weights is None:
        yield f"weights = {number(model.parameters)} parameters · {bits // 8} B ({model.dtype})"
    elif not model.opaque_parameters:
        yield "weights: each matrix in its own format with its scales (mansard show names it), the rest in the dtype"


def _activations(found: Analysis, held: int) -> str:
    """Those of the phase that has most of them."""
    if found.model.pipeline:
        return (
            f"activations = {number(held)} B at the widest point of the widest phase, what goes in and what comes out"
        )
    model, work = found.model, found.workload
    wide = DTYPE_BITS[found.deployment.activations or model.dtype]
    for encoder, reading in zip(model.encoders, readings(model, work), strict=True):
        each = reading.tokens * widest_of_encoder(encoder) * wide // 8
        if reading.sequences and held % each == 0 and held // each <= work.batch * reading.sequences:
            point = (
                f"{number(reading.tokens)} tokens · {number(widest_of_encoder(encoder))} elements at the widest point"
            )
            name = encode_phase(model, encoder)
            return f"activations = {number(held // each)} sequences · {point} of {name} · {wide // 8} B"
    widest, logits = widest_elements(model), work.batch * model.head.vocab_size * 4 if model.head else 0
    at_once = (held - logits) * 8 // (widest * wide)
    point = f"{number(at_once)} tokens · {number(widest)} elements at the widest point · {wide // 8} B"
    return f"activations = {point} + {number(logits)} B of logits in fp32"


def _phase(one: Derivation, found: Analysis) -> Iterator[Block]:
    phase = one.phase
    yield facts(f"{phase.name.capitalize()}: the step", [(line.quantity, _symbol(line)) for line in one.given])
    for op, lines in one.operators:
        yield Text(title=_title(op), lines=tuple(_operator_lines(op, lines)))
    totals = [text for line in one.totals for text in _equation(line)]
    yield Text(title=f"{phase.name.capitalize()}: sums", lines=tuple(totals))
    clocks = [text for line in one.clocks for text in _equation(line)]
    yield Text(title=f"{phase.name.capitalize()}: clocks", lines=(*clocks, *_verdict(phase, found)))


def _symbol(line: Line) -> str:
    put_in = f" = {line.substituted}" if line.substituted else ""
    unit = line.unit.removesuffix("s") if line.value == 1 else line.unit
    return f"{exact(line.value)} {unit}".rstrip() + f"  ({line.formula}{put_in})"


def _title(op: Op) -> str:
    many = f", {number(op.count)} of them" if op.count != 1 else ""
    return f"{op.name} ({op.group}, {op.dtype}{many})"


def _operator_lines(op: Op, lines: tuple[Line, ...]) -> Iterator[str]:
    if op.symbols:
        yield "; ".join(f"{symbol} = {exact(value)} {what}" for symbol, value, what in op.symbols)
    for line in lines:
        yield from _equation(line)


def _equation(line: Line) -> Iterator[str]:
    put_in = f" = {line.substituted}" if line.substituted and line.substituted != number(line.value) else ""
    source = f"  [{line.source}]" if line.source else ""
    yield f"{line.quantity} = {line.formula}{put_in} = {_result(line)}{source}"


def _result(line: Line) -> str:
    if line.unit == "s":
        return milliseconds(line.value)
    if line.unit in ("B", "FLOP"):
        exact = f"{number(line.value)} {line.unit}"
        return exact if line.value < 1e5 else f"{exact} ({scaled(line.value, line.unit)})"
    return f"{figure(line.value)} {line.unit}"


def _verdict(phase: Phase, found: Analysis) -> Iterator[str]:
    memory_s, compute_s = phase.clocks.memory_s, phase.clocks.compute_s
    if memory_s > compute_s:
        yield f"memory / compute = {milliseconds(memory_s)} / {milliseconds(compute_s)} = {_times(memory_s, compute_s)}"
        best = f"at best {milliseconds(phase.best_s)}"
        yield f"{phase.name} is {phase.bound}-bound: {best}; the cores idle for {_idle(phase.mfu)}"
        even = found.saturation.batch_weights_alone
        if even is not None and phase.name == "decode":
            many = "1 token per step evens" if even == 1 else f"{number(even)} tokens per step even"
            yield f"{many} the two clocks out for the weights alone (mansard saturate)"
        return
    yield f"compute / memory = {milliseconds(compute_s)} / {milliseconds(memory_s)} = {_times(compute_s, memory_s)}"
    yield (
        f"{phase.name} is {phase.bound}-bound: at best {milliseconds(phase.best_s)}, "
        f"about {_ratio(compute_s, memory_s)} times the reading"
    )


def _times(more: float, less: float) -> str:
    return f"{_ratio(more, less)} times" if less else "no work at all"


def _ratio(more: float, less: float) -> str:
    ratio = more / less
    return f"{ratio:,.0f}" if ratio >= 9.95 else figure(ratio)


def _idle(utilisation: float) -> str:
    """Whole percent, rounded down: "over 99 % of the step"."""
    return f"over {floor(100 * (1 - utilisation))} % of the step"


def _request(found: Analysis) -> Block:
    request, gaps = found.request, found.workload.output - 1
    before = [name for name in found.phases if name != "decode"]
    shown = [(found.phases[name].repeats, found.phases[name].best_s) for name in before]
    sums = " + ".join(f"{number(times)} · {duration(one)}" if times > 1 else duration(one) for times, one in shown)
    put_in = f" = {sums}" if len(before) > 1 else ""
    if not found.model.has_decoder:
        return Text(
            title="Request", lines=(f"end to end = {' + '.join(before)}{put_in} = {duration(request.e2e_s.best)}",)
        )
    lines = [f"TTFT = {' + '.join(before)}{put_in} = {duration(request.ttft_s.best)}"]
    if gaps:
        first, last = duration(request.itl_first_s.best), duration(request.itl_last_s.best)
        ends = f", from {first} to {last} as the cache grows" if not found.model.opaque_parameters else ""
        many = f"{number(gaps)} {'gap' if gaps == 1 else 'gaps'}"
        lines.append(f"ITL  = mean of {many}{ends} = {duration(request.itl_s.best)}")
    put_in = f"{duration(request.ttft_s.best)} + {number(gaps)} · {duration(request.itl_s.best)}" if gaps else "TTFT"
    lines.append(f"end to end = TTFT + (n_out − 1) · ITL = {put_in} = {duration(request.e2e_s.best)}")
    return Text(title="Request", lines=tuple(lines))
