"""`list`: what there is, models, devices, engines, weight formats, operators, charts."""

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any, TypeVar

from mansard.answers._answer import Answer, Charts
from mansard.answers._names import KINDS, ORDERS, names_of, unknown
from mansard.errors import InputError, UsageError
from mansard.inputs.notes import Note
from mansard.records import package_version
from mansard.registry import module
from mansard.views.report import Report

if TYPE_CHECKING:
    from mansard.views.drawing import Chart

Found = TypeVar("Found")


def answer(kind: str, *, sort: str = "name") -> Answer:
    """What there is of a kind: models, devices, engines, formats, operators, charts. sort: devices, the largest first.

    Raises:
        UsageError: if there is no such kind or order.

    >>> " ".join(row["name"] for row in answer("engines").rows())
    'eager ideal usual'
    """
    if kind not in KINDS:
        raise unknown(kind, "kind", KINDS)
    if sort not in ORDERS:
        raise unknown(sort, "order", ORDERS)
    if kind != "devices" and sort != "name":
        raise UsageError(f"{kind} are listed by name alone", hint="sort ranks devices")
    left_out: list[Note] = []
    rows, drawn = _devices(sort, left_out) if kind == "devices" else _others(kind, left_out)

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.tables import with_notes

        return with_notes(drawn(), () if quiet else left_out)

    return Answer(
        document=lambda: {"schema": "mansard.list/1", "version": package_version(), "kind": kind, kind: rows},
        rows=lambda: rows,
        report=report,
        notes=lambda: left_out,
        charts=Charts("hardware", ("hardware",), _draw) if kind == "devices" else None,
    )


def _draw(kind: str, **look: Any) -> "Chart":
    from mansard.views.drawing import draw

    return draw(kind, **look)


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
        from mansard.inputs.storage import format_shares
        from mansard.loading import load_model

        model = load_model(name)
        return {
            "name": name,
            "parameters": model.parameters,
            "parameters_active": model.parameters_active,
            "layers": len(model.layers),
            "dtype": format_shares(model)[0][0] if model.quantization else model.dtype,
        }
    if kind == "charts":
        return {"name": name, "shows": module("mansard.views.charts", name).SAYS}
    from mansard.single import operator_inputs

    return {"name": name, "inputs": " ".join(operator_inputs(name))}
