"""An analysis as a report: first line, memory, phases, operators, request, saturation, advice, notes."""

from collections.abc import Iterable, Iterator, Sequence

from mansard.inputs.model import ModelConfig
from mansard.inputs.notes import Note
from mansard.records import Advice, Memory, Phase, Request, Saturation, Times
from mansard.results import Analysis
from mansard.rooflines import OperatorResult
from mansard.views.headline import headline, idle, workload
from mansard.views.report import Block, Column, Report, Table, Text, facts
from mansard.views.wording import NONE, bytes_both, duration, figure, gain, number, percent, rate, scaled

TOP_OPERATORS = 6
ATTENTION_KINDS = ("attention", "latent_attention", "index")
TOP_ADVICE = 3
UNCALIBRATED = "expected: not calibrated yet; every time here is the best that the stated rates allow"


def analysis_report(found: Analysis, *, quiet: bool = False) -> Report:
    """The whole answer; `quiet` leaves the notes out."""
    phases, main = found.phases, found.main.name
    blocks: list[Block] = [
        memory_table(found.memory, found.model),
        phase_table(phases, workload(found)),
        *(operator_table(phase) for phase in phases.values()),
        request_table(found.request, found.workload.output, [name for name in phases if name != "decode"]),
        Text(title="Saturation", lines=(saturation_line(found.saturation, not found.model.opaque_parameters),)),
        advice_table(
            best_advice(found.advice, main),
            f"What would help {main} most (mansard advise lists it all)",
        ),
        Text(title="", lines=(UNCALIBRATED,)),
    ]
    if not quiet:
        blocks += notes_block(found.notes)
    return Report(headline=headline(found), blocks=tuple(blocks))


def memory_table(memory: Memory, model: ModelConfig) -> Table:
    """What fills the device and what still would fit; before any time."""
    sequences = f"{number(memory.tokens_per_sequence)} tokens a sequence at the end"
    rows = [("weights", bytes_both(memory.weights_bytes), f"{number(model.parameters)} parameters")]
    if memory.cache_bytes is None or memory.cache_bytes_per_sequence is None or memory.activations_bytes is None:
        unknown = "not known from a parameter count alone"
        rows += [("cache", NONE, unknown), ("activations", NONE, unknown)]
    else:
        each = f"{sequences}, {bytes_both(memory.cache_bytes_per_sequence)} each"
        if model.has_decoder:
            rows.append(("cache", bytes_both(memory.cache_bytes), each))
        logits = ", and the logits" if model.head else ""
        rows.append(("activations", bytes_both(memory.activations_bytes), f"at the widest point{logits}"))
    if memory.state_bytes:
        rows.append(("state", bytes_both(memory.state_bytes), ""))
    if memory.reserve_bytes:
        rows.append(("reserve", bytes_both(memory.reserve_bytes), "kept by the engine"))
    rows.append(("total", bytes_both(memory.total_bytes), _fit(memory)))
    if memory.device_bytes is None:
        rows.append(("device", NONE, "its memory is not known"))
    else:
        label = f"sold as {memory.device_label}" if memory.device_label else ""
        rows.append(("device", bytes_both(memory.device_bytes), label))
    if memory.device_bytes is not None and memory.cache_bytes is not None:
        at = f"at {sequences.removesuffix(' at the end')}" if memory.tokens_per_sequence else "of inputs of this size"
        rows.append(("largest batch", _most(memory.max_batch, "none"), at))
    if memory.device_bytes is not None and memory.cache_bytes is not None and model.has_decoder:
        rows.append(("longest context", _most(memory.max_context_tokens, "none"), _stated(memory, model)))
    return Table(title="Memory", columns=(Column(""), Column("", right=True), Column("")), rows=tuple(rows))


def _stated(memory: Memory, model: ModelConfig) -> str:
    """What a context is counted in, and the model's own limit where the device would hold more."""
    limit = model.max_position_embeddings
    if limit is not None and (memory.max_context_tokens or 0) > limit:
        return f"tokens, at this batch; the model states {number(limit)} positions"
    return "tokens, at this batch"


def _fit(memory: Memory) -> str:
    if memory.fits is None or memory.device_bytes is None:
        return "whether it fits is not known"
    if memory.fits:
        return f"fits: {percent(memory.total_bytes / memory.device_bytes)} of the device"
    return f"does not fit: {figure(memory.total_bytes / memory.device_bytes)} times what the device has"


def _most(count: int | None, none: str) -> str:
    if count is None:
        return "no limit"
    return number(count) if count else none


def phase_table(phases: dict[str, Phase], asked: str) -> Table:
    """A column for each phase: work, bytes, intensity beside the ridge, clocks, the best time and what binds."""
    found = list(phases.values())

    def row(name: str, cells: Iterable[str]) -> tuple[str, ...]:
        return (name, *cells)

    rows = [
        row("new tokens", (number(p.tokens) for p in found)),
        row("attending to", (f"{number(p.context_tokens)} tokens" for p in found)),
        row("matrix work", (scaled(p.flops, "FLOP") for p in found)),
        *(row(f"  {kind}", cells) for kind, cells in _by_kind(found)),
        row("vector work", (scaled(p.vector_flops, "FLOP") for p in found)),
        row("bytes moved", (scaled(p.bytes.total, "B") for p in found)),
        row("  weights", (scaled(p.bytes.weights, "B") for p in found)),
        row("  cache read", (scaled(p.bytes.cache_read, "B") for p in found)),
        row("  cache written", (scaled(p.bytes.cache_write, "B") for p in found)),
        row("  activations", (scaled(p.bytes.activations, "B") for p in found)),
        row("intensity", (f"{figure(p.intensity)} FLOP/B" for p in found)),
        row("ridge point", (f"{figure(p.ridge_point)} FLOP/B" for p in found)),
        row("memory clock", (duration(p.clocks.memory_s) for p in found)),
        row("compute clock", (duration(p.clocks.compute_s) for p in found)),
        row("bound", (p.bound for p in found)),
        row("best (step bound)", (duration(p.best_s) for p in found)),
        row("one operator at a time", (duration(p.operator_bound_s) for p in found)),
        row("idle at best", (idle(p) for p in found)),
    ]
    if any(p.repeats > 1 for p in found):
        rows.insert(0, row("passes", (number(p.repeats) for p in found)))
        rows.append(row("all passes, best", (duration(p.repeats * p.best_s) for p in found)))
    columns = (Column("phase"), *(Column(name, right=True) for name in phases))
    return Table(title=f"Phases: {asked}", columns=columns, rows=tuple(rows))


def _by_kind(phases: Sequence[Phase]) -> Iterator[tuple[str, list[str]]]:
    """The matrix work of each phase by what it is; no row for what no phase has."""
    kinds = (("linear", ("linear", "experts")), ("attention", ATTENTION_KINDS), ("convolution", ("convolution",)))
    for name, own in kinds:
        work = [sum(one.flops for one in phase.operators if one.kind in own) for phase in phases]
        if any(work):
            yield name, [f"{scaled(flops, 'FLOP')}" if flops else NONE for flops in work]


def operator_table(phase: Phase, top: int | None = TOP_OPERATORS) -> Table:
    """The operators of a step by their share of the operator bound, the largest first; the rest in one row."""
    ranked = sorted(phase.operators, key=lambda one: -one.share)
    shown, rest = (ranked, []) if top is None or len(ranked) <= top + 1 else (ranked[:top], ranked[top:])
    rows = [_operator(one) for one in shown]
    if rest:
        work, moved = sum(one.flops or one.vector_flops for one in rest), sum(one.bytes for one in rest)
        matrix = sum(one.flops for one in rest)
        intensity = figure(matrix / moved) if moved and matrix else NONE
        share, best_s = sum(one.share for one in rest), sum(one.best_s for one in rest)
        many = str(sum(one.count for one in rest))
        name = f"{len(rest)} others"
        rows.append(
            (name, many, scaled(work, "FLOP"), scaled(moved, "B"), intensity, NONE, duration(best_s), percent(share))
        )
    columns = (
        Column("operator"), Column("count", right=True), Column("work", right=True), Column("bytes", right=True),
        Column("FLOP/B", right=True), Column("bound"), Column("best", right=True), Column("share", right=True),
    )  # fmt: skip
    return Table(title=f"Operators of {phase.name}, by share of the time", columns=columns, rows=tuple(rows))


def _operator(one: OperatorResult) -> tuple[str, ...]:
    intensity = figure(one.intensity) if one.intensity else NONE
    work = scaled(one.flops or one.vector_flops, "FLOP")
    best = duration(one.best_s)
    return (one.name, number(one.count), work, scaled(one.bytes, "B"), intensity, one.bound, best, percent(one.share))


def request_table(request: Request, output: int, before: Sequence[str]) -> Table:
    """Times of one request and rates, each with whose it is. before: the phases up to the first token."""

    def of(times: Times) -> float | None:
        return times.best

    columns = (Column(""), Column("", right=True), Column(""))
    title = "Request, at best"
    if request.ttft_s.best is None:
        done = ("end to end", duration(of(request.e2e_s)), " and ".join(before))
        rate_row = ("requests", rate(of(request.requests_per_s_per_device), "requests"), "per device, all of a batch")
        return Table(title=title, columns=columns, rows=(done, rate_row))
    first = "the prefill" if len(before) == 1 else " and ".join(before)
    rows = [("TTFT", duration(of(request.ttft_s)), f"time to the first token: {first}")]
    if request.itl_s.best is not None:
        ends = f"{duration(of(request.itl_first_s))} at first, {duration(of(request.itl_last_s))} at last"
        rows.append(("ITL, mean", duration(of(request.itl_s)), f"gap between tokens; {ends}"))
    rows.append(("end to end", duration(of(request.e2e_s)), f"TTFT and {number(output - 1)} gaps"))
    rates = (
        ("decode rate", request.decode_tokens_per_s_per_user, "tokens", "per user, once it streams: 1 / ITL"),
        ("request rate", request.output_tokens_per_s_per_user, "tokens", "output tokens per user, over the request"),
        ("device output", request.output_tokens_per_s_per_device, "tokens", "output tokens per device, all users"),
        ("requests", request.requests_per_s_per_device, "requests", "per device"),
    )
    rows += [(name, rate(of(times), what), whose) for name, times, what, whose in rates]
    return Table(title=title, columns=columns, rows=tuple(rows))


def saturation_line(found: Saturation, has_cache: bool = True) -> str:
    """The batch that saturates, or never and why, and what the linear layers alone would need."""
    reason = found.reason[0].upper() + found.reason[1:]
    alone = found.batch_weights_alone
    if has_cache and found.context_tokens is not None and alone is not None:
        return f"{reason}. The weights alone, without a cache, would need {number(alone)}."
    return f"{reason}."


def best_advice(advice: Sequence[Advice], main: str, top: int = TOP_ADVICE) -> tuple[Advice, ...]:
    """The changes that gain most in the main phase, each change once."""
    return tuple(one for one in advice if one.phase == main and one.speedup_best >= 1.005)[:top]


def advice_table(advice: Sequence[Advice], title: str) -> Block:
    """Changes with their gain in the bound, what binds afterwards, and why."""
    if not advice:
        return Text(title=title, lines=("nothing that was tried gains anything",))
    rows = tuple(
        (one.change, gain(one.speedup_best), duration(one.best_s_after), one.bound_after, _why(one)) for one in advice
    )
    columns = (
        Column("change"), Column("gain", right=True), Column("best then", right=True),
        Column("bound"), Column("why"),
    )  # fmt: skip
    return Table(title=title, columns=columns, rows=rows)


def _why(one: Advice) -> str:
    return f"{one.why}; it does not fit" if one.fits_after is False else one.why


def notes_block(notes: Sequence[Note]) -> list[Block]:
    """Every default, fallback and doubt, a line each; no block if there is none."""
    if not notes:
        return []
    lines = tuple(f"- {'warning: ' if note.level == 'warning' else ''}{note.text}" for note in notes)
    return [Text(title="Notes", lines=lines)]


def with_notes(report: Report, notes: Sequence[Note]) -> Report:
    """The report with its notes at the end."""
    return report._replace(blocks=(*report.blocks, *notes_block(notes)))


def advise_report(advice: Sequence[Advice], subject: str, misfit: str = "") -> Report:
    """All changes, those of each phase apart, with those that gain nothing at the end.

    misfit: what is missing if it does not fit as it is; then only changes that fit are worth the first line.
    """
    allowed = [one for one in advice if one.fits_after is not False] if misfit else advice
    best = max(allowed, key=lambda one: one.speedup_best, default=None)
    if misfit:
        subject = f"{subject} {misfit}. Of what fits"
    if misfit and best is None:
        first = f"{subject.removesuffix(' Of what fits')} Nothing that was tried makes it fit."
    elif best is None or best.speedup_best < 1.005:
        first = f"{subject}: nothing that was tried makes a step faster."
    else:
        much = "as many tokens a second" if best.change.startswith("batch") else "as fast"
        first = f"{subject}: most is gained by {best.change}: {best.phase} {gain(best.speedup_best)} {much}."
    blocks = tuple(
        advice_table([one for one in advice if one.phase == phase], phase.capitalize())
        for phase in sorted({one.phase for one in advice})
    )
    return Report(headline=first, blocks=blocks)


def facts_of_saturation(found: Saturation, subject: str) -> Report:
    """The answer of `saturate`."""
    reached = "never" if found.batch is None else f"a batch of {number(found.batch)}"
    plateau = NONE if found.plateau_intensity is None else f"{figure(found.plateau_intensity)} FLOP/byte"
    context = "weights alone, no cache" if found.context_tokens is None else f"{number(found.context_tokens)} tokens"
    alone = "never" if found.batch_weights_alone is None else f"a batch of {number(found.batch_weights_alone)}"
    pairs = [
        ("saturates at", reached),
        ("context", context),
        ("intensity tends to", plateau),
        ("ridge point", f"{figure(found.ridge_point)} FLOP/byte"),
        ("weights alone", alone),
    ]
    return Report(headline=f"{subject}: {found.reason}.", blocks=(facts("", pairs),))
