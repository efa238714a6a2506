"""A report as plain text: aligned with spaces, as wide as asked, nothing that a pipe or a diff would mind."""

from collections.abc import Iterator
from textwrap import wrap

from mansard.views.report import Block, Report, Table, Text

_GAP = 2
_NARROWEST = 24  # a wrapped column is never squeezed below this
_ROOMY = 36
_UNDER = " " * 4


def to_plain(report: Report, width: int = 100) -> str:
    """The report as text that ends with a newline; only literal lines and unwrappable tables are wider than `width`."""
    lines = wrap(report.headline, max(width, _NARROWEST)) if report.headline else []
    for block in report.blocks:
        if lines:
            lines.append("")
        lines += [block.title] if block.title else []
        lines += block_lines(block, width)
    return "\n".join(line.rstrip() for line in lines) + "\n"


def block_lines(block: Block, width: int) -> Iterator[str]:
    """The lines of a block under its title."""
    indent = "  " if block.title else ""
    inner = max(width - len(indent), _NARROWEST)
    lines = _table(block, inner) if isinstance(block, Table) else _text(block, inner)
    for line in lines:
        yield indent + line


def _text(block: Text, width: int) -> Iterator[str]:
    for line in block.lines:
        if block.literal or len(line) <= width:
            yield line
        else:
            hanging = "  " if line.startswith("- ") else ""
            yield from wrap(line, width, subsequent_indent=hanging, break_long_words=False, break_on_hyphens=False)


def _table(block: Table, width: int) -> Iterator[str]:
    titles = [column.title for column in block.columns]
    rows = [*([tuple(titles)] if block.has_heading else []), *block.rows]
    if not rows:
        return
    widths = [max(len(row[place]) for row in rows) for place in range(len(titles))]
    room = width - sum(widths[:-1]) - _GAP * (len(widths) - 1)
    last_wraps = not block.columns[-1].right and widths[-1] > room
    below = last_wraps and room < _ROOMY  # no room beside the others: under them
    for row in rows:
        cells = [
            cell.rjust(size) if column.right else cell.ljust(size)
            for cell, size, column in zip(row, widths, block.columns, strict=True)
        ]
        if not last_wraps:
            yield (" " * _GAP).join(cells)
            continue
        lead = (" " * _GAP).join(cells[:-1]) + " " * _GAP
        if below:
            yield lead
            if row[-1] and not (block.has_heading and row is rows[0]):
                yield from wrap(row[-1], width, initial_indent=_UNDER, subsequent_indent=_UNDER, break_on_hyphens=False)
            continue
        for place, part in enumerate(wrap(row[-1], max(room, _NARROWEST), break_on_hyphens=False) or [""]):
            yield (lead if place == 0 else " " * len(lead)) + part
