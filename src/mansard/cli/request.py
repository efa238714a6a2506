"""`mansard request`."""

import click

from mansard import __version__
from mansard.cli import _options as options
from mansard.cli._output import Answer, deliver
from mansard.errors import UsageError

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
    shape: str | None, as_json: bool, file: str | None, quiet: bool,
) -> int:  # fmt: skip
    """How long a request takes and at which rates, from its TTFT and ITL, each with its definition.

    \b
    mansard request --ttft 0.2 --itl 0.05 --output 5
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.algebra import request_times
    from mansard.views.requests import request_report

    if prompt is not None and prompt < 1:
        raise UsageError("--prompt must be at least 1")
    try:
        times = request_times(ttft, itl, output)
    except ValueError as bad:
        raise UsageError(str(bad), hint="give --ttft and --itl in seconds (0.2) or with a unit (200ms)") from bad
    facts = {**times._asdict(), "output_tokens": output, "prompt_tokens": prompt}
    answer = Answer(
        document=lambda: {"schema": "mansard.request/1", "version": __version__, **facts},
        rows=lambda: [facts],
        report=lambda: request_report(times, output, prompt),
    )
    return deliver(answer, shape=shape, as_json=as_json, file=file, quiet=quiet)
