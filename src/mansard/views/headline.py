"""The first line of an answer: what a person wants to know."""

from collections.abc import Iterator

from mansard.inputs.scenario import Media, Workload
from mansard.records import Memory, Phase
from mansard.results import Analysis
from mansard.views.wording import bytes_both, counted, duration, percent, rate, scaled

_CLOSE = 1.05  # times the memory, within which labels and reserves decide


def headline(found: Analysis) -> str:
    """Fit first where it fails, then decode, then what runs before it.

    "llama-3.1-8b on H100 SXM (bf16): decode is memory-bound, at best 4.64 ms a token (215 tokens/s); prefill is
    compute-bound, 129.8 ms to the first token."
    """
    times = "; ".join(verdicts(found)) + "."
    if found.fits is False:
        return f"{subject(found)} {misfit(found.memory)}. If it did: {times}"
    return f"{subject(found)}: {times}"


def subject(found: Analysis) -> str:
    """What was asked about: "llama-3.1-8b on H100 SXM (bf16)"."""
    return f"{found.model.name} on {found.device.title} ({_dtypes(found)})"


def verdicts(found: Analysis) -> list[str]:
    """What binds each phase and how fast it can be, the last one first; of what makes images, the whole before all."""
    if found.model.pipeline:
        return [_whole(found), *(_verdict(phase, found) for phase in found.phases.values())]
    return [_verdict(phase, found) for phase in reversed(found.phases.values())]


def _whole(found: Analysis) -> str:
    """The time of a batch, and the rate: "at best 3.21 s an image"."""
    batch, seconds = found.workload.batch, found.request.e2e_s.best or 0.0
    what = "video" if (found.workload.media.frames or 1) > 1 else "image"
    if batch == 1:
        return f"at best {duration(seconds)} {'a video' if what == 'video' else 'an image'}"
    return f"at best {duration(seconds)} for {counted(batch, what)} ({rate(batch / seconds, f'{what}s')})"


def _verdict(phase: Phase, found: Analysis) -> str:
    batch = found.workload.batch
    if phase.name == "decode":
        return _decode(phase, batch)
    if phase.name == "prefill":
        return _prefill(phase, batch, found.request.ttft_s.best if len(found.phases) > 2 else None)
    if phase.repeats > 1:
        whole = f"{duration(phase.repeats * phase.best_s)} for {counted(phase.repeats, 'pass', 'passes')}"
        return f"{phase.name} is {phase.bound}-bound, {whole} of {duration(phase.best_s)}"
    binds = f"{phase.name} is {phase.bound}-bound"
    if found.model.pipeline:
        return f"{binds}, {duration(phase.best_s)}"
    each = f" ({rate(batch / phase.best_s, 'inputs')})" if not found.model.has_decoder else ""
    return f"{binds}, at best {duration(phase.best_s)}{each}"


def misfit(memory: Memory) -> str:
    """What is missing: "does not fit in 80 GB: needs 153.5 GB (143.0 GiB)"."""
    room = memory.device_label or scaled(memory.device_bytes, "B")
    close = memory.device_bytes is not None and memory.total_bytes < _CLOSE * memory.device_bytes
    hedge = " (nearly: the reserve and the exact size of the memory decide)" if close else ""
    return f"does not fit in {room}: needs {bytes_both(memory.total_bytes)}{hedge}"


def _dtypes(found: Analysis) -> str:
    dtype = found.main.dtype
    weights, runs = found.deployment.weights, found.device.peak(dtype).dtype
    if runs != dtype:
        return f"{dtype}, computed in {runs}"
    return f"{weights} weights, {dtype}" if weights and weights != dtype else dtype


def _decode(phase: Phase, batch: int) -> str:
    if batch == 1:
        what = f"{duration(phase.best_s)} a token ({rate(1 / phase.best_s, 'tokens')})"
    else:
        both = (
            f"{rate(batch / phase.best_s, 'tokens')} for {batch:,} sequences, {rate(1 / phase.best_s, 'tokens')} each"
        )
        what = f"{duration(phase.best_s)} a step ({both})"
    return f"decode is {phase.bound}-bound, at best {what}"


def _prefill(phase: Phase, batch: int, ttft_s: float | None) -> str:
    """ttft_s: time to the first token where something runs before prefill."""
    whose = "first token" if batch == 1 else "first tokens"
    if ttft_s is not None:
        first = f"{duration(ttft_s)} to the {whose} with all that is read"
        return f"prefill is {phase.bound}-bound, {duration(phase.best_s)}, {first}"
    return f"prefill is {phase.bound}-bound, {duration(phase.best_s)} to the {whose}"


def idle(phase: Phase) -> str:
    """What waits, and for how much of the step: "matrix units, over 99 %"."""
    if phase.bound == "memory":
        return f"matrix units, {percent(1 - phase.mfu)}"
    return f"memory, {percent(1 - phase.mbu)}"


def workload(found: Analysis) -> str:
    """The question in a line: batch, what is read, prompt, output and what of it is cached."""
    work, model = found.workload, found.model
    reads_text = any("prompt" in encoder.reads.words for encoder in model.encoders)
    if model.pipeline:
        return ", ".join(_made(work))
    parts = [counted(work.batch, "sequence"), *_media(work.media)]
    if reads_text or (model.has_decoder and not model.start_tokens):
        cached = f" ({work.cached:,} of them cached)" if work.cached else ""
        parts.append(f"{counted(work.prompt, 'prompt token')}{cached}")
    if model.has_decoder:
        parts.append(counted(work.output, "output token"))
    return ", ".join(parts)


def _made(work: Workload) -> Iterator[str]:
    media = work.media
    what = "video" if (media.frames or 1) > 1 else "image"
    frames = f" and {media.frames} frames" if what == "video" else ""
    yield f"{counted(work.batch, what)} of {media.width}x{media.height}{frames}"
    if media.steps:
        yield counted(media.steps, "step")
    if media.guidance is not None:
        yield f"guidance {media.guidance:g}"


def _media(media: Media) -> Iterator[str]:
    if media.images:
        what = "image" if (media.frames or 1) == 1 else "video"
        size = f" of {media.width}x{media.height}" if media.height else ""
        frames = f" and {media.frames} frames" if what == "video" else ""
        yield f"{counted(media.images, what)}{size}{frames}"
    if media.seconds:
        yield f"{media.seconds:g} s of sound"
