"""`mansard analyze`."""

from typing import Any

import click

from mansard.cli import _options as options
from mansard.cli._output import deliver


@click.command("analyze", short_help="What limits each phase, how fast at best, what fits, what helps.")
@options.model_argument
@options.on_option
@options.workload_options
@options.deployment_options
@options.routing_option
@options.online_option
@options.chart_options
@click.option("--plot", is_flag=True, help="A roofline in characters, above the table.")
@options.output_options
def command(*, model: str, device: str, out: options.Output, plot: bool, **words: Any) -> int:
    """What limits MODEL on a device, how fast each phase can be at best, what fits, what would help.

    \b
    mansard analyze llama-3.1-8b --on h100-sxm
    mansard analyze ./config.json --on a100-80gb-sxm --batch 32 --prompt 8k --weights fp8
    mansard analyze params=8e9 --on peak=990e12,bandwidth=3.35e12 --json
    mansard analyze llama-3.1-8b --on h100-sxm --chart roof.svg --chart memory:memory.png

    Exits with 1 if it does not fit in the device's memory; the bound is still given.
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.answers.analyze import answer

    return deliver(answer(model, on=device, plot=plot, **words), out)
