"""Quantities as people write them, read exactly; `views/wording.py` prints them."""

import re
from typing import TYPE_CHECKING

from mansard.errors import UsageError

if TYPE_CHECKING:
    from fractions import Fraction

_PREFIXES = {"": 1, "k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12, "P": 10**15, "E": 10**18}
_BINARY = {"Ki": 2**10, "Mi": 2**20, "Gi": 2**30, "Ti": 2**40, "Pi": 2**50}
_SMALL = {"m": 10**3, "u": 10**6, "µ": 10**6, "μ": 10**6, "n": 10**9}  # divisors

# What may stand behind a number of each unit, without its prefix.
_SPELLINGS = {
    "byte": ("B",),
    "byte/s": ("B/s",),
    "FLOP/s": ("FLOP/s", "FLOPS", "FLOPs", "OP/s", "OPS"),
    "s": ("s",),
    "token": ("", "token", "tokens"),
    "1/s": ("/s",),
    "": ("",),
}
_NUMBER = re.compile(
    # Commas only between groups of three: 3,35 is how some write 3.35, and not 335.
    r"\s*((?:[0-9]{1,3}(?:,[0-9]{3}){1,12}|[0-9][0-9_]{0,40})(?:\.[0-9]{0,40})?|\.[0-9]{1,40})"
    r"(?:[eE]([+-]?[0-9]{1,3}))?\s*(\S{0,20})\s*"
)
_LARGEST = 10**30


def parse_quantity(text: str, unit: str) -> int | float:
    """A quantity in base units, exactly: an int where it is whole. A plain number is in base units already.

    unit: "byte", "byte/s", "FLOP/s", "s", "token", "1/s" or "". Prefixes are SI, with their case: 3.35TB/s, 80GiB, 4k.

    Raises:
        UsageError: if it is no such quantity, negative, not finite, or absurdly large.

    >>> parse_quantity("80GiB", "byte"), parse_quantity("3.35TB/s", "byte/s"), parse_quantity("500ms", "s")
    (85899345920, 3350000000000, 0.5)
    """
    from fractions import Fraction  # its decimals cost milliseconds that most commands need not spend

    found = _NUMBER.fullmatch(text[:120])
    if found is None and _NUMBER.fullmatch(text[:120].strip().removeprefix("-")):
        raise UsageError(f"{text[:60]!r} is negative", hint=f"for example {_example(unit)}")
    if found is None or len(text) > 120 or found[3].startswith(","):
        raise UsageError(f"{text[:60]!r} is no quantity", hint=f"for example {_example(unit)}")
    digits, exponent, suffix = found.groups()
    value = Fraction(digits.replace("_", "").replace(",", ""))
    if exponent:
        value *= Fraction(10) ** int(exponent)
    value *= _factor(suffix, unit, text)
    if value > _LARGEST:
        raise UsageError(f"{text[:60]!r} is larger than anything that is built")
    return int(value) if value.denominator == 1 else float(value)


def _factor(suffix: str, unit: str, text: str) -> "int | Fraction":
    from fractions import Fraction

    for spelling in _SPELLINGS[unit]:
        if not suffix.endswith(spelling):
            continue
        prefix = suffix.removesuffix(spelling) if spelling else suffix
        if prefix in _PREFIXES and (spelling or unit in ("token", "") or not prefix):
            return _PREFIXES[prefix]
        if prefix in _BINARY and unit in ("byte", "byte/s", "token"):
            return _BINARY[prefix]
        if prefix in _SMALL and unit == "s":
            return Fraction(1, _SMALL[prefix])
    if not suffix:
        return 1
    raise UsageError(
        f"{text[:60]!r}: {suffix!r} is no unit of {unit or 'a plain number'}",
        hint=f"{_case_trap(suffix, unit)}for example {_example(unit)}; case is as SI writes it, and B is a byte",
    )


def _case_trap(suffix: str, unit: str) -> str:
    """What somebody may have meant who wrote `gb` or `Gb`; empty if case is not what is wrong."""
    spelled = (prefix + spelling for spelling in _SPELLINGS[unit] for prefix in _prefixes(unit))
    meant = [one for one in spelled if one.lower() == suffix.lower()]
    bits = "b is a bit; " if unit.startswith("byte") and "b" in suffix else ""
    return f"{bits}did you mean {' or '.join(meant)}? " if meant else ""


def _prefixes(unit: str) -> tuple[str, ...]:
    if unit == "s":
        return ("", *_SMALL)
    return (*_PREFIXES, *(_BINARY if unit in ("byte", "byte/s", "token") else ()))


def _example(unit: str) -> str:
    return {
        "byte": "80GiB, 80e9",
        "byte/s": "3.35TB/s, 3.35e12",
        "FLOP/s": "989TFLOP/s, 989e12",
        "s": "500ms, 0.5",
        "token": "4096, 4k",
        "1/s": "20/s",
        "": "8, 1.5",
    }[unit]
