"""`mansard advise`."""

from typing import Any

import click

from mansard.cli import _options as options
from mansard.cli._output import deliver


@click.command("advise", short_help="Every change that could help, ranked, with the gain of each.")
@options.model_argument
@options.on_option
@options.workload_options
@options.deployment_options
@options.routing_option
@options.online_option
@options.output_options
def command(*, model: str, device: str, out: options.Output, **words: Any) -> int:
    """Every change that could help MODEL on a device or is often thought to: its gain in the bound, and why.

    \b
    mansard advise llama-3.1-8b --on h100-sxm --batch 32
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.answers.advise import answer

    return deliver(answer(model, on=device, **words), out)
