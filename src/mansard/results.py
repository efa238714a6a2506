"""What an analysis found: frozen, in SI base units, with its notes and sources; turns itself into dicts and JSON."""

from dataclasses import dataclass
from typing import Any, NamedTuple

from mansard.inputs.notes import Note, Source


class OperatorResult(NamedTuple):
    """One kind of operator in a step, all `count` of it together. A tuple, since thousands a second are made.

    bound: the slower of its clocks, "memory" or "compute". share: of the operator bound of the step.
    """

    name: str
    group: str
    kind: str
    count: int
    dtype: str
    flops: Any
    vector_flops: Any
    bytes: Any
    weight_bytes: Any
    cache_read_bytes: Any
    cache_write_bytes: Any
    activation_bytes: Any
    memory_s: Any
    compute_s: Any
    best_s: Any
    bound: str
    share: float

    @property
    def intensity(self) -> float | None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Bytes:
    """Bytes to and from device memory in one step, by what they carry."""

    total: float
    weights: float
    cache_read: float
    cache_write: float
    activations: float
    network: float = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Clocks:
    """Seconds that each resource needs for one step by itself. None: the device's rate for it is not known."""

    memory_s: float
    memory_warm_s: float | None  # what stays in the last-level cache from one step to the next is not read again
    compute_s: float
    matrix_s: float
    vector_s: float | None
    network_s: float = 0.0
    overhead_s: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Expected:
    """What a good engine reaches, with its interval."""

    low: float
    mid: float
    high: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """One step of a phase: `tokens` new tokens in all, attending to at most `context_tokens` each."""

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


class Times(NamedTuple):
    """A time or a rate at best, and as expected (None until it is calibrated)."""

    best: float | None
    expected: Expected | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """A whole request, from prefill to the last token. ITL is the mean gap; the first and last gaps are beside it."""

    ttft_s: Times
    itl_s: Times
    itl_first_s: Times
    itl_last_s: Times
    tpot_s: Times
    e2e_s: Times
    decode_tokens_per_s_per_user: Times
    output_tokens_per_s_per_user: Times
    output_tokens_per_s_per_device: Times
    requests_per_s_per_device: Times


@dataclass(frozen=True, slots=True, kw_only=True)
class Memory:
    """What fills one device, in bytes, at the fullest moment of the request; and what would still fit.

    None in `device_bytes` and in what follows from it: the device's memory is not known.
    """

    weights_bytes: int
    cache_bytes: int
    state_bytes: int
    activations_bytes: int
    reserve_bytes: int
    total_bytes: int
    device_bytes: int | None
    device_label: str
    fits: bool | None
    max_batch: int | None
    max_context_tokens: int | None
    max_concurrent_requests: int | None
    cache_bytes_per_sequence: int
    tokens_per_sequence: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """The smallest batch at which compute catches up with memory; None is "never", with the reason and the plateau."""

    batch: int | None
    reason: str
    plateau_intensity: float | None
    ridge_point: float
    context_tokens: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Advice:
    """One change: how much faster the phase's bound gets (1.0: nothing), what binds after it, and why."""

    change: str
    phase: str
    speedup_best: float
    speedup_expected: Expected | None
    best_s_after: float
    bound_after: str
    fits_after: bool | None
    why: str
