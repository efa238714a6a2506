"""`mansard saturate`."""

from typing import Any

import click

from mansard.cli import _options as options
from mansard.cli._output import deliver


@click.command("saturate", short_help="The batch at which compute catches up, or never and why.")
@options.model_argument
@options.on_option
@options.context
@options.deployment_options
@options.online_option
@options.chart_options
@options.output_options
def command(*, model: str, device: str, out: options.Output, **words: Any) -> int:
    """The smallest batch at which decode keeps compute as busy as memory, or never, and the intensity it tends to.

    Without --context the weights alone are counted; with it each sequence brings its own cache to read.

    \b
    mansard saturate llama-3.1-8b --on h100-sxm
    mansard saturate llama-3.1-8b --on h100-sxm --context 4096
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.answers.saturate import answer

    return deliver(answer(model, on=device, **words), out)
