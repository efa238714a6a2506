"""A tensor as the header of a file of weights states it, and the refusal that both readers of such headers share."""

import os
import stat
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod
from pathlib import Path
from typing import BinaryIO, NamedTuple, NoReturn

from mansard.errors import Fault, InputError, printable

MOST_TENSORS = 200_000  # the largest checkpoints have some 100,000, one for each expert's matrix and its scales
LONGEST_NAME = 512  # bytes
_MOST_SHOWN = 20


class Tensor(NamedTuple):
    """One stored tensor: its name, its shape, the type as the file names it, and the bytes that it takes."""

    name: str
    shape: tuple[int, ...]
    type: str
    bytes: int

    @property
    def elements(self) -> int:
        return prod(self.shape)


def refuse(where: str, problem: str, hint: str = "", *, key: str = "") -> NoReturn:
    """Raises one InputError about a file."""
    raise InputError([Fault(problem=problem, where=where, key=printable(key[:100]), hint=hint)])


def finish(faults: Sequence[Fault]) -> None:
    """Raises the faults of a file, the first twenty and how many more there are; does nothing if there is none."""
    if not faults:
        return
    shown = list(faults[:_MOST_SHOWN])
    if len(faults) > len(shown):
        shown.append(Fault(problem=f"and {len(faults) - len(shown):,} more faults", where=faults[0].where))
    raise InputError(shown)


@contextmanager
def opened(path: str) -> Iterator[tuple[BinaryIO, int]]:
    """A regular file and its size in bytes; what keeps it from being read is refused by name."""
    try:
        with Path(path).open("rb") as file:
            found = os.fstat(file.fileno())
            if not stat.S_ISREG(found.st_mode):
                refuse(path, "is no regular file")
            if file.read(24).startswith(b"version https://git-lfs"):
                refuse(path, "is a git-LFS pointer, not the file itself", "run `git lfs pull`, or download the file")
            file.seek(0)
            yield file, found.st_size
    except OSError as error:
        refuse(path[:200], f"cannot be read: {error.strerror or error}")
    except ValueError as error:  # a null byte in the path
        if isinstance(error, InputError):
            raise
        refuse(path[:200], f"cannot be read: {error}")
