"""A report on a terminal, drawn with rich; imported only when there is one."""

from rich.box import SIMPLE_HEAD
from rich.console import Console
from rich.padding import Padding
from rich.table import Table as Drawn
from rich.text import Text as Words

from mansard.views.report import Block, Report, Table


def show(report: Report) -> None:
    """Prints the report on standard output, as wide as the terminal; NO_COLOR and TERM are rich's to heed."""
    console = Console(highlight=False, soft_wrap=False)
    if report.headline:
        console.print(Words(report.headline, style="bold"))
    for block in report.blocks:
        console.print()
        _show(block, console)


def _show(block: Block, console: Console) -> None:
    if block.title:
        console.print(Words(block.title, style="bold cyan"))
    if not isinstance(block, Table):
        for line in block.lines:
            console.print(Padding(Words(line), (0, 0, 0, 2)), soft_wrap=block.literal)
        return
    drawn = Drawn(box=SIMPLE_HEAD if block.has_heading else None, show_header=block.has_heading, pad_edge=True)
    for column in block.columns:
        justify = "right" if column.right else "left"
        drawn.add_column(column.title, justify=justify, overflow="fold", header_style="dim")  # type: ignore[arg-type]
    for row in block.rows:
        drawn.add_row(*map(Words, row))
    console.print(drawn)
