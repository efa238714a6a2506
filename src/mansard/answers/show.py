"""`show`: everything known of a device or a model."""

from mansard.answers._answer import Answer
from mansard.answers._subject import subject_of
from mansard.inputs.device import Device, DeviceLike
from mansard.inputs.model import ModelConfig, ModelLike
from mansard.views.report import Report


def answer(name: DeviceLike | ModelLike, *, online: bool = False) -> Answer:
    """Everything that is known of a device (values with their confidence, ridge points) or a model (its layers).

    Raises:
        UsageError: if neither is called so, with near matches.
        InputError: if it is a bad file, with every fault.
    """
    found = subject_of(name, online=online)
    return _device(found) if isinstance(found, Device) else _model(found)


def _device(device: Device) -> Answer:
    from mansard.views.documents import device_document, device_values

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.catalogue import device_report

        return device_report(device, quiet=quiet)

    return Answer(
        document=lambda: device_document(device),
        rows=lambda: device_values(device),
        report=report,
        notes=lambda: device.notes,
    )


def _model(model: ModelConfig) -> Answer:
    from mansard.views.documents import model_document
    from mansard.views.layers import layer_runs

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.catalogue import model_report

        return model_report(model, model_document(model), quiet=quiet)

    return Answer(
        document=lambda: model_document(model),
        rows=lambda: layer_runs(model),
        report=report,
        notes=lambda: model.notes,
    )
