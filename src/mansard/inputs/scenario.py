"""What is asked: the workload of a request and the way it is deployed, with every fault of them found at once."""

import re
from typing import Any, Literal, NamedTuple, TypedDict

from mansard.errors import Fault, InputError, UsageError, did_you_mean
from mansard.inputs.notes import Note
from mansard.precision import DTYPE_BITS, WEIGHT_FORMATS, dtype_name, weight_format

ATTENTION_ALGORITHMS = ("auto", "fused", "standard", "absorbed", "expanded")
ROUTINGS = ("even", "least")
STATE_DTYPES = ("fp32", "bf16", "fp16", "fp8", "int8")
_RESOLUTION = re.compile(r"(\d{1,6})(?:[xX×](\d{1,6}))?")
MOST_TOKENS = 1 << 30
MOST_SEQUENCES = 1 << 30
MOST_OUTPUT = 1 << 20
MOST_IMAGES = 1 << 20
MOST_PIXELS = 1 << 16  # along one side
MOST_SECONDS = 1e6
DEFAULT_BATCH, DEFAULT_PROMPT, DEFAULT_OUTPUT = 1, 1024, 256


class DeploymentWords(TypedDict, total=False):
    """The words that say how a model is run, for what passes them on."""

    weights: str | None
    activations: str | None
    kv: str | None
    state: str | None
    attention: str | None
    engine: str | None
    mtp: bool
    online: bool


class SaturateWords(DeploymentWords, total=False):
    """The words of `saturate`."""

    context: int | None


class Words(SaturateWords, total=False):
    """The words of `analyze`, `explain` and `advise`."""

    batch: int | None
    prompt: int | None
    output: int | None
    cached: int | None
    images: int | None
    resolution: str | None
    frames: int | None
    seconds: float | None
    routing: str | None


class Media(NamedTuple):
    """What a request brings beside its text; None was not asked for. All images have one size."""

    images: int | None = None
    height: int | None = None
    width: int | None = None
    frames: int | None = None
    seconds: float | None = None


class Workload(NamedTuple):
    """A batch of alike requests: `prompt` tokens in, `cached` of them in the cache already, and `output` tokens out.

    context: tokens that the decode step's query attends to, itself included; None takes the middle of the output.
    given: tokens that encoders add to the prompt. source: tokens of an encoder that every step attends to. start:
    tokens that the decoder of an encoder-decoder begins with, instead of the prompt.
    """

    batch: int = DEFAULT_BATCH
    prompt: int = DEFAULT_PROMPT
    output: int = DEFAULT_OUTPUT
    cached: int = 0
    context: int | None = None
    media: Media = Media()
    given: int = 0
    source: int = 0
    start: int = 0

    @property
    def decoder_prompt(self) -> int:
        """Tokens that prefill puts into the cache, with what is there already."""
        return self.start or self.prompt + self.given

    @property
    def decode_context(self) -> int:
        """Tokens that the decode step attends to, itself included: `context`, or in the middle of the output."""
        return self.context if self.context is not None else self.decoder_prompt + max(1, self.output // 2)

    @property
    def last_context(self) -> int:
        """Tokens in the cache when the last token is sampled; that token itself is never written."""
        return max(self.decoder_prompt + self.output - 1, self.context or 0)


class Deployment(NamedTuple):
    """How the model is run. None keeps the model's own format or dtype. mtp: layers that draft tokens are loaded."""

    weights: str | None = None
    activations: str | None = None
    kv: str | None = None
    state: str | None = None
    attention: str = "auto"
    routing: str = "even"
    engine: str = "ideal"
    tp: int = 1
    pp: int = 1
    ep: int = 1
    dp: int = 1
    cp: int = 1
    mtp: bool = False

    @property
    def devices(self) -> int:
        """Accelerators in one replica group."""
        return self.tp * self.pp * self.dp * self.cp


class Engine(NamedTuple):
    """What an inference engine fuses, how it attends, what it takes of the memory; see `catalogue/engines`."""

    name: str
    title: str
    fusion: Literal["none", "usual", "full"]
    attention: Literal["fused", "standard"]
    max_num_batched_tokens: int
    reserve_bytes: int = 0
    notes: tuple[Note, ...] = ()


def workload(
    *,
    batch: Any = None,
    prompt: Any = None,
    output: Any = None,
    cached: Any = None,
    context: Any = None,
    images: Any = None,
    resolution: Any = None,
    frames: Any = None,
    seconds: Any = None,
) -> tuple[Workload, tuple[str, ...]]:
    """A checked workload, and the sizes of which it took the default.

    Raises:
        UsageError: naming every value that is out of bounds.
    """
    faults: list[Fault] = []
    given = Workload(
        batch=_count("batch", batch, DEFAULT_BATCH, MOST_SEQUENCES, faults),
        prompt=_count("prompt", prompt, DEFAULT_PROMPT, MOST_TOKENS, faults),
        output=_count("output", output, DEFAULT_OUTPUT, MOST_OUTPUT, faults),
        cached=_count("cached", cached, 0, MOST_TOKENS, faults, minimum=0),
        context=None if context is None else _count("context", context, 1, MOST_TOKENS, faults),
        media=_media(images, resolution, frames, seconds, faults),
    )
    if not faults and given.cached >= given.prompt:
        hint = "the prompt's last token is always computed, to sample the first output token"
        faults.append(
            Fault(problem=f"must be less than prompt, {given.prompt}", key="cached", value=given.cached, hint=hint)
        )
    _raise(faults)
    sizes = (("batch", batch), ("prompt", prompt), ("output", output))
    return given, tuple(name for name, value in sizes if value is None)


def deployment(
    *,
    weights: str | None = None,
    activations: str | None = None,
    kv: str | None = None,
    state: str | None = None,
    attention: str | None = None,
    routing: str | None = None,
    engine: str | None = None,
    mtp: bool = False,
) -> Deployment:
    """A checked deployment on one device.

    Raises:
        UsageError: naming every format, dtype or algorithm that is not known, with near matches.
    """
    faults: list[Fault] = []
    found_weights = weight_format(weights) if weights is not None else None
    if weights is not None and found_weights is None:
        faults.append(_unknown("weights", weights, tuple(WEIGHT_FORMATS)))
    given = Deployment(
        weights=found_weights.name if found_weights else None,
        activations=_dtype("activations", activations, faults, ("bf16", "fp16", "fp32", "fp8", "int8")),
        kv=_dtype("kv", kv, faults, tuple(DTYPE_BITS)),
        state=_dtype("state", state, faults, STATE_DTYPES),
        attention=_choice("attention", attention, ATTENTION_ALGORITHMS, faults),
        routing=_choice("routing", routing, ROUTINGS, faults),
        engine=engine or "ideal",
        mtp=_flag("mtp", mtp, faults),
    )
    _raise(faults)
    return given


def _flag(name: str, value: Any, faults: list[Fault]) -> bool:
    if not isinstance(value, bool):
        faults.append(Fault(problem="must be true or false", key=name, value=value))
    return value is True


def _raise(faults: list[Fault]) -> None:
    if faults:
        raise UsageError(str(InputError(faults)), faults=faults)


def _count(name: str, value: Any, default: int, most: int, faults: list[Fault], *, minimum: int = 1) -> int:
    if value is None:
        return default
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        try:
            value = "" if isinstance(value, bool) else value
            value = value.__index__()  # a NumPy integer
        except (AttributeError, TypeError):
            faults.append(Fault(problem="must be a whole number", key=name, value=value))
            return default
    if isinstance(value, bool) or not minimum <= value <= most:
        faults.append(Fault(problem=f"must be between {minimum} and {most}", key=name, value=value))
        return default
    return int(value)


def _media(images: Any, resolution: Any, frames: Any, seconds: Any, faults: list[Fault]) -> Media:
    if images is resolution is frames is seconds is None:
        return Media()
    height, width = (None, None) if resolution is None else _sides(resolution, faults)
    return Media(
        images=None if images is None else _count("images", images, 1, MOST_IMAGES, faults, minimum=0),
        height=height,
        width=width,
        frames=None if frames is None else _count("frames", frames, 1, MOST_IMAGES, faults),
        seconds=None if seconds is None else _seconds(seconds, faults),
    )


def _sides(value: Any, faults: list[Fault]) -> tuple[int | None, int | None]:
    """(height, width) of "1920x1080", width first as screens are named, or of one side of a square."""
    found = _RESOLUTION.fullmatch(str(value).strip()) if not isinstance(value, bool) else None
    sides = (int(found[1]), int(found[2] or found[1])) if found else (0, 0)
    if not all(1 <= side <= MOST_PIXELS for side in sides):
        hint = f"width and height in pixels, such as 1920x1080, each at most {MOST_PIXELS}"
        faults.append(Fault(problem="is no resolution", key="resolution", value=value, hint=hint))
        return None, None
    return sides[1], sides[0]


def _seconds(value: Any, faults: list[Fault]) -> float | None:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value <= MOST_SECONDS:
        faults.append(
            Fault(problem=f"must be a number of seconds, at most {MOST_SECONDS:,.0f}", key="seconds", value=value)
        )
        return None
    return float(value)


def _dtype(name: str, value: str | None, faults: list[Fault], choices: tuple[str, ...]) -> str | None:
    if value is None:
        return None
    found = dtype_name(value)
    if found is None or found not in choices:
        faults.append(_unknown(name, value, choices))
        return None
    return found


def _choice(name: str, value: str | None, choices: tuple[str, ...], faults: list[Fault]) -> str:
    if value is None:
        return choices[0]
    if value not in choices:
        faults.append(_unknown(name, value, choices))
        return choices[0]
    return value


def _unknown(name: str, value: str, choices: tuple[str, ...]) -> Fault:
    hint = did_you_mean(value, choices) or f"one of {', '.join(choices)}"
    return Fault(problem="is not known", key=name, value=value, hint=hint)
