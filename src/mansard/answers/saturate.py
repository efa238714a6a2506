"""`saturate`: the batch at which compute catches up, or never and why."""

from typing import TYPE_CHECKING, Any, Unpack

from mansard import analysis
from mansard.answers._answer import Answer, Charts
from mansard.answers._subject import called
from mansard.inputs.device import DeviceLike
from mansard.inputs.model import ModelLike
from mansard.inputs.scenario import SaturateWords
from mansard.results import package_version, plain
from mansard.views.report import Report

if TYPE_CHECKING:
    from mansard.views.drawing import Chart


def answer(model: ModelLike, *, on: DeviceLike, **words: Unpack[SaturateWords]) -> Answer:
    """The answer of `mansard saturate`; the words are those of `mansard.saturate`."""
    found = analysis.saturate(model, on=on, **words)

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.tables import facts_of_saturation

        del quiet  # there are no notes
        return facts_of_saturation(found, f"{called(model)} on {called(on)}")

    def draw(kind: str, **look: Any) -> "Chart":
        from mansard.views.drawing import draw as drawn

        return drawn(kind, analysis.analyze(model, on=on, **words), **look)

    return Answer(
        document=lambda: {"schema": "mansard.saturation/1", "version": package_version(), **plain(found)},
        rows=lambda: [plain(found)],
        report=report,
        charts=Charts("batch", ("batch", "context", "roofline"), draw),
    )
