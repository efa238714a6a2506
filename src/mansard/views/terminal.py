"""A report on a terminal: the plain layout, as wide as the terminal, with styles; rich is imported only for one."""

from rich.console import Console
from rich.text import Text as Words

from mansard.views.plain import block_lines
from mansard.views.report import Report, Table


def show(report: Report) -> None:
    """Prints the report on standard output; NO_COLOR and TERM are rich's to heed."""
    console = Console(highlight=False)
    if report.headline:
        console.print(Words(report.headline, style="bold"))
    for place, block in enumerate(report.blocks):
        if place or report.headline:
            console.print()
        if block.title:
            console.print(Words(block.title, style="bold cyan"), soft_wrap=True)
        heads = isinstance(block, Table) and block.has_heading
        for row, line in enumerate(block_lines(block, console.width)):
            console.print(Words(line.rstrip(), style="dim" if heads and row == 0 else ""), soft_wrap=True)
