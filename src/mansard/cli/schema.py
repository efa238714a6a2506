"""`mansard schema`."""

import click

from mansard.cli import _options as options
from mansard.cli._output import deliver


@click.command("schema", short_help="The JSON Schema of an output.")
@click.argument("name")
@options.output_options
def command(*, name: str, out: options.Output) -> int:
    """The JSON Schema of an output: analysis, explanation, saturation, operator, advice, request, model, device.

    \b
    mansard schema analysis > analysis.schema.json
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.answers.schema import answer

    return deliver(answer(name), out)
