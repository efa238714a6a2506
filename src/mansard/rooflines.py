"""Operators on a device: their clocks, which one binds, and the best time of a step."""

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple, TypeAlias

from mansard.algebra import Numeric
from mansard.inputs.device import Device, Peak
from mansard.operators.cost import Cost, Form, Op, whole
from mansard.operators.step import Basis, Step

# A form with its bases as places in the plan's list of sums, and the operator's count multiplied in.
Compiled: TypeAlias = tuple[tuple[int, int | float], ...]


class BoundOp(NamedTuple):
    """An operator ready to be evaluated: its label, its six compiled forms and the peak of its dtype on the device."""

    label: tuple[str, str, str, int, str]  # name, group, kind, count, dtype
    flops: Compiled
    vector_flops: Compiled
    weight_bytes: Compiled
    cache_read_bytes: Compiled
    cache_write_bytes: Compiled
    activation_bytes: Compiled
    peak: float


# Twice as quick as the class itself, which checks names that are right by construction.
_new = tuple.__new__


class OperatorResult(NamedTuple):
    """One kind of operator in a step, all `count` of it together. A tuple: thousands a second are made.

    bound: the slower of its clocks, "memory" or "compute". share: of the operator bound of the step.
    """

    name: str
    group: str
    kind: str
    count: int  # type: ignore[assignment]  # the word of the interface; a tuple's own count() is not missed
    dtype: str
    flops: float
    vector_flops: float
    bytes: float
    weight_bytes: float
    cache_read_bytes: float
    cache_write_bytes: float
    activation_bytes: float
    memory_s: float
    compute_s: float
    best_s: float
    bound: str
    share: float

    @property
    def intensity(self) -> float | None:
        """Matrix FLOPs per byte; None if no byte is moved."""
        return self.flops / self.bytes if self.bytes else None

    def to_dict(self) -> dict[str, Any]:
        """The row as the JSON of an analysis has it."""
        return {**self._asdict(), "intensity": self.intensity, "expected_s": None}


class Plan(NamedTuple):
    """A model's operators bound to a device, compiled once and evaluated for any number of steps.

    `total` has the six forms of all operators together, `matrix` the matrix FLOPs by the peak at which they run.
    """

    device: Device
    bases: tuple[Basis, ...]
    ops: tuple[BoundOp, ...]
    total: tuple[Compiled, ...]
    matrix: tuple[tuple[float, Compiled], ...]
    peaks: tuple[tuple[str, Peak], ...]  # by the dtype asked for
    vector_peak: float | None

    def sums(self, step: Step) -> list[Numeric]:
        """The values of the plan's bases in a step."""
        return [step.value(basis) for basis in self.bases]


class StepClocks(NamedTuple):
    """Seconds of each clock of a step. `vector_s` is 0 where the device's vector rate is not known."""

    memory_s: Numeric
    matrix_s: Numeric
    vector_s: Numeric


def bind(ops: Sequence[Op], device: Device) -> Plan:
    """Compiles operators for a device.

    Raises:
        UsageError: if the device has no peak for an operator's dtype nor for what could run instead.
    """
    bases: list[Basis] = []
    dtypes = dict.fromkeys(op.dtype for op in ops if op.flops)
    peaks = {dtype: device.peak(dtype) for dtype in dtypes}
    bound = [_bound(op, bases, peaks[op.dtype].flops_per_s if op.flops else 1.0) for op in ops]
    rates = dict.fromkeys(one.peak for one in bound if one.flops)
    return Plan(
        device=device,
        bases=tuple(bases),
        ops=tuple(map(_whole, bound)),
        total=tuple(_merged(forms) for forms in zip(*(_forms(one) for one in bound), strict=True)),
        matrix=tuple((rate, _merged(one.flops for one in bound if one.peak == rate)) for rate in rates),
        peaks=tuple(peaks.items()),
        vector_peak=device.vector_peak.value if device.vector_peak else None,
    )


def operator_results(plan: Plan, sums: Sequence[Numeric]) -> tuple[tuple[OperatorResult, ...], float]:
    """Every operator of a step with its own clocks, and the sum of their bests. Numbers only: see `clocks` for arrays.

    The hottest loop of the package: forms are evaluated in place, since six calls an operator would double its time.
    """
    bandwidth, vector_peak = plan.device.memory_bandwidth.value, plan.vector_peak
    rows = []
    total_s = 0.0
    for label, flops_form, vector_form, weight_form, read_form, write_form, activation_form, peak in plan.ops:
        flops = vector = weights = read = written = activations = 0
        for place, coefficient in flops_form:
            flops += coefficient * sums[place]
        for place, coefficient in vector_form:
            vector += coefficient * sums[place]
        for place, coefficient in weight_form:
            weights += coefficient * sums[place]
        for place, coefficient in read_form:
            read += coefficient * sums[place]
        for place, coefficient in write_form:
            written += coefficient * sums[place]
        for place, coefficient in activation_form:
            activations += coefficient * sums[place]
        moved = weights + read + written + activations
        memory_s, compute_s = moved / bandwidth, flops / peak
        if vector_peak is not None and vector > compute_s * vector_peak:
            compute_s = vector / vector_peak
        best_s, bound = (memory_s, "memory") if memory_s > compute_s else (compute_s, "compute")
        total_s += best_s
        rows.append(
            (*label, flops, vector, moved, weights, read, written, activations, memory_s, compute_s, best_s, bound)
        )
    scale = 1 / total_s if total_s else 0.0
    return tuple([_new(OperatorResult, (*row, row[14] * scale)) for row in rows]), total_s


def total_cost(plan: Plan, sums: Sequence[Numeric]) -> Cost:
    """The cost of all operators of a step together; numbers or arrays."""
    return Cost(*(_value(form, sums) for form in plan.total))


def clocks(plan: Plan, sums: Sequence[Numeric], cost: Cost) -> StepClocks:
    """The clocks of a whole step, each summed over the operators by itself; numbers or arrays."""
    matrix_s: Numeric = 0.0
    for rate, form in plan.matrix:
        matrix_s = matrix_s + _value(form, sums) / rate
    return StepClocks(
        memory_s=cost.bytes / plan.device.memory_bandwidth.value,
        matrix_s=matrix_s,
        vector_s=cost.vector_flops / plan.vector_peak if plan.vector_peak is not None else 0.0,
    )


def step_clocks(plan: Plan, step: Step) -> StepClocks:
    """The clocks of a step."""
    sums = plan.sums(step)
    return clocks(plan, sums, total_cost(plan, sums))


def step_bound(times: StepClocks) -> float:
    """The best time of a step: its slowest clock, all resources overlapping perfectly."""
    return max(times)  # type: ignore[no-any-return]


def summed_decode_s(plan: Plan, first: Step, last: int) -> float:
    """Seconds of the decode steps from the first to that of `last` cached tokens, one after another, each at its bound.

    Each clock is linear in the cached tokens between the places where a window fills or a chunk begins, so that a
    stretch is an arithmetic series wherever one clock binds at both of its ends; where not, it is halved.
    """
    begins: int = first.cached
    return sum(_stretch_s(plan, first, start, end) for start, end in _stretches(plan.bases, begins, last))


def _stretches(bases: Iterable[Basis], first: int, last: int) -> list[tuple[int, int]]:
    ends: set[int] = {last}
    for basis in bases:
        if basis.window is not None:
            ends.update(end for end in (basis.window - 2, basis.window - 1) if first <= end < last)
        if basis.chunk is not None:
            opening = first + (basis.chunk - first % basis.chunk) - 1
            ends.update(range(opening, last, basis.chunk))
    starts = [first, *(end + 1 for end in sorted(ends))]
    return list(zip(starts, sorted(ends), strict=False))


def _stretch_s(plan: Plan, step: Step, first: int, last: int) -> float:
    at_first = step_clocks(plan, step._replace(cached=first))
    at_last = step_clocks(plan, step._replace(cached=last))
    steps = last - first + 1
    binding = at_first.index(max(at_first))
    if steps <= 2 or at_last[binding] >= max(at_last):
        ends = (max(at_first), max(at_last))
        return ends[0] if steps == 1 else (ends[0] + ends[1]) * steps / 2  # type: ignore[no-any-return]
    middle = (first + last) // 2
    return _stretch_s(plan, step, first, middle) + _stretch_s(plan, step, middle + 1, last)


def _forms(one: BoundOp) -> tuple[Compiled, ...]:
    """The six forms in the order of `Cost`."""
    return (
        one.flops,
        one.vector_flops,
        one.weight_bytes,
        one.cache_read_bytes,
        one.cache_write_bytes,
        one.activation_bytes,
    )


def _bound(op: Op, bases: list[Basis], peak: float) -> BoundOp:
    label = (op.name, op.group, op.kind, op.count, op.dtype)
    flops, vector, weights, read, written, activations = (_compiled(form, bases, op.count) for form in op.forms)
    return BoundOp(label, flops, vector, weights, read, written, activations, peak)


def _compiled(form: Form, bases: list[Basis], count: int) -> Any:
    for term in form:
        if term.basis not in bases:
            bases.append(term.basis)
    return tuple((bases.index(term.basis), term.coefficient * count) for term in form)


def _merged(forms: Iterable[Compiled]) -> Compiled:
    total: dict[int, Any] = {}
    for form in forms:
        for place, coefficient in form:
            total[place] = total.get(place, 0) + coefficient
    return tuple((place, whole(coefficient)) for place, coefficient in total.items())


def _whole(one: BoundOp) -> BoundOp:
    """Shares of stored bytes as numbers; their sum is made before, since it is whole where they are not."""
    shares: Iterable[tuple[int, Any]] = one.weight_bytes
    if all(isinstance(share, (int, float)) for _, share in shares):
        return one
    return one._replace(weight_bytes=tuple((place, whole(share)) for place, share in shares))


def _value(form: Compiled, sums: Sequence[Numeric]) -> Numeric:
    value: Numeric = 0
    for place, coefficient in form:
        value = value + coefficient * sums[place]  # not in place: an array broadcasts to a larger one
    return value
