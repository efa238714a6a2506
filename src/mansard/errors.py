"""The errors that a user can meet: what is wrong, where, and what to do now; each with its exit status."""

from collections.abc import Iterable, Sequence
from typing import ClassVar, NamedTuple


class Fault(NamedTuple):
    """One thing that is wrong with an input.

    `where` is a file or an option, `key` the path to the value inside it, `value` what was found there (shown
    shortened, so that a hostile file cannot flood a terminal).
    """

    problem: str
    where: str = ""
    key: str = ""
    value: object = None
    hint: str = ""

    def __str__(self) -> str:
        place = ": ".join(part for part in (self.where, self.key) if part)
        shown = "" if self.value is None else f" (found {shortened(self.value)})"
        return (f"{printable(place)}: " if place else "") + self.problem + shown


class MansardError(Exception):
    """The root of every error that is the user's to mend; prints without a traceback."""

    exit_code: ClassVar[int] = 1

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.hint = hint

    def __str__(self) -> str:
        message = super().__str__()
        return f"{message}\nhint: {self.hint}" if self.hint else message


class UsageError(MansardError, ValueError):
    """A word, an option or a quantity that cannot be understood (exit 2); `faults` where there are several."""

    exit_code = 2

    def __init__(self, message: str, *, hint: str = "", faults: Iterable[Fault] = ()) -> None:
        super().__init__(message, hint=hint)
        self.faults: tuple[Fault, ...] = tuple(faults)


class InputError(MansardError, ValueError):
    """A file or a document that is bad (exit 3); carries every fault that was found, not only the first."""

    exit_code = 3

    def __init__(self, faults: Iterable[Fault]) -> None:
        self.faults: tuple[Fault, ...] = tuple(faults)
        lines: list[str] = []
        for fault in self.faults:
            lines.append(str(fault))
            if fault.hint:
                lines.append(f"  hint: {fault.hint}")
        super().__init__("\n".join(lines))


class UnavailableError(MansardError):
    """Something that exists but is not to be had here: offline, or an extra that is not installed (exit 4)."""

    exit_code = 4


def printable(text: str) -> str:
    """A name as it may be shown: what is no printable character of Unicode is replaced."""
    return "".join(letter if letter.isprintable() else "\ufffd" for letter in text)


def shortened(value: object, limit: int = 60) -> str:
    """`repr` of a value, cut to `limit` characters; a huge string or list is never rendered whole."""
    if isinstance(value, (str, bytes)):
        value = value[: limit + 1]
    elif isinstance(value, (list, tuple, dict)):
        return f"{type(value).__name__} of {len(value)}"
    elif isinstance(value, int) and not isinstance(value, bool) and value.bit_length() > 256:
        return f"an integer of {value.bit_length()} bits"
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"


def near_matches(word: str, choices: Sequence[str], count: int = 3) -> list[str]:
    """The choices closest to a word, best first; empty if none is close."""
    from difflib import get_close_matches  # only errors pay for it

    by_folded = {choice.lower(): choice for choice in choices}
    found = get_close_matches(word.lower()[:200], list(by_folded), n=count, cutoff=0.55)
    return [by_folded[name] for name in found]


def did_you_mean(word: str, choices: Sequence[str]) -> str:
    """A hint that names the near matches of a word; empty if there is none."""
    near = near_matches(word, choices)
    return f"did you mean {' or '.join(near)}?" if near else ""
