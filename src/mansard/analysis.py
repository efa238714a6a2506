"""The verbs on a whole model: analyze, one step, saturate, and grids of scenarios."""

from mansard.advice import changes
from mansard.algebra import Numeric
from mansard.binding import Grid, grid_of
from mansard.errors import UsageError
from mansard.inputs.device import DeviceLike
from mansard.inputs.model import ModelLike
from mansard.operators.step import Step
from mansard.records import Phase, Saturation
from mansard.results import Analysis
from mansard.saturation import saturating_batch
from mansard.scenarios import scenario

PHASES = ("prefill", "decode")


def analyze(
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
) -> Analysis:
    """What limits a model on a device: its phases, the request, what fits, what would help.

    model: a path, a folder, a catalogue name, a hub id, `params=8e9`, or a ModelConfig. on: a catalogue name, a file,
    `peak=…,bandwidth=…`, or a Device. context: tokens that the decode step attends to, itself included; by default the
    middle of the output. images, of `resolution` ("1920x1080") and `frames` each, and seconds of sound are what the
    model's encoders read. mtp: layers that draft tokens are loaded. The other words are those of the command line.

    Raises:
        UsageError: if a word or a size cannot be understood.
        InputError: if a file is bad, with every fault of it.
        UnavailableError: if the model is only to be had online.

    >>> found = analyze("llama-3.1-8b", on="h100-sxm", prompt=8000, output=500)
    >>> found.decode.bound, found.prefill.bound
    ('memory', 'compute')
    """
    where = scenario(
        model, on=on, batch=batch, prompt=prompt, output=output, cached=cached, context=context, images=images,
        resolution=resolution, frames=frames, seconds=seconds, weights=weights, activations=activations, kv=kv,
        state=state, attention=attention, routing=routing, engine=engine, mtp=mtp, online=online,
    )  # fmt: skip
    return Analysis(
        model=where.binding.model,
        device=where.binding.device,
        workload=where.workload,
        deployment=where.binding.deployment,
        phases=where.phases(),
        answers=where,
        advisor=changes,
    )


def step(
    model: ModelLike,
    *,
    on: DeviceLike,
    phase: str = "decode",
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
) -> Phase:
    """One phase alone, with every operator: half the work of `analyze`.

    phase: "prefill" or "decode" of what makes tokens, "encode" (or "encode_image" …) of what reads something.

    Raises:
        UsageError: if there is no such phase, or a word or a size cannot be understood.
    """
    return scenario(
        model, on=on, batch=batch, prompt=prompt, output=output, cached=cached, context=context, images=images,
        resolution=resolution, frames=frames, seconds=seconds, weights=weights, activations=activations, kv=kv,
        state=state, attention=attention, routing=routing, engine=engine,
    ).phase(phase)  # fmt: skip


def saturate(
    model: ModelLike,
    *,
    on: DeviceLike,
    context: int | None = None,
    weights: str | None = None,
    activations: str | None = None,
    kv: str | None = None,
    state: str | None = None,
    attention: str | None = None,
    engine: str | None = None,
    mtp: bool = False,
    online: bool = False,
) -> Saturation:
    """The batch at which compute catches up with memory in decode, or never; without a context, for weights alone.

    >>> saturate("llama-3.1-8b", on="h100-sxm").batch
    296
    >>> saturate("llama-3.1-8b", on="h100-sxm", context=4096).batch is None
    True
    """
    where = scenario(
        model, on=on, context=context, weights=weights, activations=activations, kv=kv, state=state,
        attention=attention, engine=engine, mtp=mtp, online=online,
    )  # fmt: skip
    return saturating_batch(where.binding, context)


def grid(
    model: ModelLike,
    *,
    on: DeviceLike,
    batch: Numeric,
    context: Numeric = None,
    prompt: Numeric = None,
    cached: Numeric = 0,
    phase: str = "decode",
    weights: str | None = None,
    activations: str | None = None,
    kv: str | None = None,
    state: str | None = None,
    attention: str | None = None,
    engine: str | None = None,
) -> Grid:
    """Many steps at once: `batch` and `context` (decode) or `prompt` and `cached` (prefill) are arrays that broadcast.

    A million scenarios are one call. Counts are float64 here; `analyze` gives exact whole numbers.

    Raises:
        UsageError: if a size is missing for the phase, not positive, or not finite.
    """
    import numpy as np

    where = scenario(
        model, on=on, weights=weights, activations=activations, kv=kv, state=state, attention=attention, engine=engine
    )
    if phase not in PHASES:
        raise UsageError(f"no phase is called {phase!r}", hint=f"one of {', '.join(PHASES)}")
    if not where.binding.model.has_decoder:
        raise UsageError(f"{where.binding.model.name} makes no tokens: it has no {phase}", hint="use analyze or step")
    source = where.workload.source
    length, name = (context, "context") if phase == "decode" else (prompt, "prompt")
    if length is None:
        raise UsageError(f"{phase} needs {name}", hint=f"grid(…, batch=…, {name}=…)")
    sizes = [np.asarray(value, dtype=np.float64) for value in (batch, length, cached)]
    rows, tokens, kept = sizes
    if not all(bool((np.isfinite(size) & (size >= least)).all()) for size, least in zip(sizes, (1, 1, 0), strict=True)):
        raise UsageError("sizes of a grid must be finite and at least 1 (cached: 0)")
    if phase == "decode":
        return grid_of(where.binding, phase, Step(batch=rows, new=1.0, cached=tokens - 1, source=source))
    if not bool((kept < tokens).all()):
        raise UsageError("cached must be less than prompt: the last token of a prompt is always computed")
    return grid_of(where.binding, phase, Step(batch=rows, new=tokens - kept, cached=kept, source=source))
