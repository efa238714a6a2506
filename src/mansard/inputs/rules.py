"""Rules that say of modules, by their names, how they are stored: names, patterns with wildcards, expressions."""

import re
from collections.abc import Iterable, Iterator, Sequence
from fnmatch import translate
from typing import Literal, NamedTuple

from mansard.inputs.expressions import Expression
from mansard.precision import WeightFormat

Kind = Literal["exact", "part", "wild", "expression"]


class Rule(NamedTuple):
    """Modules that `pattern` names are stored as `format`; None: in the model's dtype.

    kind: "exact" is a whole name; "part" any run of a name's dotted parts, with all that lies below; "wild" has `*`,
    which also matches dots, and holds for what lies below too; "expression" is matched from the start of a name.
    """

    pattern: str
    format: WeightFormat | None
    kind: Kind = "part"


class RuleBook:
    """Rules, the first of which that matches decides. Remembers which of them have named something.

    Raises:
        UnreadableError: if an expression cannot be read.
    """

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = rules
        self.used: set[int] = set()
        self._exact: dict[str, int] = {}
        self._parts: dict[str, int] = {}
        self._starts: dict[str, int] = {}
        self._slow: list[tuple[int, re.Pattern[str] | Expression]] = []
        for place, rule in enumerate(rules):
            self._add(place, rule)
        self._widths = sorted({len(start) for start in self._starts})

    @property
    def slow(self) -> int:
        """Rules that must be tried one by one."""
        return len(self._slow)

    def _add(self, place: int, rule: Rule) -> None:
        pattern = rule.pattern
        if rule.kind == "expression":
            self._slow.append((place, Expression(pattern)))
        elif rule.kind == "wild" and any(sign in pattern.rstrip("*") for sign in "*?["):
            self._slow.append((place, re.compile(f"{translate(pattern)}|{translate(pattern + '.*')}")))
        elif rule.kind == "wild" and pattern.endswith("*"):
            self._starts.setdefault(pattern.rstrip("*"), place)
        else:
            kept = self._exact if rule.kind == "exact" else self._parts
            kept.setdefault(pattern.strip("."), place)

    def first(self, names: Iterable[str]) -> Rule | None:
        """The first rule that one of a module's names matches; None if there is none."""
        found = {place for name in names for place in self._found(name)}
        self.used |= found
        return self.rules[min(found)] if found else None

    def unused(self) -> list[Rule]:
        """The rules that have named nothing so far; of alike ones, the first."""
        kept = {
            *self._exact.values(),
            *self._parts.values(),
            *self._starts.values(),
            *(place for place, _ in self._slow),
        }
        return [self.rules[place] for place in sorted(kept - self.used)]

    def _found(self, name: str) -> Iterator[int]:
        if (place := self._exact.get(name)) is not None:
            yield place
        if self._parts:
            for run in _runs(name):
                if (place := self._parts.get(run)) is not None:
                    yield place
        for width in self._widths:
            if (place := self._starts.get(name[:width])) is not None and width <= len(name):
                yield place
        for place, pattern in self._slow:
            if pattern.matches(name) if isinstance(pattern, Expression) else pattern.match(name):
                yield place


def _runs(name: str) -> Iterator[str]:
    parts = name.split(".")
    for start in range(len(parts)):
        run = parts[start]
        yield run
        for part in parts[start + 1 :]:
            run = f"{run}.{part}"
            yield run
