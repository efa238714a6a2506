"""Regular expressions of module names, matched in bounded time whatever a file says.

Configurations name modules by expressions in Python's syntax. Python's own matcher can take exponential time on a
hostile one; this one keeps the set of places that each part may end at, so that its time is bounded by the length of
the expression times the square of that of the name. Groups are not captured, and what would need them is refused.
"""

import string
from typing import NamedTuple

MOST_CHARACTERS = 1000
_DEEPEST = 20
_MOST_REPEATS = 200
_DIGITS, _WORD, _SPACE = (
    frozenset(string.digits),
    frozenset(string.ascii_letters + string.digits + "_"),
    frozenset(" \t\n"),
)
_CLASSES = {"d": _DIGITS, "w": _WORD, "s": _SPACE}


class UnreadableError(ValueError):
    """An expression that is no expression, or uses what is not read here."""


class _Node(NamedTuple):
    """One part: `text` is a literal, `letters` a set (or its opposite), `parts` what a group or a repeat holds."""

    kind: str
    parts: "tuple[_Node, ...]" = ()
    text: str = ""
    letters: frozenset[str] = frozenset()
    least: int = 0
    most: int | None = None


class Expression:
    r"""An expression that is matched from the start of a name, as `re.match` does.

    Raises:
        UnreadableError: saying what is wrong with it.

    >>> Expression(r".*mlp\.(gate|up)_proj$").matches("model.layers.3.mlp.up_proj")
    True
    >>> Expression(r"(?!.*experts).*down_proj").matches("mlp.experts.0.down_proj")
    False
    """

    def __init__(self, text: str) -> None:
        if len(text) > MOST_CHARACTERS:
            raise UnreadableError(f"is longer than {MOST_CHARACTERS} characters")
        self._root = _Parser(text).whole()
        items = self._root.parts if self._root.kind == "sequence" else (self._root,)
        self._needed = tuple(item.text for item in items if item.kind == "literal")

    def matches(self, name: str) -> bool:
        """Whether a match begins at the first character of the name."""
        return all(text in name for text in self._needed) and bool(_Match(name).ends(self._root, 0))


class _Match:
    """One name, and what has been found out about it."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.known: dict[tuple[int, int], frozenset[int]] = {}

    def ends(self, node: _Node, start: int) -> frozenset[int]:
        """The places at which a match of the part that begins at `start` may end."""
        key = (id(node), start)
        found = self.known.get(key)
        if found is None:
            found = self.known[key] = frozenset(self._ends(node, start))
        return found

    def _ends(self, node: _Node, start: int) -> set[int]:
        name = self.name
        match node.kind:
            case "literal":
                return {start + len(node.text)} if name.startswith(node.text, start) else set()
            case "any":
                return {start + 1} if start < len(name) else set()
            case "in" | "not in":
                fits = start < len(name) and (name[start] in node.letters) == (node.kind == "in")
                return {start + 1} if fits else set()
            case "start" | "end":
                return {start} if start == (0 if node.kind == "start" else len(name)) else set()
            case "ahead" | "not ahead":
                return {start} if bool(self.ends(node.parts[0], start)) == (node.kind == "ahead") else set()
            case "choice":
                return {end for part in node.parts for end in self.ends(part, start)}
            case "repeat":
                return self._repeated(node, start)
        places = {start}
        for part in node.parts:
            places = self._after(part, places)
        return places

    def _after(self, part: _Node, places: set[int]) -> set[int]:
        return {end for place in places for end in self.ends(part, place)}

    def _repeated(self, node: _Node, start: int) -> set[int]:
        part, places = node.parts[0], {start}
        for _ in range(node.least):
            places = self._after(part, places)
        found, times = set(places), node.least
        while places and (node.most is None or times < node.most):
            places = self._after(part, places) - found
            found |= places
            times += 1
        return found


class _Parser:
    """Reads an expression from left to right."""

    def __init__(self, text: str) -> None:
        self.text, self.place, self.depth = text, 0, 0

    def whole(self) -> _Node:
        node = self._choice()
        if self.place < len(self.text):
            raise UnreadableError("has a ) without a (")
        return node

    def _next(self) -> str:
        return self.text[self.place : self.place + 1]

    def _take(self, wanted: str) -> bool:
        found = self.text.startswith(wanted, self.place)
        self.place += len(wanted) if found else 0
        return found

    def _choice(self) -> _Node:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise UnreadableError(f"is nested more than {_DEEPEST} deep")
        options = [self._sequence()]
        while self._take("|"):
            options.append(self._sequence())
        self.depth -= 1
        return options[0] if len(options) == 1 else _Node("choice", tuple(options))

    def _sequence(self) -> _Node:
        items: list[_Node] = []
        while self._next() not in ("", "|", ")"):
            item = self._quantified(self._item())
            if item.kind == "literal" and items and items[-1].kind == "literal":
                items[-1] = items[-1]._replace(text=items[-1].text + item.text)
            else:
                items.append(item)
        return items[0] if len(items) == 1 else _Node("sequence", tuple(items))

    def _quantified(self, item: _Node) -> _Node:
        least, most = 0, None
        if self._take("*"):
            pass
        elif self._take("+"):
            least = 1
        elif self._take("?"):
            most = 1
        elif self._next() == "{" and (bounds := self._bounds()):
            least, most = bounds
        else:
            return item
        self._take("?")  # a reluctant repeat matches the same names
        if self._next() in ("*", "+", "?"):
            raise UnreadableError("repeats a repeat")
        return _Node("repeat", (item,), least=least, most=most)

    def _bounds(self) -> tuple[int, int | None] | None:
        inner, closed, _ = self.text[self.place + 1 :].partition("}")
        low, comma, high = inner.partition(",")
        if (
            not closed
            or not (low or comma)
            or not all(part.isascii() and part.isdigit() for part in (low, high) if part)
        ):
            return None
        least, most = int(low or 0), int(high) if high else None if comma else int(low)
        if most is not None and most < least:
            raise UnreadableError("repeats at least more often than at most")
        if max(least, most or 0) > _MOST_REPEATS:
            raise UnreadableError(f"repeats more than {_MOST_REPEATS} times")
        self.place += len(inner) + 2
        return least, most

    def _item(self) -> _Node:
        letter = self._next()
        self.place += 1
        match letter:
            case ".":
                return _Node("any")
            case "^":
                return _Node("start")
            case "$":
                return _Node("end")
            case "(":
                return self._group()
            case "[":
                return self._set()
            case "\\":
                return self._escaped()
            case "*" | "+" | "?":
                raise UnreadableError(f"repeats nothing with {letter}")
        return _Node("literal", text=letter)

    def _group(self) -> _Node:
        kind = "group"
        if self._take("?"):
            for spelling, meaning in ((":", "group"), ("=", "ahead"), ("!", "not ahead")):
                if self._take(spelling):
                    kind = meaning
                    break
            else:
                raise UnreadableError(f"uses (?{self._next()}, which is not read")
        inner = self._choice()
        if not self._take(")"):
            raise UnreadableError("has a ( without a )")
        # A group is a part of its own, so that what repeats it repeats all of it.
        return _Node("sequence", (inner,)) if kind == "group" else _Node(kind, (inner,))

    def _set(self) -> _Node:
        kind = "not in" if self._take("^") else "in"
        letters: set[str] = set()
        first = True
        while first or self._next() != "]":
            low = self._letters()
            if self._next() == "-" and self.text[self.place + 1 : self.place + 2] not in ("]", ""):
                self.place += 1
                high = self._letters()
                if len(low) != 1 or len(high) != 1 or ord(min(high)) - ord(min(low)) not in range(256):
                    raise UnreadableError("has a range of letters that is none")
                low = frozenset(map(chr, range(ord(min(low)), ord(min(high)) + 1)))
            letters |= low
            first = False
        self.place += 1
        return _Node(kind, letters=frozenset(letters))

    def _letters(self) -> frozenset[str]:
        letter = self._next()
        if not letter:
            raise UnreadableError("has a [ without a ]")
        self.place += 1
        if letter != "\\":
            return frozenset(letter)
        node = self._escaped()
        if node.kind == "not in":
            raise UnreadableError("has the opposite of a class inside a set")
        return node.letters or frozenset(node.text)

    def _escaped(self) -> _Node:
        letter = self._next()
        self.place += 1
        if letter.lower() in _CLASSES:
            return _Node("in" if letter.islower() else "not in", letters=_CLASSES[letter.lower()])
        if letter in ("A", "Z"):
            return _Node("start" if letter == "A" else "end")
        if not letter or (letter.isascii() and letter.isalnum()):
            raise UnreadableError(f"uses \\{letter}, which is not read")
        return _Node("literal", text=letter)
