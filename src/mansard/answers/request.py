"""`request`: the arithmetic of a request from given numbers."""

from math import isfinite
from typing import Any

from mansard.algebra import request_times
from mansard.answers._answer import Answer
from mansard.errors import UsageError
from mansard.records import package_version
from mansard.views.report import Report


def answer(*, ttft: float, itl: float, output: int, prompt: int | None = None) -> Answer:
    """How long a request takes and at which rates, from its TTFT [s] and ITL [s], each with its definition.

    Raises:
        UsageError: if a time is negative or not finite, or a count is not a positive whole number.

    >>> answer(ttft=0.2, itl=0.05, output=5).to_dict()["e2e_s"]
    0.4
    """
    if prompt is not None and not _is_count(prompt):
        raise UsageError("prompt must be a positive whole number")
    try:
        times = request_times(ttft, itl, output)
    except (ValueError, TypeError) as bad:
        raise UsageError(str(bad), hint="give ttft and itl in seconds (0.2); in the shell also with a unit") from bad
    if not all(value is None or isfinite(value) for value in times):
        raise UsageError("the times are too small for a rate", hint="give ttft and itl in seconds (0.2)")
    facts: dict[str, Any] = {**times._asdict(), "output_tokens": output, "prompt_tokens": prompt}

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.requests import request_report

        del quiet  # there are no notes
        return request_report(times, output, prompt)

    return Answer(
        document=lambda: {"schema": "mansard.request/1", "version": package_version(), **facts},
        rows=lambda: [facts],
        report=report,
    )


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and value >= 1
