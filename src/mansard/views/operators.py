"""One operator alone, as a report."""

from mansard.single import OperatorAnalysis
from mansard.views.report import Block, Column, Report, Table, Text, facts
from mansard.views.sources import source_block
from mansard.views.tables import UNCALIBRATED, notes_block
from mansard.views.wording import NONE, duration, figure, milliseconds, number, power, scaled


def operator_report(found: OperatorAnalysis, *, quiet: bool = False) -> Report:
    """The table load, work and store of each step, totals, intensity, ridge and verdict; then what stands beside it."""
    blocks: list[Block] = [_inputs(found), *_one(found)]
    for other in found.beside:
        blocks.append(Text(title="Beside it", lines=(verdict(other),)))
        blocks += [_inputs(other), *_one(other)]
    blocks.append(
        Text(
            title="",
            lines=(
                f"device: {found.device.title}",
                UNCALIBRATED,
            ),
        )
    )
    if not quiet:
        notes = dict.fromkeys([*found.notes, *(note for other in found.beside for note in other.notes)])
        blocks += notes_block(tuple(notes))
    return Report(headline=verdict(found), blocks=tuple(blocks))


def operator_explanation(found: OperatorAnalysis, *, quiet: bool = False) -> Report:
    """The same as arithmetic: sums over the steps, intensity, both clocks, and the device's sources."""
    blocks: list[Block] = [_inputs(found)]
    for one in (found, *found.beside):
        if one is not found:
            blocks.append(Text(title="Beside it", lines=(verdict(one),)))
        blocks += [_steps(one), Text(title="", lines=tuple(_arithmetic(one)))]
    if not quiet:
        blocks += notes_block(found.notes)
    blocks.append(source_block(found.device.sources))
    return Report(headline=verdict(found), blocks=tuple(block for block in blocks if block.title or _filled(block)))


def _filled(block: Block) -> bool:
    return bool(block.rows if isinstance(block, Table) else block.lines)


def _arithmetic(found: OperatorAnalysis) -> list[str]:
    bandwidth, peak = found.device.memory_bandwidth, found.device.peak(found.dtype)
    parts = [part for step in found.steps for part in (step.loads_bytes, step.stores_bytes) if part]
    work = [step.flops for step in found.steps if step.flops]
    added = f"{' + '.join(map(number, work))} = " if len(work) > 1 else ""
    clocks = f"{milliseconds(found.memory_s)} and {milliseconds(found.compute_s)}"
    lines = [
        f"bytes = loads + stores = {' + '.join(map(number, parts))} = {number(found.bytes)} B",
        f"FLOPs = {added}{number(found.flops)} FLOP",
    ]
    if found.intensity is not None:
        put_in = f"{number(found.flops)} / {number(found.bytes)}"
        lines.append(f"intensity = FLOPs / bytes = {put_in} = {figure2(found.intensity)} FLOP/byte")
    lines += [
        f"B = {scaled(bandwidth.value, 'B/s')}, memory bandwidth [{bandwidth.source or bandwidth.confidence}]",
        f"P = {scaled(peak.flops_per_s, 'FLOP/s')}, dense, {peak.dtype} [{peak.fact.source or peak.fact.confidence}]",
        f"ridge point = {figure(found.ridge_point)} FLOP/byte",
        f"memory clock = bytes / B = {number(found.bytes)} / {power(bandwidth.value)} = {milliseconds(found.memory_s)}",
        f"compute clock, the slower of matrix and vector units = {milliseconds(found.compute_s)}",
        f"best = the slower of {clocks} = {milliseconds(found.best_s)}: {found.bound}-bound",
    ]
    return lines


def verdict(found: OperatorAnalysis) -> str:
    """What binds and the best time, in a line."""
    reason = ""
    if found.intensity is not None:
        side = "below" if found.intensity < found.ridge_point else "at or above"
        reason = f": {figure2(found.intensity)} FLOP/byte, {side} the ridge point of {figure(found.ridge_point)}"
    best = duration(found.best_s)
    return f"{found.name} on {found.device.name} ({found.dtype}) is {found.bound}-bound{reason}; at best {best}."


def figure2(value: float) -> str:
    """An intensity with at least two decimals up to 1000, so that it can be compared with a textbook's."""
    return f"{value:.2f}" if 1 <= value < 1000 else figure(value)


def _inputs(found: OperatorAnalysis) -> Text:
    given = ", ".join(f"{name} = {value if isinstance(value, str) else number(value)}" for name, value in found.inputs)
    return Text(title="", lines=(f"with {given}",) if given else ())


def _steps(found: OperatorAnalysis) -> Table:
    rows = [
        (step.name, number(step.loads_bytes), number(step.flops), number(step.stores_bytes)) for step in found.steps
    ]
    loads, stores = sum(s.loads_bytes for s in found.steps), sum(s.stores_bytes for s in found.steps)
    rows.append(("total", number(loads), number(sum(step.flops for step in found.steps)), number(stores)))
    columns = (Column("step"), *(Column(name, right=True) for name in ("load [bytes]", "work [FLOP]", "store [bytes]")))
    return Table(title="", columns=columns, rows=tuple(rows))


def _one(found: OperatorAnalysis) -> list[Block]:
    intensity = NONE if found.intensity is None else f"{figure2(found.intensity)} FLOP/byte"
    pairs = [
        ("work", scaled(found.flops, "FLOP")),
        ("bytes moved", scaled(found.bytes, "B")),
        ("intensity", intensity),
        ("ridge point", f"{figure(found.ridge_point)} FLOP/byte"),
        ("memory clock", duration(found.memory_s)),
        ("compute clock", duration(found.compute_s)),
        ("bound", found.bound),
        ("best", duration(found.best_s)),
    ]
    return [_steps(found), facts("", pairs)]
