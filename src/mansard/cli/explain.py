"""`mansard explain`."""

from typing import Any

import click

from mansard.cli import _options as options
from mansard.cli._output import deliver


@click.command("explain", short_help="The same as arithmetic that can be followed by hand.")
@options.model_argument
@options.on_option
@options.workload_options
@options.deployment_options
@options.routing_option
@options.online_option
@options.output_options
def command(*, model: str, device: str, out: options.Output, **words: Any) -> int:
    """The answer of `analyze` as arithmetic, line by line: formula, numbers put in, result, unit, source.

    \b
    mansard explain params=8e9 --on peak=990e12,bandwidth=3.35e12 --prompt 8000
    mansard explain llama-3.1-8b --on h100-sxm --batch 32
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.answers.explain import answer

    return deliver(answer(model, on=device, **words), out)
