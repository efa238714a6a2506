"""Counts how often mansard answers in so many seconds; prints one line of JSON. Run by `run.py`."""

import json
import sys
import time
from collections.abc import Callable
from itertools import count
from typing import Any

import mansard

MODEL, DEVICE = "llama-3.1-8b", "h100-sxm"
# The clock is asked once for so many calls.
CHUNK = 50


def _read(phase: Any) -> float:
    return sum(row.best_s for row in phase.operators)


def _workload(number: int) -> dict[str, int]:
    """No two of 30,000 successive ones are alike."""
    return {"batch": 1 + number % 64, "prompt": 16 + number % 30_000, "output": 2 + number % 500}


def both_phases(number: int) -> float:
    """One analysis, prefill and decode, every operator's row read."""
    found = mansard.analyze(MODEL, on=DEVICE, **_workload(number))
    return _read(found.prefill) + _read(found.decode)


def one_phase(number: int) -> float:
    """One analysis of the decode step alone."""
    return _read(mansard.step(MODEL, on=DEVICE, **_workload(number)))


def rate(call: Callable[[int], object], seconds: float, each: int = 1) -> float:
    """Answers per second: `each` per call."""
    numbers = count()
    for _ in range(CHUNK):
        call(next(numbers))
    calls, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        for _ in range(CHUNK if each == 1 else 1):
            call(next(numbers))
        calls += CHUNK if each == 1 else 1
    return calls * each / passed


def grid(seconds: float) -> float:
    """Scenarios per second over arrays of 1,000 batches by 1,000 contexts."""
    import numpy as np

    batch = np.arange(1, 1001)[:, None]

    def call(number: int) -> object:
        return mansard.grid(MODEL, on=DEVICE, batch=batch, context=np.arange(1, 1001)[None, :] + number)

    start = time.perf_counter()
    call(0)
    if time.perf_counter() - start > seconds:
        return 1e6 / (time.perf_counter() - start)
    calls, start = 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        calls += 1
        call(calls)
    return calls * 1e6 / passed


def main() -> None:
    """Prints the rates."""
    seconds = float(sys.argv[1])
    found = {
        "both_phases_per_s": rate(both_phases, seconds),
        "one_phase_per_s": rate(one_phase, seconds),
        "grid_scenarios_per_s": grid(seconds),
    }
    print(json.dumps(found))


if __name__ == "__main__":
    main()
