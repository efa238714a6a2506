"""`analyze`: what limits each phase, how fast at best, what fits, what helps."""

from typing import Unpack

from mansard import analysis
from mansard.answers._answer import Answer
from mansard.inputs.device import DeviceLike
from mansard.inputs.model import ModelLike
from mansard.inputs.scenario import Words
from mansard.results import Analysis
from mansard.views.report import Report


def answer(model: ModelLike, *, on: DeviceLike, **words: Unpack[Words]) -> Answer:
    """The answer of `mansard analyze`; the words are those of `mansard.analyze`."""
    return of(analysis.analyze(model, on=on, **words))


def of(found: Analysis) -> Answer:
    """An analysis in every form."""

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.tables import analysis_report

        return analysis_report(found, quiet=quiet)

    def rows() -> list[dict[str, object]]:
        return [{"phase": name, **one.to_dict()} for name, phase in found.phases.items() for one in phase.operators]

    return Answer(
        document=found.to_dict,
        rows=rows,
        report=report,
        notes=lambda: found.notes,
        status=1 if found.fits is False else 0,
    )
