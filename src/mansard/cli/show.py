"""`mansard show`."""

from typing import Any

import click

from mansard.cli import _options as options
from mansard.cli._output import Answer, deliver
from mansard.inputs.device import Device
from mansard.inputs.model import ModelConfig


@click.command("show", short_help="Everything known of a device or a model.")
@click.argument("name", type=options.Named("name", "devices"))
@options.online_option
@options.output_options
def command(*, name: str, online: bool, shape: str | None, as_json: bool, file: str | None, quiet: bool) -> int:
    """Everything that is known of a device (each value with its confidence, ridge points) or a model (its layers).

    \b
    mansard show h100-sxm
    mansard show llama-3.1-8b
    mansard show ./config.json --json
    """  # noqa: D301  # click's mark: do not wrap
    from mansard.cli._subject import subject_of

    found = subject_of(name, online=online)
    answer = _device(found, quiet) if isinstance(found, Device) else _model(found, quiet)
    return deliver(answer, shape=shape, as_json=as_json, file=file, quiet=quiet)


def _device(device: Device, quiet: bool) -> Answer:
    from mansard.views.catalogue import device_report
    from mansard.views.documents import device_document, device_values

    return Answer(
        document=lambda: device_document(device),
        rows=lambda: device_values(device),
        report=lambda: device_report(device, quiet=quiet),
        notes=lambda: device.notes,
    )


def _model(model: ModelConfig, quiet: bool) -> Answer:
    from mansard.views.catalogue import layer_runs, model_report
    from mansard.views.documents import model_document

    facts: dict[str, Any] = model_document(model)
    return Answer(
        document=lambda: facts,
        rows=lambda: layer_runs(model),
        report=lambda: model_report(model, facts, quiet=quiet),
        notes=lambda: model.notes,
    )
