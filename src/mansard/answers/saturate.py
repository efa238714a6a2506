"""`saturate`: the batch at which compute catches up, or never and why."""

from typing import Unpack

from mansard import analysis
from mansard.answers._answer import Answer
from mansard.answers._subject import called
from mansard.inputs.device import DeviceLike
from mansard.inputs.model import ModelLike
from mansard.inputs.scenario import SaturateWords
from mansard.results import package_version, plain
from mansard.views.report import Report


def answer(model: ModelLike, *, on: DeviceLike, **words: Unpack[SaturateWords]) -> Answer:
    """The answer of `mansard saturate`; the words are those of `mansard.saturate`."""
    found = analysis.saturate(model, on=on, **words)

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.tables import facts_of_saturation

        del quiet  # there are no notes
        return facts_of_saturation(found, f"{called(model)} on {called(on)}")

    return Answer(
        document=lambda: {"schema": "mansard.saturation/1", "version": package_version(), **plain(found)},
        rows=lambda: [plain(found)],
        report=report,
    )
