"""`mansard list`."""

from collections.abc import Callable
from typing import Any

import click

from mansard.cli import _options as options
from mansard.cli._names import KINDS, names_of
from mansard.cli._output import Answer, deliver
from mansard.errors import UsageError
from mansard.views.report import Report


@click.command("list", short_help="What there is: models, devices, engines, formats, operators.")
@click.argument("kind", type=click.Choice(KINDS))
@click.option(
    "--sort", "by", type=click.Choice(("name", "ridge", "bandwidth", "peak")), default="name", show_default=True,
    help="Devices: the largest first.",
)  # fmt: skip
@options.output_options
def command(*, kind: str, by: str, shape: str | None, as_json: bool, file: str | None, quiet: bool) -> int:
    r"""What there is: models, devices, engines, weight formats, operators.

    \b
    mansard list devices --sort ridge
    mansard list models --format csv
    """
    if kind == "devices":
        rows, report = _devices(by)
    elif by != "name":
        raise UsageError(f"{kind} are listed by name alone", hint="--sort ranks devices")
    else:
        rows, report = _others(kind)
    answer = Answer(
        document=lambda: {"schema": "mansard.list/1", "kind": kind, kind: rows}, rows=lambda: rows, report=report
    )
    return deliver(answer, shape=shape, as_json=as_json, file=file, quiet=quiet)


def _devices(by: str) -> tuple[list[dict[str, Any]], Callable[[], Report]]:
    from mansard.inputs.device_file import load_device
    from mansard.views.catalogue import device_list, device_rows, ranked

    found = ranked([load_device(name) for name in names_of("devices")], by)
    return device_rows(found), lambda: device_list(found)


def _others(kind: str) -> tuple[list[dict[str, Any]], Callable[[], Report]]:
    from mansard.views.catalogue import name_list

    rows = [_row(kind, name) for name in names_of(kind)]
    return rows, lambda: name_list("weight formats" if kind == "formats" else kind, rows)


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
