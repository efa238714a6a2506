"""`mansard show`."""

import click

from mansard.cli import _options as options
from mansard.cli._output import deliver


@click.command("show", short_help="Everything known of a device or a model.")
@click.argument("name", type=options.Named("name", "devices"))
@options.online_option
@options.output_options
def command(*, name: str, online: bool, out: options.Output) -> int:
    """Everything that is known of a device (each value with its confidence, ridge points) or a model (its layers).

    \b
    mansard show h100-sxm
    mansard show llama-3.1-8b
    mansard show ./config.json --json
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.answers.show import answer

    return deliver(answer(name, online=online), out)
