"""A reader of one parsed configuration that collects every fault, and every default that it took."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, TypeVar

from mansard.errors import Fault, InputError, did_you_mean
from mansard.inputs.notes import Note
from mansard.precision import dtype_name

Value = TypeVar("Value")

# Wider than anything built, and small enough that a nonsense value cannot cost memory or time.
MOST_LAYERS = 10_000
WIDEST = 1 << 24
MOST_POSITIONS = 1 << 40


class Keys:
    """Typed access to a configuration's keys: wrong ones are collected as faults and replaced by a harmless value.

    A family reads what it needs, then calls `finish()`, which raises one `InputError` with all faults. A key that is
    absent takes the default of the family's class, if the family gives one, and the default is noted; without one the
    key is required. `null` counts as absent.

    >>> keys = Keys({"hidden_size": 4096}, "config.json")
    >>> keys.size("hidden_size"), keys.size("num_attention_heads", default=32)
    (4096, 32)
    >>> [note.text for note in keys.notes]
    ['num_attention_heads is absent: the default of the class, 32']
    """

    def __init__(
        self,
        document: Mapping[str, Any],
        source: str,
        prefix: str = "",
        *,
        faults: list[Fault] | None = None,
        notes: list[Note] | None = None,
        asked: set[str] | None = None,
    ) -> None:
        self.document = document
        self.source = source
        self.prefix = prefix
        self.faults: list[Fault] = [] if faults is None else faults
        self.notes: list[Note] = [] if notes is None else notes
        self.asked: set[str] = set() if asked is None else asked  # keys that were looked at, with their prefix

    # -- looking

    def has(self, *names: str) -> bool:
        """Whether one of the names is there and not null."""
        self._ask(names)
        return any(self.document.get(name) is not None for name in names)

    def raw(self, *names: str) -> Any:
        """The first of the names that is there and not null, unchecked; None if there is none."""
        self._ask(names)
        for name in names:
            value = self.document.get(name)
            if value is not None:
                return value
        return None

    def nested(self, name: str) -> "Keys":
        """A reader of the object under a key, sharing faults and notes; empty if the key is absent."""
        value = self.raw(name)
        if value is not None and not isinstance(value, Mapping):
            self.fault(name, "must be an object", value)
        document = value if isinstance(value, Mapping) else {}
        return Keys(document, self.source, f"{self.prefix}{name}.", **self._shared())

    def over(self, document: Mapping[str, Any]) -> "Keys":
        """A reader of another form of the same object, sharing faults, notes and what was asked."""
        return Keys(document, self.source, self.prefix, **self._shared())

    def _shared(self) -> dict[str, Any]:
        return {"faults": self.faults, "notes": self.notes, "asked": self.asked}

    def _ask(self, names: Sequence[str]) -> None:
        self.asked.update(self.prefix + name for name in names)

    # -- typed values; the first name that is there wins, the others are older or newer spellings of it

    def size(self, *names: str, default: int | None = None, minimum: int = 1, maximum: int = WIDEST) -> int:
        """A whole number between the bounds."""
        return self._read(names, default, max(minimum, 1), lambda v: _whole(v, minimum, maximum))

    def optional_size(self, *names: str, minimum: int = 1, maximum: int = WIDEST) -> int | None:
        """A whole number, or None if absent or null; absence is not noted, since null means something here."""
        return self.size(*names, minimum=minimum, maximum=maximum) if self.has(*names) else None

    def flag(self, *names: str, default: bool | None = None) -> bool:
        """True or false."""
        return self._read(names, default, False, _boolean)

    def text(self, *names: str, default: str | None = None, choices: Sequence[str] | None = None) -> str:
        """A string, one of the choices if they are given."""
        return self._read(names, default, choices[0] if choices else "", lambda v: _string(v, choices))

    def number(self, *names: str, default: float | None = None, minimum: float, maximum: float) -> float:
        """A finite number between the bounds."""
        return self._read(names, default, minimum, lambda v: _finite(v, minimum, maximum))

    def sizes(
        self,
        *names: str,
        default: Sequence[int] | None = None,
        length: int | None = None,
        minimum: int = 1,
        maximum: int = WIDEST,
    ) -> tuple[int, ...]:
        """A list of whole numbers; of exactly `length` where that is given."""
        fallback = (minimum,) * (length or 0)
        given = tuple(default) if default is not None else None
        return self._read(names, given, fallback, lambda v: _list(v, length, lambda e: _whole(e, minimum, maximum)))

    def texts(
        self,
        *names: str,
        default: Sequence[str] | None = None,
        length: int | None = None,
        choices: Sequence[str] | None = None,
    ) -> tuple[str, ...]:
        """A list of strings, each one of the choices; of exactly `length` where that is given."""
        fallback = ((choices[0] if choices else ""),) * (length or 0)
        given = tuple(default) if default is not None else None
        return self._read(names, given, fallback, lambda v: _list(v, length, lambda e: _string(e, choices)))

    def dtype(self, default: str = "bf16") -> str:
        """The dtype of `dtype`, or of its older name; "auto" and absence take the default, noted."""
        value = self.raw("dtype", "torch_dtype")
        if value is None or value == "auto":
            self.note("default-dtype", f"the config names no dtype: {default} is assumed")
            return default
        found = dtype_name(value) if isinstance(value, str) else None
        if found not in _WHOLE_DTYPES:
            name = "dtype" if self.has("dtype") else "torch_dtype"
            self.fault(name, "is no dtype that a whole model is kept in", value, _DTYPE_HINT)
            return default
        return found

    # -- remarks

    def note(self, code: str, text: str, level: str = "info") -> None:
        """Adds a note that the result will show."""
        self.notes.append(Note(level=level, code=code, text=text))  # type: ignore[arg-type]

    def fault(self, key: str, problem: str, value: object = None, hint: str = "") -> None:
        """Adds a fault at a key, and goes on reading."""
        self.faults.append(Fault(problem=problem, where=self.source, key=self.prefix + key, value=value, hint=hint))

    def require(self, condition: bool, key: str, problem: str, value: object = None, hint: str = "") -> None:
        """Adds a fault unless the condition holds; silent if the value was already found faulty."""
        if not condition and self.is_sound(key):
            self.fault(key, problem, value, hint)

    def is_sound(self, key: str) -> bool:
        """Whether nothing is wrong with a key so far: what follows from a faulty one is no fault of its own."""
        return not any(fault.key == self.prefix + key for fault in self.faults)

    def finish(self) -> None:
        """Raises one InputError with every fault that was found; does nothing if there is none."""
        if self.faults:
            raise InputError(self.faults)

    def refuse(self, key: str, problem: str, value: object = None, hint: str = "") -> NoReturn:
        """Raises at once, with the faults found so far: for what makes further reading pointless."""
        self.fault(key, problem, value, hint)
        raise InputError(self.faults)

    def _read(
        self, names: Sequence[str], default: Value | None, harmless: Value, check: Callable[[Any], Value]
    ) -> Value:
        self._ask(names)
        for name in names:
            value = self.document.get(name)
            if value is None:
                continue
            try:
                return check(value)
            except _WrongError as wrong:
                self.fault(name, str(wrong), value, _COMPARE)
                return harmless
        if default is not None:
            shown = str(default) if len(str(default)) < 60 else "a list"
            self.note("class-default", f"{self.prefix}{names[0]} is absent: the default of the class, {shown}")
            return default
        self.fault(names[0], "is required but absent", hint=did_you_mean(names[0], list(self.document)[:200]))
        return harmless


_WHOLE_DTYPES = ("bf16", "fp16", "fp32")
_DTYPE_HINT = "bfloat16, float16 or float32; shorter weights are described by a quantization_config"
_COMPARE = "compare with the config.json that the model's publisher gives"


class _WrongError(Exception):
    """What is wrong with a value; turned into a fault by the reader."""


def _whole(value: Any, minimum: int, maximum: int) -> int:
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise _WrongError("must be a whole number")
    if not minimum <= value <= maximum:
        raise _WrongError(f"must be between {minimum} and {maximum}")
    return value


def _finite(value: Any, minimum: float, maximum: float) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise _WrongError("must be a number")
    if not minimum <= value <= maximum:  # false for NaN too
        raise _WrongError(f"must be between {minimum:g} and {maximum:g}")
    return float(value)


def _boolean(value: Any) -> bool:
    if not isinstance(value, bool):
        raise _WrongError("must be true or false")
    return value


def _string(value: Any, choices: Sequence[str] | None) -> str:
    if not isinstance(value, str):
        raise _WrongError("must be a string")
    if choices is not None and value not in choices:
        raise _WrongError(f"must be one of {', '.join(choices)}")
    return value


def _list(value: Any, length: int | None, element: Callable[[Any], Value]) -> tuple[Value, ...]:
    if not isinstance(value, (list, tuple)):
        raise _WrongError("must be a list")
    if length is not None and len(value) != length:
        raise _WrongError(f"must have {length} elements, one for each layer, and has {len(value)}")
    if len(value) > MOST_LAYERS:
        raise _WrongError(f"must have at most {MOST_LAYERS} elements")
    return tuple(element(part) for part in value)
