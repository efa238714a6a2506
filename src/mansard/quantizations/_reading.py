"""What the methods share: lists of modules, widths and groups, and the formats of integers in groups."""

from collections.abc import Iterable
from typing import Any

from mansard.inputs.keys import Keys
from mansard.inputs.rules import Kind, Rule
from mansard.precision import WeightFormat

_MOST_MODULES = 300_000


def module_list(keys: Keys, *names: str) -> tuple[str, ...]:
    """Names of modules; longer lists than others are allowed, since each expert may be named."""
    value = keys.raw(*names)
    if value is None:
        return ()
    stated = next(name for name in names if keys.has(name))
    if not isinstance(value, (list, tuple)) or not all(isinstance(one, str) and one for one in value):
        keys.fault(stated, "must be a list of module names", value)
        return ()
    if len(value) > _MOST_MODULES:
        keys.fault(stated, f"must have at most {_MOST_MODULES} names", len(value))
        return ()
    return tuple(value)


def rule(pattern: str, stored: WeightFormat | None, plain: Kind = "part") -> Rule:
    """A rule by how its pattern is written: `re:` is an expression, a `*` a wildcard, all else is of kind `plain`."""
    if pattern.startswith("re:"):
        return Rule(pattern.removeprefix("re:"), stored, "expression")
    return Rule(pattern, stored, "wild" if "*" in pattern else plain)


def left_alone(patterns: Iterable[str], plain: Kind = "part") -> tuple[Rule, ...]:
    """Rules that leave modules in the model's dtype."""
    return tuple(rule(pattern, None, plain) for pattern in patterns)


def bits_of(keys: Keys, *names: str, allowed: tuple[int, ...], default: int = 4) -> int:
    """A width that checkpoints of the method have."""
    bits = keys.size(*names, default=default, maximum=16)
    keys.require(bits in allowed, names[0], f"must be one of {', '.join(map(str, allowed))}", bits)
    return bits


def group_of(keys: Keys, *names: str, default: int = 128) -> int | None:
    """A group size; -1 means one group for all inputs."""
    return None if keys.raw(*names) == -1 else keys.size(*names, default=default)


def integers(
    bits: int, group: int | None, *, zero_bits: int, scale_bits: int = 16, row_bits: int = 0, name: str = ""
) -> WeightFormat:
    """Integers with scales, and zero points if `zero_bits`, that a group of inputs shares, or all of an output."""
    return WeightFormat(
        name=name or (f"int{bits}-g{group}" if group else f"int{bits}-rows"),
        bits=bits,
        dtype="int8" if bits > 4 else "int4",
        group_size=group,
        per_column_scale=group is None,
        scale_bits=scale_bits,
        zero_bits=zero_bits,
        weight_only=True,
        row_bits=row_bits,
    )


def overlaid(keys: Keys, changes: Any, key: str) -> Keys:
    """A reader of the keys with some of them changed, for a module of its own."""
    if not isinstance(changes, dict):
        keys.fault(key, "must say for each module how it is stored", changes)
        return keys
    return keys.over({**keys.document, **changes})


def cache_of(keys: Keys, name: str = "kv_cache_scheme") -> str | None:
    """The dtype of the cache that a scheme of two widths describes; what is not a whole dtype is noted."""
    if not keys.has(name):
        return None
    value = keys.raw(name)
    if not isinstance(value, dict):
        known = {"static": "fp8", "dynamic": "fp8"}
        if not isinstance(value, str) or value not in known:
            keys.fault(name, "is not known", value, "an object with num_bits and type")
            return None
        return known[value]
    scheme = keys.nested(name)
    bits, kind = (
        scheme.size("num_bits", default=8, maximum=16),
        scheme.text("type", default="float", choices=("int", "float")),
    )
    if bits != 8:
        keys.note("cache-format", f"the checkpoint is made for a cache in {bits} bits: ask for it with --kv", "warning")
        return None
    return "fp8" if kind == "float" else "int8"
