"""What an analysis found: frozen, in SI base units, with its notes and sources; turns itself into dicts and JSON."""

import json
from collections.abc import Callable
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, NamedTuple, Protocol

from mansard import registry
from mansard.inputs.device import Device
from mansard.inputs.model import ModelConfig
from mansard.inputs.notes import Note, Source
from mansard.inputs.scenario import Deployment, Workload
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


class Request(NamedTuple):
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


class Answers(Protocol):
    """What an analysis works out only when it is asked for: given by the scenario that it came from."""

    def request(self, prefill: Phase) -> Request: ...
    def memory(self) -> Memory: ...
    def fits(self) -> bool | None: ...
    def saturation(self) -> Saturation: ...
    def notes(self, phases: tuple[Phase, ...]) -> tuple[Note, ...]: ...
    def sources(self) -> tuple[Source, ...]: ...
    def model_facts(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Analysis:
    """What limits a model on a device for a workload: two phases, the request, memory, saturation, advice.

    The phases are worked out at once, the rest when it is read. `decode` is None if only one token is asked for.
    """

    model: ModelConfig
    device: Device
    workload: Workload
    deployment: Deployment
    prefill: Phase
    decode: Phase | None
    answers: Answers
    advisor: Callable[[Any], tuple[Advice, ...]]

    @property
    def phases(self) -> dict[str, Phase]:
        """The phases by name, in the order in which they run."""
        found = {"prefill": self.prefill}
        if self.decode is not None:
            found["decode"] = self.decode
        return found

    @property
    def request(self) -> Request:
        return self.answers.request(self.prefill)

    @property
    def memory(self) -> Memory:
        return self.answers.memory()

    @property
    def fits(self) -> bool | None:
        """Whether it fits, without the searches for the largest that `memory` makes; None if that is not known."""
        return self.answers.fits()

    @property
    def saturation(self) -> Saturation:
        return self.answers.saturation()

    @property
    def advice(self) -> tuple[Advice, ...]:
        return self.advisor(self.answers)

    @property
    def notes(self) -> tuple[Note, ...]:
        return self.answers.notes(tuple(self.phases.values()))

    @property
    def sources(self) -> tuple[Source, ...]:
        return self.answers.sources()

    def to_dict(self) -> dict[str, Any]:
        """The document of schema `mansard.analysis/1`."""
        workload, deployment = plain(self.workload), plain(self.deployment)
        return {
            "schema": "mansard.analysis/1",
            "version": package_version(),
            "model": self.answers.model_facts(),
            "device": device_facts(self.device),
            "workload": {
                "batch": workload["batch"],
                "prompt_tokens": workload["prompt"],
                "output_tokens": workload["output"],
                "cached_tokens": workload["cached"],
                "context_tokens": self.workload.decode_context,
            },
            "deployment": {**deployment, "devices": self.deployment.devices},
            "phases": {name: plain(phase) for name, phase in self.phases.items()},
            "request": plain(self.request),
            "memory": plain(self.memory),
            "saturation": plain(self.saturation),
            "advice": plain(self.advice),
            "notes": plain(self.notes),
            "sources": plain(self.sources),
        }

    def chart(self, kind: str = "roofline", *, theme: str = "light", width: int = 600, along: str | None = None) -> Any:
        """A chart: roofline, clocks, operators, batch, context, memory, request or hardware.

        It shows itself in a notebook; `save("roof.svg")` writes it as svg, png, pdf, html or json. width: pixels of the
        plot. along: "batch" or "context", for a trajectory of decode in the roofline.

        Raises:
            UsageError: if there is no such chart or theme.
        """
        return _drawing().draw(kind, self, theme=theme, width=width, along=along)

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON text; never NaN or Infinity."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        """What the command prints."""
        return str(_answer(self))

    def __repr__(self) -> str:
        return repr(_answer(self)).replace("Answer", "Analysis", 1)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(_answer(self)._repr_html_())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The operators of both phases as an Arrow stream, for polars, pandas, duckdb or pyarrow."""
        return _answer(self).__arrow_c_stream__(requested_schema)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The roofline, live or as a picture; the tables; plain text, for what can show neither."""
        return {**self.chart()._repr_mimebundle_(), "text/html": self._repr_html_(), "text/plain": str(self)}


def _saturation(found: Saturation) -> Any:
    return registry.module("mansard.answers", "saturate").of(found)


def _drawing() -> Any:
    """Charts, found by name as well."""
    return registry.module("mansard.views", "drawing")


def _answer(found: Analysis) -> Any:
    """The views of an analysis, found by name: results import none of them."""
    return registry.module("mansard.answers", "analyze").of(found)


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


def device_facts(device: Device) -> dict[str, Any]:
    """The `device` object of an analysis."""
    return {
        "name": device.name,
        "title": device.title,
        "count": 1,
        "peak_flops_per_s": {dtype: fact.value for dtype, fact in device.peaks},
        "vector_flops_per_s": device.vector_peak.value if device.vector_peak else None,
        "memory_bandwidth_bytes_per_s": device.bandwidth.value if device.bandwidth else None,
        "memory_bytes": device.memory_bytes,
        "sources": [source.id for source in device.sources],
    }


def package_version() -> str:
    """The version of mansard that made a result."""
    from mansard import __version__

    return __version__
