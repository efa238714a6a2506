"""Notes: every default taken, fallback, extrapolation and low-confidence number that a result must show."""

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """One remark on a result: how serious, a stable code for programs, and a sentence for people."""

    level: Literal["info", "warning"]
    code: str
    text: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Source:
    """Where a number comes from."""

    id: str
    title: str
    address: str = ""
    date: str = ""
    confidence: str = ""
