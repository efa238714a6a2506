"""`advise`: every change that could help, ranked, with the gain of each."""

from typing import Unpack

from mansard import advice, analysis
from mansard.answers._answer import Answer
from mansard.answers._subject import called
from mansard.inputs.device import DeviceLike
from mansard.inputs.model import ModelLike
from mansard.inputs.scenario import Words
from mansard.results import package_version, plain
from mansard.views.report import Report


def answer(model: ModelLike, *, on: DeviceLike, **words: Unpack[Words]) -> Answer:
    """The answer of `mansard advise`; the words are those of `mansard.advise`."""
    found = advice.advise(model, on=on, **words)
    as_it_is = analysis.analyze(model, on=on, **words)

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.headline import misfit
        from mansard.views.tables import advise_report

        del quiet  # there are no notes
        missing = misfit(as_it_is.memory) if as_it_is.fits is False else ""
        return advise_report(found, f"{called(model)} on {called(on)}", missing)

    return Answer(
        document=lambda: {"schema": "mansard.advice/1", "version": package_version(), "advice": plain(found)},
        rows=lambda: plain(found),
        report=report,
        status=1 if as_it_is.fits is False else 0,
    )
