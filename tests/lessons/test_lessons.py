"""Lessons: each lies in its folder, asks before it tells, and its answers follow from the algebra."""

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import mansard
from mansard.cli import root
from mansard.errors import UsageError
from mansard.registry import names
from mansard.views.charts._theme import WIDTH
from mansard.views.drawing import draw
from mansard.views.grading import CASES, NEEDED
from mansard.views.lessons._lesson import Exercise, judged
from mansard.views.teaching import judge, lesson_document, lesson_list, lesson_names, load_lesson

ALL = names("mansard.views.lessons")
RIGHT = """
import math
def arithmetic_intensity(flops, bytes_moved): return flops / bytes_moved
def matmul_intensity(b, bytes_per_weight=2): return 2 * b / bytes_per_weight
def ridge_point(peak, bandwidth): return peak / bandwidth
def attainable(peak, bandwidth, intensity): return min(peak, bandwidth * intensity)
def bound(peak, bandwidth, intensity): return "bandwidth" if intensity < peak / bandwidth else "compute"
def batch_to_saturate(peak, bandwidth, bytes_per_weight=2): return math.ceil(peak / bandwidth * bytes_per_weight / 2)
"""


def test_there_are_eight_in_an_order() -> None:
    assert [row["place"] for row in lesson_list()] == list(range(1, 9))
    assert set(lesson_names()) == set(ALL)


@pytest.mark.parametrize("name", ALL)
def test_a_lesson_predicts_shows_works_and_asks(name: str) -> None:
    one = load_lesson(name)
    assert 0 <= one.prediction.right < len(one.prediction.options) >= 3
    assert one.worked
    assert len(one.text) >= 3
    assert len(one.exercises) >= 2
    run = {**one.figure.run, one.figure.slider: one.figure.most}
    for slider in (one.figure.least, one.figure.most):  # the figure can be drawn at both ends of its slider
        words = {**run, one.figure.slider: slider}
        model, device = words.pop("model"), words.pop("on")
        assert draw(one.figure.chart, mansard.analyze(model, on=device, **words), width=WIDTH).spec


@pytest.mark.parametrize("name", ALL)
def test_a_lesson_does_not_give_its_answers_away(name: str) -> None:
    shown = json.dumps(lesson_document(name)["exercises"])
    for exercise in load_lesson(name).exercises:
        assert exercise.worked[0] not in shown
        assert exercise.hint not in shown


def test_the_answers_by_hand() -> None:
    expected = {
        ("clocks", 0): 16e9 / 4.8e12,
        ("clocks", 1): 2 / 1,
        ("ridge", 0): 989.4e12 / 3.35e12,
        ("ridge", 1): 3.35e12 * 50,
        ("batching", 0): 156,
        ("batching", 1): 78,
        ("attention", 0): 2 * 80 * 8 * 128 * 2,
        ("attention", 1): 64 * 8192 * (2 * 80 * 8 * 128 * 2) / 3.35e12,
        ("phases", 0): 2 * 8e9 * 2000 / 990e12,
        ("phases", 1): sum(range(1, 1001)),
        ("requests", 0): 0.3 + 100 * 0.02,
        ("requests", 1): (19 * 0.010 + 0.100) / 20,
        ("quantisation", 0): (32 * 4 + 8) / 32,
        ("quantisation", 1): (14 + 2) / (14 / 2 + 2),
        ("mixtures", 0): 8 * (1 - (6 / 8) ** 4),
        ("mixtures", 1): (141e9 / 4) / 4.8e12,
    }
    found = {(name, place): one.answer for name in ALL for place, one in enumerate(load_lesson(name).exercises)}
    assert found == pytest.approx(expected)


ONE = Exercise("how long?", 0.004776, "s", "divide", ("16e9 / 3.35e12 = 4.78 ms",))


@pytest.mark.parametrize(
    ("answer", "tries", "right", "words"),
    [
        ("4.78 ms", 1, True, "Right"),
        ("0.00478", 1, True, "Right"),
        ("4776us", 1, True, "Right"),
        ("4.78", 1, False, "mind the unit"),
        ("5 ms", 1, False, "divide"),
        ("5 ms", 2, False, "16e9 / 3.35e12"),
        ("many", 1, False, "could not be read"),
        ("", 1, False, "could not be read"),
    ],
)
def test_an_answer_is_judged_with_its_unit(answer: str, tries: int, right: bool, words: str) -> None:
    found = judged(ONE, answer, tries)
    assert found.is_right is right
    assert words in found.says


def test_plain_numbers_may_bear_their_unit() -> None:
    one = Exercise("?", 295.3, "FLOP/byte", "h", ("w",))
    assert judged(one, "295.3 FLOP/byte", 1).is_right
    assert judged(one, "295", 1).is_right
    assert not judged(one, "300000", 1).is_right


def test_lessons_and_exercises_that_are_not_there() -> None:
    with pytest.raises(UsageError, match="did you mean clocks"):
        load_lesson("clock")
    with pytest.raises(UsageError, match="exercises 0 to 1"):
        judge("clocks", 7, "1", 1)


def run(*words: str, **extra: str) -> tuple[int, str]:
    found = CliRunner().invoke(root, ["learn", *words], **extra)  # type: ignore[arg-type]
    return found.exit_code, " ".join(found.output.split())


def test_the_command_lists_and_shows() -> None:
    status, text = run()
    assert (status, "quantisation" in text) == (0, True)
    assert "4.78 ms" in run("clocks")[1]
    assert "16e9 B / 4.8e12 B/s" not in run("clocks")[1]
    assert "16e9 B / 4.8e12 B/s" in run("clocks", "--answers")[1]
    assert json.loads(CliRunner().invoke(root, ["learn", "ridge", "--json"]).stdout)["title"] == "The ridge point"
    assert run("nothing")[0] == 2
    assert run("clocks", "more")[0] == 2
    assert run("check")[0] == 2


def test_right_functions_pass(tmp_path: Path) -> None:
    file = tmp_path / "mine.py"
    file.write_text(RIGHT)
    status, text = run("check", str(file))
    assert status == 0
    assert f"{len(NEEDED)} of {len(NEEDED)} functions pass" in text


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ("def ridge_point(peak, bandwidth): return bandwidth / peak", "ridge_point(100000000000000.0"),
        ("def attainable(peak, bandwidth, intensity): return bandwidth * intensity", "nothing is faster than the peak"),
        ("def bound(p, b, i): return 'bandwidth' if i <= p / b else 'compute'", "exactly at the ridge"),
        ("def batch_to_saturate(p, b, w=2): return int(p / b * w / 2) + 1", "not 101"),
        ("def arithmetic_intensity(f, b): raise RuntimeError('no')", "RuntimeError: no"),
        ("def matmul_intensity(b, w=2): return 'much'", "gives 'much'"),
        ("del attainable", "has no such function"),
        ("def distinct_experts(e, k, t): return k", "about 163"),
    ],
)
def test_a_wrong_function_is_told_which_case_fails_and_why(tmp_path: Path, wrong: str, words: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(f"{RIGHT}\n{wrong}\n")
    status, text = run("check", str(file))
    assert status == 1
    assert words in text


@pytest.mark.parametrize(
    ("content", "status", "words"),
    [
        ("import os; os._exit(3)", 3, "status 3"),
        ("raise SystemExit(0)", 3, "SystemExit"),
        ("this is no Python", 3, "SyntaxError"),
        ("x = bytearray(4 << 30)", 3, "MemoryError"),
        (RIGHT + "def bound(*a): import os; os._exit(1)", 1, "ended its process"),
    ],
)
def test_a_file_that_misbehaves(tmp_path: Path, content: str, status: int, words: str) -> None:
    file = tmp_path / "mine.py"
    file.write_text(content)
    found, text = run("check", str(file))
    assert (found, words in text) == (status, True), text


def test_a_loop_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("mansard.views.grading.SECONDS", 0.5)
    file = tmp_path / "mine.py"
    file.write_text("while True: pass")
    assert "took longer than" in run("check", str(file))[1]
    assert run("check", str(tmp_path / "none.py"))[0] == 2


def test_every_case_expects_what_the_package_gives() -> None:
    for name, cases in CASES.items():
        for case in cases:
            if hasattr(mansard, name):
                assert getattr(mansard, name)(*case.arguments) == case.expected
