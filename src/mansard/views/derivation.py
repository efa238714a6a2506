"""The arithmetic behind an answer, line by line: formula, numbers put in, result, unit, and source."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from mansard.inputs.device import Device, Fact
from mansard.operators.cost import Op, Term, whole
from mansard.operators.step import Basis, Step
from mansard.records import Phase
from mansard.rooflines import Plan, total_cost
from mansard.scenarios import Scenario
from mansard.views.wording import number, power

_FORMS = (
    ("FLOPs", "FLOP"),
    ("vector FLOPs", "FLOP"),
    ("weights read", "B"),
    ("cache read", "B"),
    ("cache written", "B"),
    ("activations", "B"),
)
_SYMBOL = re.compile(r"[A-Za-zκ][A-Za-z_κ]*")


class Line(NamedTuple):
    """One line of arithmetic: quantity = formula = substituted = value [unit]; `subject` is the operator or "step"."""

    phase: str
    subject: str
    quantity: str
    formula: str
    substituted: str
    value: float
    unit: str
    source: str = ""


class Derivation(NamedTuple):
    """All the arithmetic of one phase: the step's symbols, each operator's lines, then sums and clocks."""

    phase: Phase
    given: tuple[Line, ...]
    operators: tuple[tuple[Op, tuple[Line, ...]], ...]
    totals: tuple[Line, ...]
    clocks: tuple[Line, ...]

    @property
    def lines(self) -> tuple[Line, ...]:
        """All lines in order."""
        return (*self.given, *(line for _, lines in self.operators for line in lines), *self.totals, *self.clocks)


def derivations(where: Scenario) -> tuple[Derivation, ...]:
    """The arithmetic of each phase of a scenario, in the order in which they run."""
    return tuple(_derivation(where, name) for name in where.phase_names)


def _derivation(where: Scenario, name: str) -> Derivation:
    plan, step = where.step_of(name)
    return Derivation(
        phase=where.phase(name),
        given=tuple(_given(name, step, plan)),
        operators=tuple((op, tuple(_operator(name, op, step))) for op in where.operators_of(name)),
        totals=tuple(_totals(name, plan, step)),
        clocks=tuple(_clocks(name, plan, step)),
    )


def _given(name: str, step: Step, plan: Plan) -> Iterator[Line]:
    def line(symbol: str, formula: str, put_in: str, value: float, unit: str) -> Line:
        return Line(name, "step", symbol, formula, put_in, value, unit)

    b, n, c = step.batch, step.new, step.cached
    yield line("b", "sequences in the batch", "", b, "")
    yield line("n", "new tokens per sequence", "", n, "tokens")
    yield line("c", "tokens already in the cache", "", c, "tokens")
    yield line("T", "b·n", f"{number(b)}·{number(n)}", b * n, "tokens")
    for basis in plan.bases:
        if basis.kind not in ("one", "tokens", "sampled"):
            symbol, formula = _basis(basis)
            yield line(symbol, formula, _values_of(basis, step), step.value(basis), "")


def _basis(basis: Basis) -> tuple[str, str]:
    """(symbol, what it is) of one of a step's sums."""
    if basis.last:
        symbol, words_of = _basis(basis._replace(last=False))
        return f"last_{symbol}", f"{words_of}, of the last position of each sequence alone"
    limit = basis.window or basis.chunk
    mark = f"[{number(limit)}]" if limit else ""
    pairs, reads = "b·(n·c + n·(n + 1)/2)", "b·c"
    if basis.window:
        pairs = "b·(m·c + m·(m + 1)/2 + (n − m)·W), m = max(0, min(n, W − c))"
        reads = "b·min(c, W − 1)"
    if basis.chunk:
        pairs, reads = "b·Σ ((c + i − 1) mod A + 1) for i = 1 … n", "b·(c mod A)"
    both = "b·(n·W − r·(r + 1)), r = (W − 1)/2" if basis.window else "b·Σ A²" if basis.chunk else "b·n²"
    words = {
        "one": ("1", "once a step"),
        "tokens": ("T", "tokens of the step"),
        "sampled": ("b", "positions whose logits are computed"),
        "pairs": (f"pairs{mark}", f"{pairs}: query-key pairs under the causal mask"),
        "square": ("square", "b·n·(c + n): every query with every key"),
        "reads": (f"reads{mark}", f"{reads}: cached tokens that are read"),
        "experts": (f"touched[{basis.experts}]", "E·(1 − (1 − k/E)^T): experts touched, expected for even routing"),
        "fewest_experts": (f"touched[{basis.experts}]", "k: the fewest experts that any routing touches"),
        "sequences": ("b", "sequences whose state is written"),
        "resumed": ("b", "sequences whose state is read, where something came before"),
        "source": ("S", "b·s: tokens of the encoder's output that are attended to"),
        "cross_pairs": ("cross_pairs", "b·n·s: queries with the tokens of the encoder's output"),
        "both_ways": (f"pairs{mark}", f"{both}: query-key pairs without a mask"),
        "squares": (f"pairs[{basis.fixed}²]", "b·(Σ a²)·(Σ b²): query-key pairs within the squares of an image"),
        "scaled": _scaled(basis),
        "rows": (f"{basis.times}", f"{basis.times} rows of a table, once a step"),
        "fixed": (f"b·{basis.fixed}", f"{basis.fixed} for each sequence"),
        "tail": ("tail", f"b·min(n, {basis.fixed}): the last tokens of each sequence"),
    }
    return words.get(basis.kind, (basis.kind, basis.kind))


def _scaled(basis: Basis) -> tuple[str, str]:
    if not basis.per:
        return (f"b·{basis.times}" if basis.times > 1 else "b"), f"{basis.times} for each sequence"
    times = f"·{basis.times}" if basis.times > 1 else ""
    return f"b·⌊n{times}/{basis.per}⌋", f"{basis.times} for every {basis.per} tokens"


def _values_of(basis: Basis, step: Step) -> str:
    """The numbers behind one of a step's sums, in the order of its formula."""
    step = step.at_last() if basis.last else step
    b, n, c = number(step.batch), number(step.new), number(step.cached)
    if basis.kind == "pairs" and basis.chunk:
        return f"A = {number(basis.chunk)}, n = {n}, c = {c}"
    if basis.kind == "pairs" and basis.window:
        m = max(0, min(step.new, basis.window - step.cached))
        inner = f"{number(m)}·{c} + {number(m)}·{number(m + 1)}/2 + {number(step.new - m)}·{number(basis.window)}"
        return f"{b}·({inner})"
    if basis.kind == "pairs":
        return f"{b}·({n}·{c} + {n}·{number(step.new + 1)}/2)"
    if basis.kind == "square":
        return f"{b}·{n}·({c} + {n})"
    if basis.kind == "reads" and not basis.last:
        limit = f" mod {number(basis.chunk)}" if basis.chunk else ""
        return (
            f"{b}·min({c}, {number(basis.window - 1)})"
            if basis.window
            else f"{b}·({c}{limit})"
            if limit
            else f"{b}·{c}"
        )
    if basis.kind == "experts":
        tokens = number(step.batch * step.new)
        return f"{basis.experts}·(1 − (1 − {basis.per_token}/{basis.experts})^{tokens})"
    return ""


def _operator(name: str, op: Op, step: Step) -> Iterator[Line]:
    for (quantity, unit), form in zip(_FORMS, op.forms, strict=True):
        for term in form:
            formula, put_in, value = _term(term, op, step)
            yield Line(name, op.name, quantity, formula, put_in, value, unit)


def _term(term: Term, op: Op, step: Step) -> tuple[str, str, float]:
    amount = step.value(term.basis)
    value = whole(term.coefficient * op.count) * amount
    symbol, _ = _basis(term.basis)
    factors = ([] if term.basis.kind == "one" else [(symbol, exact(amount))]) + (
        [("count", number(op.count))] if op.count != 1 else []
    )
    first = _put_in(term.formula, op) or number(whole(term.coefficient))
    formula = "·".join([_grouped(term.formula, factors), *(one for one, _ in factors)])
    return formula, "·".join([_grouped(first, factors), *(one for _, one in factors)]), value


def _grouped(text: str, factors: list[tuple[str, str]]) -> str:
    """In brackets if it is a sum that is multiplied on."""
    depth = 0
    for place, sign in enumerate(text):
        depth += (sign == "(") - (sign == ")")
        if factors and depth == 0 and text[place : place + 3] == " + ":
            return f"({text})"
    return text


def _put_in(formula: str, op: Op) -> str:
    """The formula with its symbols' values; empty if it has a symbol that the operator does not state."""
    values = {symbol: value for symbol, value, _ in op.symbols}
    if not all(word in values for word in _SYMBOL.findall(formula)):
        return ""
    return _SYMBOL.sub(lambda found: exact(values[found.group()]), formula)


def exact(value: float) -> str:
    """A symbol's value as it is put in: ten digits where it is not whole."""
    return number(value) if value == int(value) else f"{value:.10g}"


def _totals(name: str, plan: Plan, step: Step) -> Iterator[Line]:
    cost = total_cost(plan, plan.sums(step))
    parts = [(quantity, value) for (quantity, unit), value in zip(_FORMS, cost, strict=True) if unit == "B" and value]
    yield Line(name, "step", "FLOPs", "sum over the operators", "", cost.flops, "FLOP")
    if cost.vector_flops:
        yield Line(name, "step", "vector FLOPs", "sum over the operators", "", cost.vector_flops, "FLOP")
    names, numbers = " + ".join(part for part, _ in parts), " + ".join(number(value) for _, value in parts)
    yield Line(name, "step", "bytes", names, numbers if len(parts) > 1 else "", cost.bytes, "B")
    put_in = f"{number(cost.flops)} / {number(cost.bytes)}"
    yield Line(name, "step", "intensity", "FLOPs / bytes", put_in, cost.flops / cost.bytes, "FLOP/byte")


def _clocks(name: str, plan: Plan, step: Step) -> Iterator[Line]:
    device, sums = plan.device, plan.sums(step)
    cost = total_cost(plan, sums)
    bandwidth = device.memory_bandwidth
    put_in = f"{number(cost.bytes)} B / {power(bandwidth.value)} B/s"
    yield Line(
        name, "step", "memory clock", "bytes / B", put_in, cost.bytes / bandwidth.value, "s", cited(device, bandwidth)
    )
    for rate, compiled in plan.matrix:
        work = sum(coefficient * sums[place] for place, coefficient in compiled)
        dtype, fact = _peak_of(plan, rate)
        quantity = f"compute clock, {dtype}" if len(plan.matrix) > 1 else "compute clock"
        put_in = f"{number(work)} FLOP / {power(rate)} FLOP/s"
        yield Line(name, "step", quantity, "FLOPs / P", put_in, work / rate, "s", cited(device, fact))
    if plan.vector_peak is not None and device.vector_peak is not None and cost.vector_flops:
        put_in = f"{number(cost.vector_flops)} FLOP / {power(plan.vector_peak)} FLOP/s"
        seconds, source = cost.vector_flops / plan.vector_peak, cited(device, device.vector_peak)
        yield Line(name, "step", "vector clock", "vector FLOPs / P_vector", put_in, seconds, "s", source)


def _peak_of(plan: Plan, rate: float) -> tuple[str, Fact]:
    for asked, peak in plan.peaks:
        if peak.flops_per_s == rate:
            return (asked if asked == peak.dtype else f"{asked} as {peak.dtype}"), peak.fact
    raise LookupError(f"no peak of {rate} FLOP/s")


def cited(device: Device, fact: Fact) -> str:
    """The source of a device's number in brackets: its id among the device's sources, and how far it can be trusted."""
    known = {source.id for source in device.sources}
    return f"{fact.confidence}, source {fact.source}" if fact.source in known else fact.confidence
