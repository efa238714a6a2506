"""Times whole processes, in turn, piped or on a pseudo-terminal."""

import os
import pty
import subprocess
import time
from collections.abc import Sequence
from dataclasses import dataclass, field

# A run without compiled modules, or with threads, would measure those.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"} | {
    "OMP_NUM_THREADS": "1",
    "OPENBLAS_NUM_THREADS": "1",
    "COLUMNS": "120",
}


@dataclass(slots=True, kw_only=True)
class Timing:
    """One command and the seconds that each of its runs took; `failed` is its output if it could not be run."""

    name: str
    command: Sequence[str]
    terminal: bool = False
    wall_s: list[float] = field(default_factory=list)
    cpu_s: list[float] = field(default_factory=list)
    failed: str = ""


def time_in_turn(timings: Sequence[Timing], repeats: int) -> None:
    """Runs every command `repeats` times, A B C A B C …, after one run of each that is not counted."""
    for timing in timings:
        _run(timing, counted=False)
    for _ in range(repeats):
        for timing in timings:
            if not timing.failed:
                _run(timing, counted=True)


def _run(timing: Timing, *, counted: bool) -> None:
    start = time.perf_counter()
    try:
        pid, output = _terminal(timing.command) if timing.terminal else _piped(timing.command)
    except OSError as error:
        timing.failed = str(error)
        return
    _, status, usage = os.wait4(pid, 0)
    wall_s = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        timing.failed = output[-500:].decode(errors="replace")
    elif counted:
        timing.wall_s.append(wall_s)
        timing.cpu_s.append(usage.ru_utime + usage.ru_stime)


def _piped(command: Sequence[str]) -> tuple[int, bytes]:
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=ENVIRONMENT)
    assert process.stdout is not None
    with process.stdout as stream:
        output = stream.read()
    process.returncode = 0  # it is waited for by the caller, who wants its usage
    return process.pid, output


def _terminal(command: Sequence[str]) -> tuple[int, bytes]:
    master, slave = pty.openpty()
    environment = ENVIRONMENT | {"TERM": "xterm-256color"}
    process = subprocess.Popen(command, stdout=slave, stderr=slave, env=environment)
    os.close(slave)
    output = bytearray()
    while True:
        try:
            part = os.read(master, 1 << 16)
        except OSError:  # Linux's way to say that the other side is closed
            break
        if not part:
            break
        output += part
    os.close(master)
    process.returncode = 0
    return process.pid, bytes(output)
