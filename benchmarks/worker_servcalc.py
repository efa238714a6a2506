"""The same for servcalc 0.1.0, a peer: whole steps of a dense model on one GPU, no operators. Run by `run.py`."""

import json
import sys
import time
from itertools import count

from servcalc import Workload, estimate  # type: ignore[import-not-found]
from vramcalc.loaders import load_arch  # type: ignore[import-not-found]

CHUNK = 50


def main() -> None:
    """Prints estimates per second; one estimate is a prompt length and a batch, prefill and decode."""
    config, seconds = sys.argv[1], float(sys.argv[2])
    arch = load_arch(config)
    numbers, calls, start = count(), 0, time.perf_counter()
    while (passed := time.perf_counter() - start) < seconds:
        for _ in range(CHUNK):
            number = next(numbers)
            workload = Workload(16 + number % 30_000, 2 + number % 500, (1 + number % 64,))
            estimate(arch, "H100 80GB", workload=workload)
        calls += CHUNK
    print(json.dumps({"estimates_per_s": calls / passed}))


if __name__ == "__main__":
    main()
