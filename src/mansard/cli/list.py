"""`mansard list`."""

from collections.abc import Callable, Iterator
from typing import Any, TypeVar

import click

from mansard.cli import _options as options
from mansard.cli._names import KINDS, names_of
from mansard.cli._output import Answer, deliver
from mansard.errors import InputError, UsageError
from mansard.inputs.notes import Note
from mansard.views.report import Report

Found = TypeVar("Found")


@click.command("list", short_help="What there is: models, devices, engines, formats, operators.")
@click.argument("kind", type=click.Choice(KINDS))
@click.option(
    "--sort", "by", type=click.Choice(("name", "ridge", "bandwidth", "peak")), default="name", show_default=True,
    help="Devices: the largest first.",
)  # fmt: skip
@options.output_options
def command(*, kind: str, by: str, shape: str | None, as_json: bool, file: str | None, quiet: bool) -> int:
    """What there is: models, devices, engines, weight formats, operators.

    \b
    mansard list devices --sort ridge
    mansard list models --format csv
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.views.tables import with_notes

    left_out: list[Note] = []
    if kind == "devices":
        rows, report = _devices(by, left_out)
    elif by != "name":
        raise UsageError(f"{kind} are listed by name alone", hint="--sort ranks devices")
    else:
        rows, report = _others(kind, left_out)
    answer = Answer(
        document=lambda: {"schema": "mansard.list/1", "kind": kind, kind: rows},
        rows=lambda: rows,
        report=lambda: with_notes(report(), () if quiet else left_out),
        notes=lambda: left_out,
    )
    return deliver(answer, shape=shape, as_json=as_json, file=file, quiet=quiet)


def _devices(by: str, left_out: list[Note]) -> tuple[list[dict[str, Any]], Callable[[], Report]]:
    from mansard.inputs.device_file import load_device
    from mansard.views.catalogue import device_list, device_rows, ranked

    found = ranked(list(_loaded(load_device, "devices", left_out)), by)
    return device_rows(found), lambda: device_list(found)


def _others(kind: str, left_out: list[Note]) -> tuple[list[dict[str, Any]], Callable[[], Report]]:
    from mansard.views.catalogue import name_list

    rows = list(_loaded(lambda name: _row(kind, name), kind, left_out))
    return rows, lambda: name_list("weight formats" if kind == "formats" else kind, rows)


def _loaded(load: Callable[[str], Found], kind: str, left_out: list[Note]) -> Iterator[Found]:
    """Everything of a kind that can be read; what cannot is left out with a note, and does not spoil the list."""
    for name in names_of(kind):
        try:
            yield load(name)
        except InputError as bad:
            left_out.append(Note(level="warning", code="left-out", text=f"{name} is left out: {bad.faults[0].problem}"))


def _row(kind: str, name: str) -> dict[str, Any]:
    if kind == "engines":
        from mansard.inputs.engine import load_engine

        engine = load_engine(name)
        return {"name": name, "fusion": engine.fusion, "attention": engine.attention, "title": engine.title}
    if kind == "formats":
        from mansard.precision import WEIGHT_FORMATS

        found = WEIGHT_FORMATS[name]
        arithmetic = "that of the activations" if found.weight_only else found.dtype
        return {"name": name, "bits_per_weight": found.bits_per_weight, "arithmetic": arithmetic}
    if kind == "models":
        from mansard.models import load_model

        model = load_model(name)
        return {
            "name": name,
            "parameters": model.parameters,
            "parameters_active": model.parameters_active,
            "layers": len(model.layers),
            "dtype": model.dtype,
        }
    return {"name": name}
