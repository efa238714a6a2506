"""Grades a learner's own functions: in a process of its own, with limits of time and memory, case by case.

Only `mansard learn check` runs a learner's file, on the learner's own machine; nothing that a page sends comes here.
"""

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from math import isclose
from pathlib import Path
from typing import Any, NamedTuple

from mansard import algebra
from mansard.errors import Fault, InputError, UsageError
from mansard.operators.step import distinct_experts

SECONDS = 10.0
_BYTES = 1 << 30
_TOLERANCE = 1e-6

# Runs in the learner's process: loads the file, calls each function with each case, writes what came out.
_RUNNER = """
import importlib.util, json, sys
path, out, limit = sys.argv[1], sys.argv[2], int(sys.argv[3])
try:
    import resource
    resource.setrlimit(resource.RLIMIT_AS, (limit, limit))
except (ImportError, ValueError, OSError):
    pass
cases = json.load(sys.stdin)
found = {"loaded": "", "results": []}
def keep():
    with open(out, "w", encoding="utf-8") as file:
        json.dump(found, file)
try:
    spec = importlib.util.spec_from_file_location("learner", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
except BaseException as bad:
    found["loaded"] = f"{type(bad).__name__}: {bad}"[:500]
    keep()
    sys.exit(0)
for name, arguments in cases:
    function = getattr(module, name, None)
    if not callable(function):
        found["results"].append({"missing": True})
        continue
    try:
        value = function(*arguments)
        item = value.item() if hasattr(value, "item") else value
        found["results"].append({"value": item if isinstance(item, (int, float, str, bool)) else repr(item)[:200]})
    except BaseException as bad:
        found["results"].append({"raised": f"{type(bad).__name__}: {bad}"[:200]})
    keep()
keep()
"""


class Case(NamedTuple):
    """One call of a function, what it must give, and what a wrong answer shows."""

    arguments: tuple[Any, ...]
    expected: Any
    why: str


class Grade(NamedTuple):
    """How a function did: None where the file does not have it; else the first case that fails, if any does."""

    function: str
    passed: int
    cases: int
    fault: str
    is_missing: bool = False


def _of(function: Callable[..., Any], *cases: tuple[tuple[Any, ...], str]) -> tuple[Case, ...]:
    return tuple(Case(arguments, function(*arguments), why) for arguments, why in cases)


CASES: dict[str, tuple[Case, ...]] = {
    "arithmetic_intensity": _of(
        algebra.arithmetic_intensity,
        ((16e9, 16e9), "FLOPs over bytes, in this order"),
        ((8_640_266_240, 138_412_032), "standard attention of 4,096 tokens: about 62.42"),
    ),
    "matmul_intensity": _of(
        algebra.matmul_intensity,
        ((1,), "one sequence, two bytes a weight by default: one FLOP for each byte"),
        ((296,), "the intensity grows with the batch"),
        ((1, 1), "half the bytes, twice the intensity"),
    ),
    "attainable": _of(
        algebra.attainable,
        ((1e14, 1e12, 1), "below the ridge the slope counts: bandwidth times intensity"),
        ((1e14, 1e12, 400), "above the ridge nothing is faster than the peak"),
        ((1e14, 1e12, 100), "at the ridge both are the same"),
        ((2e14, 1e12, 1), "twice the peak changes nothing below the ridge"),
    ),
    "ridge_point": _of(
        algebra.ridge_point,
        ((1e14, 1e12), "peak over bandwidth"),
        ((989.4e12, 3.35e12), "an H100 SXM in bf16: about 295.3"),
    ),
    "bound": _of(
        algebra.bound,
        ((989.4e12, 3.35e12, 1), "below the ridge: 'bandwidth'"),
        ((989.4e12, 3.35e12, 300), "above it: 'compute'"),
        ((1e14, 1e12, 100), "exactly at the ridge it is 'compute'"),
    ),
    "batch_to_saturate": _of(
        algebra.batch_to_saturate,
        ((1e14, 1e12), "a ridge of 100, one FLOP for each byte and sequence: exactly 100, not 101"),
        ((990e12, 3.35e12), "a ridge of 295.5: 295 sequences are not enough"),
        ((1e14, 1e12, 1), "weights of one byte need half the batch"),
    ),
    "memory_time": _of(algebra.memory_time, ((16e9, 3.35e12), "bytes over bandwidth")),
    "compute_time": _of(algebra.compute_time, ((128e12, 990e12), "FLOPs over peak")),
    "distinct_experts": _of(
        distinct_experts,
        ((8, 2, 1), "one token touches as many as it is sent to"),
        ((256, 8, 32), "32 tokens miss an expert with (1 - 8/256)^32: about 163"),
    ),
}
NEEDED = ("arithmetic_intensity", "matmul_intensity", "attainable", "ridge_point", "bound", "batch_to_saturate")


def grade(path: str) -> tuple[Grade, ...]:
    """Every function that there are cases for; those of the later lessons only where the file has them.

    Raises:
        UsageError: if there is no such file.
        InputError: if it cannot be loaded, or takes too long.
    """
    place = Path(path)
    if not place.is_file():
        raise UsageError(f"there is no file {path[:200]}", hint="mansard learn check FILE.py")
    asked = [(name, case.arguments) for name, cases in CASES.items() for case in cases]
    found, ended = _run(place, asked)
    if found["loaded"]:
        raise InputError([Fault(problem=f"cannot be loaded: {found['loaded']}", where=path)])
    if not found["results"]:
        raise InputError([Fault(problem=f"cannot be loaded: it {ended}", where=path)])
    results = [*found["results"], *({"raised": ended} for _ in range(len(asked) - len(found["results"])))]
    return tuple(_graded(iter(results)))


def _run(place: Path, asked: list[tuple[str, tuple[Any, ...]]]) -> tuple[dict[str, Any], str]:
    """What came out before the process ended, and how it ended."""
    with tempfile.TemporaryDirectory() as folder:
        out = Path(folder, "results.json")
        command = [sys.executable, "-c", _RUNNER, str(place.resolve()), str(out), str(_BYTES)]
        given = json.dumps(asked)
        try:
            run = subprocess.run(
                command, input=given, capture_output=True, text=True, timeout=SECONDS, cwd=folder, check=False
            )
            ended = f"ended its process with status {run.returncode}"
        except subprocess.TimeoutExpired:
            ended = f"took longer than {SECONDS:g} s"
        found = json.loads(out.read_text(encoding="utf-8")) if out.exists() else {"loaded": "", "results": []}
    return found, ended


def _graded(results: Iterator[dict[str, Any]]) -> Iterator[Grade]:
    for name, cases in CASES.items():
        outcomes = [(case, next(results)) for case in cases]
        if "missing" in outcomes[0][1]:
            if name in NEEDED:
                yield Grade(name, 0, len(cases), "the file has no such function", is_missing=True)
            continue
        faults = [_fault(name, case, outcome) for case, outcome in outcomes]
        wrong = [fault for fault in faults if fault]
        yield Grade(name, len(cases) - len(wrong), len(cases), wrong[0] if wrong else "")


def _fault(name: str, case: Case, outcome: dict[str, Any]) -> str:
    """What is wrong with a case; empty if nothing is."""
    call = f"{name}({', '.join(map(repr, case.arguments))})"
    if "raised" in outcome:
        return f"{call}: {outcome['raised']}. {case.why}"
    value = outcome["value"]
    if _is_same(value, case.expected):
        return ""
    return f"{call} gives {value!r}, not {case.expected!r}: {case.why}"


def _is_same(value: Any, expected: Any) -> bool:
    if isinstance(expected, str) or isinstance(value, (str, bool)):
        return bool(value == expected)
    return isclose(value, expected, rel_tol=_TOLERANCE)
