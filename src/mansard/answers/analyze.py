"""`analyze`: what limits each phase, how fast at best, what fits, what helps."""

from typing import TYPE_CHECKING, Any, Unpack

from mansard import analysis
from mansard.answers._answer import Answer, Charts
from mansard.inputs.device import DeviceLike
from mansard.inputs.model import ModelLike
from mansard.inputs.scenario import Words
from mansard.registry import names
from mansard.results import Analysis
from mansard.views.report import Report

if TYPE_CHECKING:
    from mansard.views.drawing import Chart


def answer(model: ModelLike, *, on: DeviceLike, plot: bool = False, **words: Unpack[Words]) -> Answer:
    """The answer of `mansard analyze`; the words are those of `mansard.analyze`. plot: a roofline in characters."""
    return of(analysis.analyze(model, on=on, **words), plot=plot)


def of(found: Analysis, *, plot: bool = False) -> Answer:
    """An analysis in every form."""

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.tables import analysis_report

        drawn = analysis_report(found, quiet=quiet)
        if not plot:
            return drawn
        from mansard.views.plot import roofline_plot

        return drawn._replace(blocks=(roofline_plot(found), *drawn.blocks))

    def rows() -> list[dict[str, object]]:
        return [{"phase": name, **one.to_dict()} for name, phase in found.phases.items() for one in phase.operators]

    def draw(kind: str, **look: Any) -> "Chart":
        from mansard.views.drawing import draw as drawn

        return drawn(kind, found, **look)

    return Answer(
        document=found.to_dict,
        rows=rows,
        report=report,
        notes=lambda: found.notes,
        status=1 if found.fits is False else 0,
        charts=Charts("roofline", names("mansard.views.charts"), draw),
    )
