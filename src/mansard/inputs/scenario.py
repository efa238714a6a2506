"""What is asked: the workload of a request and the way it is deployed, with every fault of them found at once."""

from typing import Any, Literal, NamedTuple, TypedDict

from mansard.errors import Fault, InputError, UsageError, did_you_mean
from mansard.inputs.notes import Note
from mansard.precision import DTYPE_BITS, WEIGHT_FORMATS, dtype_name, weight_format

ATTENTION_ALGORITHMS = ("auto", "fused", "standard", "absorbed", "expanded")
ROUTINGS = ("even", "least")
STATE_DTYPES = ("fp32", "bf16", "fp16", "fp8", "int8")
MOST_TOKENS = 1 << 30
MOST_SEQUENCES = 1 << 30
MOST_OUTPUT = 1 << 20
DEFAULT_BATCH, DEFAULT_PROMPT, DEFAULT_OUTPUT = 1, 1024, 256


class DeploymentWords(TypedDict, total=False):
    """The words that say how a model is run, for what passes them on."""

    weights: str | None
    activations: str | None
    kv: str | None
    state: str | None
    attention: str | None
    engine: str | None
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
    routing: str | None


class Workload(NamedTuple):
    """A batch of alike requests: `prompt` tokens in, `cached` of them in the cache already, and `output` tokens out.

    context: tokens that the decode step's query attends to, itself included; None takes the middle of the output.
    """

    batch: int = DEFAULT_BATCH
    prompt: int = DEFAULT_PROMPT
    output: int = DEFAULT_OUTPUT
    cached: int = 0
    context: int | None = None

    @property
    def decode_context(self) -> int:
        """Tokens that the decode step attends to, itself included: `context`, or in the middle of the output."""
        return self.context if self.context is not None else self.prompt + max(1, self.output // 2)

    @property
    def last_context(self) -> int:
        """Tokens in the cache when the last token is sampled; that token itself is never written."""
        return max(self.prompt + self.output - 1, self.context or 0)


class Deployment(NamedTuple):
    """How the model is run. None keeps the model's own format or dtype."""

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
    *, batch: Any = None, prompt: Any = None, output: Any = None, cached: Any = None, context: Any = None
) -> tuple[Workload, tuple[Note, ...]]:
    """A checked workload, and a note for each default that it took.

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
    )
    if not faults and given.cached >= given.prompt:
        hint = "the prompt's last token is always computed, to sample the first output token"
        faults.append(
            Fault(problem=f"must be less than prompt, {given.prompt}", key="cached", value=given.cached, hint=hint)
        )
    _raise(faults)
    taken = [
        Note(level="info", code="default-workload", text=f"{name} was not given: {default} is taken")
        for name, value, default in (
            ("batch", batch, DEFAULT_BATCH),
            ("prompt", prompt, DEFAULT_PROMPT),
            ("output", output, DEFAULT_OUTPUT),
        )
        if value is None
    ]
    return given, tuple(taken)


def deployment(
    *,
    weights: str | None = None,
    activations: str | None = None,
    kv: str | None = None,
    state: str | None = None,
    attention: str | None = None,
    routing: str | None = None,
    engine: str | None = None,
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
    )
    _raise(faults)
    return given


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
