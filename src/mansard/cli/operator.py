"""`mansard operator`."""

from typing import Any

import click

from mansard.cli import _options as options
from mansard.cli._output import deliver
from mansard.errors import UsageError


@click.command("operator", short_help="One operator alone: loads, work, stores, intensity, bound.")
@click.argument("name", type=options.Named("name", "operators"))
@click.argument("inputs", nargs=-1, metavar="KEY=VALUE...")
@options.on_option
@click.option("--explain", "explains", is_flag=True, help="The arithmetic, line by line.")
@options.output_options
def command(
    *, name: str, inputs: tuple[str, ...], device: str, explains: bool,
    out: options.Output,
) -> int:  # fmt: skip
    """One operator alone on a device: what each step loads, works and stores, its intensity, what binds it.

    \b
    mansard operator gemm m=32 n=4096 k=4096 --on h100-sxm
    mansard operator attention length=4096 head_dim=128 kind=standard --on h100-sxm

    `mansard list operators` names them all.
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.answers.operator import answer

    found = answer(name, on=device, explains=explains, **_pairs(inputs))
    return deliver(found, out)


def _pairs(inputs: tuple[str, ...]) -> dict[str, Any]:
    given: dict[str, Any] = {}
    for text in inputs:
        key, sign, value = text.partition("=")
        if not sign or not key or not value:
            raise UsageError(
                f"{text[:60]!r} is not of the form key=value", hint="mansard operator gemm m=32 n=4096 k=4096"
            )
        if key in given:
            raise UsageError(f"{key[:60]} is given twice")
        if key in ("name", "on"):
            raise UsageError(f"{key} is no input of an operator", hint="the device is given with --on")
        given[key] = _value(value)
    return given


def _value(text: str) -> Any:
    """A number, with a unit or without, or the word as it is."""
    if not text[0].isdigit():
        return text
    from mansard.errors import MansardError
    from mansard.units import parse_quantity

    if text.isascii() and text.isdigit() and len(text) < 19:
        return int(text)
    try:
        number = parse_quantity(text, "token")
    except MansardError:
        return text
    return int(number) if number == int(number) else number
