"""`operator`: one operator alone, what it loads, works and stores, and what binds it."""

from typing import Any

from mansard import single
from mansard.answers._answer import Answer
from mansard.inputs.device import DeviceLike
from mansard.single import OperatorAnalysis
from mansard.views.report import Report


def answer(name: str, *, on: DeviceLike, explains: bool = False, **inputs: Any) -> Answer:
    """The answer of `mansard operator`; the inputs are those of `mansard.operator`. explains: the arithmetic."""
    return of(single.operator(name, on=on, **inputs), explains=explains)


def of(found: OperatorAnalysis, *, explains: bool = False) -> Answer:
    """An operator's analysis in every form."""

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.operators import operator_explanation, operator_report

        return (operator_explanation if explains else operator_report)(found, quiet=quiet)

    return Answer(
        document=found.to_dict,
        rows=lambda: found.to_dict()["steps"],
        report=report,
        notes=lambda: found.notes,
    )
