"""`mansard list`."""

import click

from mansard.answers._names import KINDS, ORDERS
from mansard.cli import _options as options
from mansard.cli._output import deliver


@click.command("list", short_help="What there is: models, devices, engines, formats, operators, charts.")
@click.argument("kind", type=click.Choice(KINDS))
@click.option(
    "--sort", "by", type=click.Choice(ORDERS), default="name", show_default=True,
    help="Devices: the largest first.",
)  # fmt: skip
@options.chart_options
@options.output_options
def command(*, kind: str, by: str, out: options.Output) -> int:
    """What there is: models, devices, engines, weight formats, operators, charts.

    \b
    mansard list devices --sort ridge
    mansard list models --format csv
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.answers.list import answer

    return deliver(answer(kind, sort=by), out)
