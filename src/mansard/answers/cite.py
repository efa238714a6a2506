"""`cite`: where the numbers of a device or a model come from."""

from mansard.answers._answer import Answer
from mansard.answers._subject import subject_of
from mansard.inputs.device import Device, DeviceLike
from mansard.inputs.model import ModelConfig, ModelLike
from mansard.inputs.notes import Source
from mansard.records import package_version, plain
from mansard.views.documents import device_values
from mansard.views.report import Report


def answer(name: DeviceLike | ModelLike, *, online: bool = False) -> Answer:
    """The sources of a device or a model: title, address, what each states and how surely.

    Raises:
        UsageError: if neither is called so, with near matches.
        InputError: if it is a bad file, with every fault.
    """
    found = subject_of(name, online=online)
    sources = found.sources if isinstance(found, Device) else _sources(found)
    stated = _stated(found) if isinstance(found, Device) else {}
    rows = [{**plain(source), "states": stated.get(source.id, [])} for source in sources]

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.catalogue import citation

        del quiet  # there are no notes
        return citation(found.name, sources, stated)

    return Answer(
        document=lambda: {
            "schema": "mansard.sources/1",
            "version": package_version(),
            "name": found.name,
            "sources": rows,
        },
        rows=lambda: rows,
        report=report,
    )


def _sources(model: ModelConfig) -> tuple[Source, ...]:
    return (Source(id="model", title=model.source),) if model.source else ()


def _stated(device: Device) -> dict[str, list[str]]:
    """By source, the values that it states, each with how far it can be trusted."""
    found: dict[str, list[str]] = {}
    for value in device_values(device):
        what = value["what"].replace("_flops_per_s", "").replace("_", " ")
        found.setdefault(value["source"], []).append(f"{what} ({value['confidence']})")
    return found
