"""`explain`: the same as arithmetic that can be followed by hand."""

from typing import Any, Unpack

from mansard import analysis
from mansard.answers._answer import Answer
from mansard.inputs.device import DeviceLike
from mansard.inputs.model import ModelLike
from mansard.inputs.scenario import Words
from mansard.records import package_version
from mansard.scenarios import scenario
from mansard.views.derivation import derivations
from mansard.views.report import Report


def answer(model: ModelLike, *, on: DeviceLike, **words: Unpack[Words]) -> Answer:
    """What `analyze` answers, line by line: formula, numbers put in, result, unit, source.

    >>> print(str(answer("params=8e9", on="peak=990e12,bandwidth=3.35e12")).splitlines()[0])
    params=8e9 on peak=990e12,bandwidth=3.35e12 (bf16): decode is memory-bound, at best 4.78 ms a token
    """
    found = analysis.analyze(model, on=on, **words)
    steps = derivations(scenario(found.model, on=found.device, **words))  # what was read once is not read again

    def rows() -> list[dict[str, Any]]:
        return [line._asdict() for one in steps for line in one.lines]

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.explanation import explanation_report

        return explanation_report(found, steps, quiet=quiet)

    return Answer(
        document=lambda: {"schema": "mansard.explanation/1", "version": package_version(), "lines": rows()},
        rows=rows,
        report=report,
        notes=lambda: found.notes,
        status=1 if found.fits is False else 0,
    )
