"""`advise`: every change that could help, ranked, with the gain of each."""

from typing import Unpack

from mansard import advice, analysis
from mansard.answers._answer import Answer
from mansard.answers._subject import called
from mansard.inputs.device import DeviceLike
from mansard.inputs.model import ModelLike
from mansard.inputs.scenario import Words
from mansard.records import Advised, plain
from mansard.views.report import Report


def answer(model: ModelLike, *, on: DeviceLike, **words: Unpack[Words]) -> Answer:
    """The answer of `mansard advise`; the words are those of `mansard.advise`."""
    as_it_is = analysis.analyze(model, on=on, **words)
    subject, missing = f"{called(model)} on {called(on)}", ""
    if as_it_is.fits is False:
        from mansard.views.headline import misfit

        missing = misfit(as_it_is.memory)
    return of(advice.advise(model, on=on, **words), subject, missing)


def of(found: Advised, subject: str = "", missing: str = "") -> Answer:
    """Advice in every form. missing: what it does not fit for as it is."""

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.tables import advise_report

        del quiet  # there are no notes
        return advise_report(found, subject or "of what was tried", missing)

    return Answer(document=found.to_dict, rows=lambda: plain(tuple(found)), report=report, status=1 if missing else 0)
