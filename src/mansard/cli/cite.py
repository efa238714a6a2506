"""`mansard cite`."""

import click

from mansard.cli import _options as options
from mansard.cli._output import deliver


@click.command("cite", short_help="Where the numbers of a device or a model come from.")
@click.argument("name", type=options.Named("name", "devices"))
@options.online_option
@options.output_options
def command(*, name: str, online: bool, out: options.Output) -> int:
    """Where the numbers of a device or a model come from: title, address, and what each source states and how surely.

    \b
    mansard cite h100-sxm
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.answers.cite import answer

    return deliver(answer(name, online=online), out)
