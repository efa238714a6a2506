"""What a lesson is made of, and how an answer to one of its exercises is judged."""

import re
from typing import Any, NamedTuple

from mansard.errors import MansardError
from mansard.units import parse_quantity
from mansard.views.wording import duration, figure, scaled

# Units that `parse_quantity` reads; all others are plain numbers behind which the unit may be written or not.
_QUANTITIES = ("s", "byte", "byte/s", "FLOP/s", "token")


class Prediction(NamedTuple):
    """A question to answer before anything is explained: the options, which one is right, and why."""

    question: str
    options: tuple[str, ...]
    right: int
    why: str


class Figure(NamedTuple):
    """A chart of a run, with a slider on one of its words."""

    chart: str
    run: dict[str, Any]
    slider: str
    least: int
    most: int
    look: str  # what to look at while it moves


class Exercise(NamedTuple):
    """A question with a number for an answer, in a unit; `tolerance` is a share of it."""

    question: str
    answer: float
    unit: str
    hint: str
    worked: tuple[str, ...]
    tolerance: float = 0.02


class Lesson(NamedTuple):
    """One lesson. `worked` are the lines of an example that the package computes."""

    place: int
    title: str
    prediction: Prediction
    text: tuple[str, ...]
    figure: Figure
    worked: tuple[str, ...]
    exercises: tuple[Exercise, ...]


class Judgement(NamedTuple):
    """Whether an answer is right, and what to say to it."""

    is_right: bool
    says: str


def judged(exercise: Exercise, answer: str, tries: int) -> Judgement:
    """An answer as it was typed. tries: how many there were, this one included; the first wrong one gets the hint.

    >>> one = Exercise("", 0.004776, "s", "divide bytes by the bandwidth", ("16e9 / 3.35e12 = 4.78 ms",))
    >>> judged(one, "4.78 ms", 1).is_right, judged(one, "4.78", 1).says
    (True, 'That is 4.78 s: mind the unit. divide bytes by the bandwidth')
    """
    try:
        value = _value(answer, exercise.unit)
    except (MansardError, ValueError):
        return Judgement(False, f"That could not be read: a number, with a unit such as {exercise.unit or 'none'}.")
    if abs(value - exercise.answer) <= exercise.tolerance * abs(exercise.answer):
        return Judgement(True, f"Right: {_said(exercise.answer, exercise.unit)}.")
    ratio = value / exercise.answer if exercise.answer else 0.0
    off = next((f"That is {_said(value, exercise.unit)}: mind the unit. " for power in (3, 6, 9, 12, -3, -6, -9, -12)
                if abs(ratio / 10**power - 1) <= exercise.tolerance), "")  # fmt: skip
    if tries < 2:  # the first wrong answer gets the hint, the second the way
        return Judgement(False, f"{off or 'Not yet. '}{exercise.hint}")
    return Judgement(False, f"{off}{_said(exercise.answer, exercise.unit)}: {' '.join(exercise.worked)}")


def _value(answer: str, unit: str) -> float:
    text = answer.strip().replace(",", "")
    if unit in _QUANTITIES:
        return float(parse_quantity(text, unit))
    found = re.match(r"[-+]?\d*\.?\d+(?:[eE][-+]?\d+)?", text)
    if found is None:
        raise ValueError(text)
    return float(found[0])


def _said(value: float, unit: str) -> str:
    if unit == "s":
        return duration(value)
    if unit in ("byte", "byte/s", "FLOP/s"):
        return scaled(value, {"byte": "B", "byte/s": "B/s"}.get(unit, unit))
    return f"{figure(value)} {unit}".strip()
