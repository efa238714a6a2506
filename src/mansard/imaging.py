"""What a pipeline does for images or videos of a size: its stages as operators, how often each runs, and its memory."""

from collections.abc import Iterator
from dataclasses import dataclass
from math import prod
from typing import Any, NamedTuple

from mansard import memory
from mansard.binding import phase
from mansard.composing import operators as component_operators
from mansard.composing import widest_elements
from mansard.encoding import encoder_operators
from mansard.errors import Fault, InputError, UsageError
from mansard.forward import operators as model_operators
from mansard.inputs.component import Component
from mansard.inputs.device import Device
from mansard.inputs.engine import load_engine
from mansard.inputs.notes import Note
from mansard.inputs.parts import Part, Sample
from mansard.inputs.pipeline import Pipeline, TextEncoder
from mansard.inputs.scenario import MOST_IMAGES, MOST_PIXELS, MOST_SEQUENCES, MOST_STEPS, Deployment, Engine
from mansard.operators.cost import Op
from mansard.operators.fixed import over
from mansard.operators.step import Step
from mansard.precision import DTYPE_BITS
from mansard.records import Phase
from mansard.rooflines import bind


class Stage(NamedTuple):
    """One pass of a part of the pipeline: `items` at once, each of `tokens`; `times`: how often it runs."""

    ops: tuple[Op, ...]
    items: int
    tokens: int
    times: int
    activation_bytes: int


@dataclass(frozen=True, kw_only=True)
class Run:
    """A batch of images or videos of one size, by a pipeline: what it does and what it keeps in memory.

    stages: encode (the text), denoise (one evaluation, with guidance of twice as many items), decode_image; in the
    order in which they run, those that the pipeline has. sample: latents of one item.
    weight_bytes: of each component by its name. Activations are those at the widest point of the widest stage.
    """

    pipeline: Pipeline
    batch: int
    height: int
    width: int
    frames: int
    steps: int
    guidance: float
    sample: Sample
    stages: dict[str, Stage]
    weight_bytes: dict[str, int]
    notes: tuple[Note, ...]

    @property
    def activation_bytes(self) -> int:
        return max((stage.activation_bytes for stage in self.stages.values()), default=0)

    @property
    def memory_bytes(self) -> int:
        """All weights at once, and the activations of the widest stage."""
        return sum(self.weight_bytes.values()) + self.activation_bytes

    @property
    def flops(self) -> int:
        """Matrix FLOPs of the whole batch, from the text to the pixels."""
        return sum(stage.times * stage_flops(stage) for stage in self.stages.values())


def stage_flops(stage: Stage, kind: str | None = None) -> int:
    """Matrix FLOPs of one pass of a stage; kind: only those of "linear", "attention" or "convolution"."""
    step = Step(batch=stage.items, new=stage.tokens, cached=0)
    chosen = [op for op in stage.ops if kind is None or op.kind == kind]
    return int(sum(op.count * term.coefficient * step.value(term.basis) for op in chosen for term in op.flops))


def plan(
    pipeline: Pipeline,
    *,
    batch: int | None = None,
    height: int | None = None,
    width: int | None = None,
    frames: int | None = None,
    steps: int | None = None,
    guidance: float | None = None,
    deployment: Deployment | None = None,
) -> Run:
    """What a pipeline does for `batch` images or videos; sizes in pixels and frames, those not given are its defaults.

    guidance: above 1 every step looks at a second, empty prompt too, unless the model is distilled for one pass.

    Raises:
        UsageError: naming every size that is out of bounds or too small for one token.
    """
    recipe, given = pipeline.recipe, deployment or Deployment()
    faults: list[Fault] = []
    asked = {
        "batch": _size("batch", batch, 1, MOST_SEQUENCES, faults),
        "height": _size("height", height, recipe.height, MOST_PIXELS, faults),
        "width": _size("width", width, recipe.width, MOST_PIXELS, faults),
        "frames": _size("frames", frames, recipe.frames, MOST_IMAGES, faults),
        "steps": _size("steps", steps, recipe.steps, MOST_STEPS, faults),
    }
    scale = recipe.guidance if guidance is None else _guidance(guidance, faults)
    _fits(pipeline, asked, faults)
    if faults:
        raise UsageError(str(InputError(faults)), faults=faults)
    sample = latents(pipeline, asked["height"], asked["width"], asked["frames"])
    words = {"height": height, "width": width, "frames": frames, "steps": steps, "guidance": guidance}
    defaults = [name for name, value in words.items() if value is None and (name != "frames" or recipe.frames > 1)]
    engine = load_engine(given.engine)
    passes = 2 if scale > 1 and not pipeline.is_distilled and pipeline.denoiser else 1
    stages = dict(_stages(pipeline, sample, asked, passes=passes, deployment=given, engine=engine))
    return Run(
        pipeline=pipeline, **asked, guidance=scale, sample=sample, stages=stages,
        weight_bytes=memory.component_bytes(pipeline, given),
        notes=(*pipeline.notes, *_notes(pipeline, asked, scale, defaults, passes)),
    )  # fmt: skip


def phases(run: Run, device: Device) -> dict[str, Phase]:
    """One pass of each stage on a device, by name."""
    return {
        name: phase(bind(stage.ops, device), name, Step(batch=stage.items, new=stage.tokens, cached=0))
        for name, stage in run.stages.items()
    }


def best_s(run: Run, found: dict[str, Phase]) -> float:
    """Seconds of the whole batch at its bound: encode + evaluations · denoise + decode_image."""
    return sum(run.stages[name].times * one.best_s for name, one in found.items())


def latents(pipeline: Pipeline, height: int, width: int, frames: int) -> Sample:
    """Latents of an image or a video: ⌊height/(v·p)⌋·p high, 1 + ⌊(frames - 1)/τ⌋ frames."""
    part = pipeline.denoiser or pipeline.autoencoder
    _, high, wide = part.patch if part else (1, 1, 1)
    made = Sample(
        height=height // (pipeline.spatial * high) * high,
        width=width // (pipeline.spatial * wide) * wide,
        frames=1 + (frames - 1) // pipeline.temporal,
        text=pipeline.denoiser.text_tokens if pipeline.denoiser else 0,
    )
    if pipeline.each_token_has_its_time and pipeline.denoiser:
        return made._replace(timesteps=pipeline.denoiser.tokens(made))
    return made


def _stages(
    pipeline: Pipeline, sample: Sample, asked: dict[str, int], *, passes: int, deployment: Deployment, engine: Engine
) -> Iterator[tuple[str, Stage]]:
    batch, denoiser = asked["batch"], pipeline.denoiser
    if pipeline.texts:
        yield "encode", _encode(pipeline, batch * passes, deployment, engine)
    if denoiser is not None:
        evaluations = pipeline.evaluations * asked["steps"] - (pipeline.evaluations - 1)
        parts = denoiser.parts(sample)
        ops = _operators(denoiser, parts, sample, deployment, engine)
        if pipeline.controlnet is not None:
            beside = pipeline.controlnet.parts(sample)
            ops = (*ops, *_operators(pipeline.controlnet, beside, sample, deployment, engine))
            parts = (*parts, *beside)
        items = batch * passes
        widest = _activations(denoiser, parts, items, deployment)
        yield "denoise", Stage(ops, items, denoiser.tokens(sample), evaluations, widest)
    if pipeline.autoencoder is not None:
        vae = pipeline.autoencoder
        parts = vae.parts(sample._replace(text=0))
        positions = prod((sample.frames, sample.height, sample.width))
        pixels = asked["frames"] * asked["height"] * asked["width"]
        ops = component_operators(vae, parts, (positions * vae.channels, pixels * vae.outputs), deployment, engine)
        together = sample._replace(text=0, frames=min(sample.frames, vae.frames_at_once or sample.frames))
        widest = _activations(vae, vae.parts(together), batch, deployment)
        yield "decode_image", Stage(ops, batch, positions, 1, widest)


def _operators(
    part: Component, parts: tuple[Part, ...], sample: Sample, deployment: Deployment, engine: Engine
) -> tuple[Op, ...]:
    positions = sample.frames * sample.height * sample.width
    moved = (positions * part.channels, positions * part.outputs)
    return component_operators(part, parts, moved, deployment, engine)


def _activations(part: Component, parts: tuple[Part, ...], items: int, deployment: Deployment) -> int:
    asked = part.dtype if part.role == "autoencoder" else deployment.activations or part.dtype
    return items * widest_elements(parts) * DTYPE_BITS[asked] // 8


def _encode(pipeline: Pipeline, items: int, deployment: Deployment, engine: Engine) -> Stage:
    """Every text encoder over all prompts; what they read is fixed, so that all of them are one pass."""
    plain = deployment._replace(weights=None, activations=None)
    ops = tuple(op for text in pipeline.texts for op in _text_operators(text, plain, engine))
    tokens = sum(text.tokens for text in pipeline.texts)
    widest = max(text.tokens * _widest(text) * DTYPE_BITS[text.model.dtype] for text in pipeline.texts)
    return Stage(ops, items, tokens, 1, items * widest // 8)


def _widest(text: TextEncoder) -> int:
    """Elements of one token at a text encoder's widest point."""
    model = text.model
    return memory.widest_elements(model) if model.has_decoder else max(map(memory.widest_of_encoder, model.encoders))


def _text_operators(text: TextEncoder, deployment: Deployment, engine: Engine) -> Iterator[Op]:
    """A language model reads the prompt as in prefill, without logits; towers that it has for images read nothing."""
    model = text.model
    if model.has_decoder:
        ops = model_operators(model, deployment, engine)
        found = [op for op in ops if op.name not in ("lm_head", "sampling")]
    else:
        found = [op for one in model.encoders for op in encoder_operators(one, model, deployment, engine)]
    step = Step(batch=1, new=text.tokens, cached=0)
    return (over(op, step) for op in found)


def _size(name: str, value: Any, default: int, most: int, faults: list[Fault]) -> int:
    if value is None:
        return default
    if isinstance(value, bool) or not isinstance(value, int):
        faults.append(Fault(problem="must be a whole number", key=name, value=value))
        return default
    if not 1 <= value <= most:
        faults.append(Fault(problem=f"must be between 1 and {most}", key=name, value=value))
        return default
    return value


def _guidance(value: Any, faults: list[Fault]) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 <= value <= 1000:
        faults.append(Fault(problem="must be a number between 0 and 1000", key="guidance", value=value))
        return 1.0
    return float(value)


def _fits(pipeline: Pipeline, asked: dict[str, int], faults: list[Fault]) -> None:
    """Faults of sizes that make no token, or of frames for what makes images."""
    part = pipeline.denoiser or pipeline.autoencoder
    patch = part.patch if part else (1, 1, 1)
    for name, side in (("height", patch[1]), ("width", patch[2])):
        least = pipeline.spatial * side
        if asked[name] < least:
            problem = f"must be at least {least} pixels, the side of one token"
            faults.append(Fault(problem=problem, key=name, value=asked[name]))
    if asked["frames"] > 1 and pipeline.temporal == 1:
        faults.append(Fault(problem="must be 1: the pipeline makes images", key="frames", value=asked["frames"]))


def _notes(
    pipeline: Pipeline, asked: dict[str, int], guidance: float, defaults: list[str], passes: int
) -> Iterator[Note]:
    values = {**asked, "guidance": guidance}
    if defaults:
        shown = ", ".join(f"{name} {values[name]:g}" for name in defaults)
        yield Note(level="info", code="default-size", text=f"taken as the pipeline's own defaults: {shown}")
    part = pipeline.denoiser or pipeline.autoencoder
    patch = part.patch if part else (1, 1, 1)
    for name, side in (("height", patch[1]), ("width", patch[2])):
        token = pipeline.spatial * side
        if asked[name] % token:
            text = f"{name} is no multiple of {token} pixels: {asked[name] // token * token} of {asked[name]} are made"
            yield Note(level="warning", code="rounded-size", text=text)
    if (asked["frames"] - 1) % pipeline.temporal:
        text = f"frames is not 1 more than a multiple of {pipeline.temporal}: the rest are not made"
        yield Note(level="warning", code="rounded-size", text=text)
    if passes > 1:
        text = "guidance looks at two prompts in every step: counted as one pass over twice the items"
        yield Note(level="info", code="guidance", text=text)
    if pipeline.second is not None:
        text = "of two denoisers of one size each takes some of the steps: both are in the memory"
        yield Note(level="info", code="two-denoisers", text=text)
    if pipeline.evaluations > 1:
        text = "the solver is of second order: it evaluates the denoiser twice in every step but the last"
        yield Note(level="info", code="second-order", text=text)
    if pipeline.autoencoder is not None:
        yield Note(level="info", code="whole-decode", text="the autoencoder decodes the whole at once, without tiles")
