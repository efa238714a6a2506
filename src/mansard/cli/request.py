"""`mansard request`."""

import click

from mansard.cli import _options as options
from mansard.cli._output import deliver

_SECONDS = options.Quantity("s")


@click.command("request", short_help="The arithmetic of a request from given numbers.")
@click.option("--ttft", type=_SECONDS, required=True, help="Time to the first token: 0.2, 200ms.")
@click.option("--itl", type=_SECONDS, required=True, help="Gap between one token and the next: 0.05, 50ms.")
@click.option("--output", type=options.Quantity("token", whole=True), required=True, help="Tokens to make.")
@click.option(
    "--prompt", type=options.Quantity("token", whole=True), help="Tokens of the prompt, for the prompt's rates."
)
@options.output_options
def command(
    *, ttft: float, itl: float, output: int, prompt: int | None,
    out: options.Output,
) -> int:  # fmt: skip
    """How long a request takes and at which rates, from its TTFT and ITL, each with its definition.

    \b
    mansard request --ttft 0.2 --itl 0.05 --output 5
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.answers.request import answer

    found = answer(ttft=ttft, itl=itl, output=output, prompt=prompt)
    return deliver(found, out)
