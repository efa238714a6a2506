"""What answers are made of: frozen records in SI base units, that turn themselves into dicts and JSON."""

import json
from dataclasses import fields, is_dataclass
from typing import Any, NamedTuple

from mansard import registry
from mansard.rooflines import OperatorResult


class Bytes(NamedTuple):
    """Bytes to and from device memory in one step, by what they carry."""

    total: float
    weights: float
    cache_read: float
    cache_write: float
    activations: float
    network: float = 0


class Clocks(NamedTuple):
    """Seconds that each resource needs for one step by itself. None: the device's rate for it is not known."""

    memory_s: float
    memory_warm_s: float | None  # what stays in the last-level cache from one step to the next is not read again
    compute_s: float
    matrix_s: float
    vector_s: float | None
    network_s: float = 0.0
    overhead_s: float = 0.0


class Expected(NamedTuple):
    """What a good engine reaches, with its interval."""

    low: float
    mid: float
    high: float


class Phase(NamedTuple):
    """One step of a phase: `tokens` new tokens in all, attending to at most `context_tokens` each.

    repeats: how often a request runs it, each time the same; 1 for decode, whose steps differ.
    """

    name: str
    tokens: int
    context_tokens: int
    flops: float
    vector_flops: float
    bytes: Bytes
    intensity: float
    ridge_point: float
    bound: str  # "memory" | "compute" | "network" | "overhead"
    clocks: Clocks
    best_s: float
    operator_bound_s: float
    expected_s: Expected | None
    mfu: float  # matrix FLOPs over (best_s · peak): what the bound itself would show
    mbu: float
    dtype: str
    operators: tuple[OperatorResult, ...]
    repeats: int = 1


class Times(NamedTuple):
    """A time or a rate at best, and as expected (None until it is calibrated)."""

    best: float | None
    expected: Expected | None = None


class Request(NamedTuple):
    """A whole request, from what is read first to the last token. ITL is the mean gap; first and last are beside it.

    A model that makes no tokens has an end and a rate of requests only.
    """

    ttft_s: Times = Times(None)
    itl_s: Times = Times(None)
    itl_first_s: Times = Times(None)
    itl_last_s: Times = Times(None)
    tpot_s: Times = Times(None)
    e2e_s: Times = Times(None)
    decode_tokens_per_s_per_user: Times = Times(None)
    output_tokens_per_s_per_user: Times = Times(None)
    output_tokens_per_s_per_device: Times = Times(None)
    requests_per_s_per_device: Times = Times(None)


class Memory(NamedTuple):
    """What fills one device, in bytes, at the fullest moment of the request; and what would still fit.

    None in `device_bytes` and in what follows from it: the device's memory is not known. None in what a cache and
    activations need: the model is a parameter count alone, and the total is its weights.
    """

    weights_bytes: int
    cache_bytes: int | None
    state_bytes: int
    activations_bytes: int | None
    reserve_bytes: int
    total_bytes: int
    device_bytes: int | None
    device_label: str
    fits: bool | None
    max_batch: int | None
    max_context_tokens: int | None
    max_concurrent_requests: int | None
    cache_bytes_per_sequence: int | None
    tokens_per_sequence: int


class Saturation(NamedTuple):
    """The smallest batch at which compute catches up with memory; None is "never", with the reason and the plateau."""

    batch: int | None
    reason: str
    plateau_intensity: float | None  # what the intensity tends to as the batch grows; None without a cache
    ridge_point: float
    context_tokens: int | None  # None: weights alone
    batch_weights_alone: int | None

    def to_dict(self) -> dict[str, Any]:
        """The document of schema `mansard.saturation/1`."""
        return {"schema": "mansard.saturation/1", "version": package_version(), **plain(self)}

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return str(_saturation(self))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(_saturation(self)._repr_html_())


class Advice(NamedTuple):
    """One change: how much faster the phase's bound gets (1.0: nothing), what binds after it, and why."""

    change: str
    phase: str
    speedup_best: float
    speedup_expected: Expected | None
    best_s_after: float
    bound_after: str
    fits_after: bool | None
    why: str


class Advised(tuple[Advice, ...]):
    """All changes that were tried, the most helpful first: a tuple of `Advice` that shows itself."""

    __slots__ = ()

    def to_dict(self) -> dict[str, Any]:
        """The document of schema `mansard.advice/1`."""
        return {"schema": "mansard.advice/1", "version": package_version(), "advice": plain(tuple(self))}

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        return str(registry.module("mansard.answers", "advise").of(self))

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(registry.module("mansard.answers", "advise").of(self)._repr_html_())


class CurvePoint(NamedTuple):
    """One decode step along a curve. fits: None where the device's memory is not known."""

    value: int
    flops: float
    bytes: float
    intensity: float
    best_s: float
    bound: str
    tokens_per_s_per_user: float
    tokens_per_s_per_device: float
    memory_bytes: int
    fits: bool | None


class Curve(NamedTuple):
    """Decode against the batch or the context, all else kept.

    knee: the smallest batch at which compute catches up with memory; None is "never", with the reason. largest: what
    still fits; None where nothing limits it or the device's memory is not known.
    """

    model: str
    device: str
    over: str  # "batch" | "context"
    here: int  # the value of the scenario itself
    points: tuple[CurvePoint, ...]
    knee: int | None
    reason: str
    largest: int | None
    ridge_point: float

    def to_dict(self) -> dict[str, Any]:
        """The curve as dicts and lists."""
        return {name: plain(value) for name, value in self._asdict().items()}


def _saturation(found: Saturation) -> Any:
    return registry.module("mansard.answers", "saturate").of(found)


def plain(value: Any) -> Any:
    """A result as dicts, lists, numbers and strings."""
    if isinstance(value, OperatorResult):
        return value.to_dict()
    if is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in fields(value)}
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return {name: plain(getattr(value, name)) for name in value._fields}
    if isinstance(value, (list, tuple)):
        return [plain(part) for part in value]
    if isinstance(value, dict):
        return {name: plain(part) for name, part in value.items()}
    return value


def package_version() -> str:
    """The version of mansard that made a result."""
    from mansard import __version__

    return __version__
