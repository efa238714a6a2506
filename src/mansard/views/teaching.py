"""The lessons in their order, as documents and as reports; and the judgement of an answer."""

from functools import lru_cache
from typing import Any

from mansard.errors import UsageError, did_you_mean
from mansard.registry import module, names
from mansard.views.lessons._lesson import Exercise, Judgement, Lesson, judged
from mansard.views.report import Block, Report, Text

_LESSONS = "mansard.views.lessons"


@lru_cache(maxsize=32)
def load_lesson(name: str) -> Lesson:
    """A lesson by the name of its file.

    Raises:
        UsageError: if there is none of that name, with near matches.
    """
    if name not in names(_LESSONS):
        hint = did_you_mean(name, names(_LESSONS)) or f"one of {', '.join(lesson_names())}"
        raise UsageError(f"no lesson is called {name[:60]!r}", hint=hint)
    found: Lesson = module(_LESSONS, name).lesson()
    return found


@lru_cache(maxsize=1)
def lesson_names() -> tuple[str, ...]:
    """The lessons' names in the order in which they build on each other."""
    return tuple(sorted(names(_LESSONS), key=lambda name: int(load_lesson(name).place)))


def lesson_list() -> list[dict[str, Any]]:
    """Every lesson's name, place and title."""
    return [
        {"name": name, "place": load_lesson(name).place, "title": load_lesson(name).title} for name in lesson_names()
    ]


def lesson_document(name: str) -> dict[str, Any]:
    """A lesson without the answers to its exercises, which `judge` knows.

    Raises:
        UsageError: if there is none of that name.
    """
    one = load_lesson(name)
    return {
        "name": name,
        "place": one.place,
        "title": one.title,
        "prediction": one.prediction._asdict(),
        "text": list(one.text),
        "figure": one.figure._asdict(),
        "worked": list(one.worked),
        "exercises": [{"question": exercise.question, "unit": exercise.unit} for exercise in one.exercises],
    }


def judge(name: str, exercise: int, answer: str, tries: int) -> Judgement:
    """What to say to an answer to an exercise, which are counted from 0.

    Raises:
        UsageError: if there is no such lesson or exercise.
    """
    found = load_lesson(name).exercises
    if not 0 <= exercise < len(found):
        raise UsageError(f"{name} has exercises 0 to {len(found) - 1}, not {exercise}")
    return judged(found[exercise], answer, tries)


def lesson_report(name: str, *, answers: bool = False) -> Report:
    """A lesson to read; with `answers` also the way to each of its exercises.

    Raises:
        UsageError: if there is none of that name.
    """
    one = load_lesson(name)
    options = tuple(f"- {option}" for option in one.prediction.options)
    why = (one.prediction.why,) if answers else ()
    blocks: tuple[Block, ...] = (
        Text(title="Predict", lines=(one.prediction.question, *options, *why)),
        Text(title="What happens", lines=one.text),
        Text(title="Worked example", lines=one.worked, literal=True),
        *(Text(title=f"Exercise {place + 1}", lines=_exercise(exercise, answers))
          for place, exercise in enumerate(one.exercises)),
        Text(title="See it", lines=(f"mansard serve, tab Learn; or: {_command(one)}",)),
    )  # fmt: skip
    return Report(headline=f"Lesson {one.place}: {one.title}", blocks=blocks)


def _exercise(exercise: Exercise, answers: bool) -> tuple[str, ...]:
    asked = f"{exercise.question} [{exercise.unit}]"
    return (asked, *exercise.worked) if answers else (asked,)


def _command(one: Lesson) -> str:
    run, chart = one.figure.run, one.figure.chart
    options = [f"--{name} {value}" for name, value in run.items() if name not in ("model", "on")]
    words = ["mansard analyze", run["model"], "--on", run["on"], *options, f"--chart {chart}:figure.svg"]
    return " ".join(words)
