"""Notes: every default taken, fallback, extrapolation and low-confidence number that a result must show."""

from typing import Literal, NamedTuple


class Note(NamedTuple):
    """One remark on a result: how serious, a stable code for programs, and a sentence for people."""

    level: Literal["info", "warning"]
    code: str
    text: str


class Source(NamedTuple):
    """Where a number comes from."""

    id: str
    title: str
    address: str = ""
    date: str = ""
    confidence: str = ""
