"""Logarithmic axes: their ends, and where a value lies on them in pixels."""

from math import ceil, floor, log10
from typing import Any, NamedTuple

_FEW = 4  # decades that leave room for marks between them


class LogScale(NamedTuple):
    """An axis from `low` to `high` over so many pixels; the y axis runs upwards.

    Its ends and marks are parameters of the description, named after the axis: a page moves them as it moves the data,
    without building the chart anew.
    """

    name: str
    low: float
    high: float
    pixels: float
    upwards: bool = False

    def at(self, value: float) -> float:
        """The pixel of a value."""
        share = log10(value / self.low) / log10(self.high / self.low)
        return self.pixels * (1 - share if self.upwards else share)

    def encoded(self) -> dict[str, Any]:
        """The scale of an encoding."""
        ends = [{"expr": f"{self.name}_{end}"} for end in ("low", "high")]
        return {"type": "log", "domain": ends, "nice": False, "clamp": True}

    def axis(self, title: str) -> dict[str, Any]:
        """An axis that is ruled at whole decades, or also at 2 and 5 where there are few of them."""
        return {"title": title, "format": "~s", "values": {"expr": f"{self.name}_marks"}}

    def parameters(self) -> list[dict[str, Any]]:
        """What the scale and its axis refer to by name."""
        exponents = range(floor(log10(self.low)), ceil(log10(self.high)) + 1)
        steps = (1,) if len(exponents) > _FEW else (1, 2, 5)
        values = [step * 10.0**exponent for exponent in exponents for step in steps]
        marks = [value for value in values if self.low <= value <= self.high]
        return [
            {"name": f"{self.name}_low", "value": self.low},
            {"name": f"{self.name}_high", "value": self.high},
            {"name": f"{self.name}_marks", "value": marks},
        ]


def log_scale(
    name: str, values: "list[float]", pixels: float, *, room: float = 2.0, steps: int = 4, upwards: bool = False
) -> LogScale:
    """An axis that holds the values with a factor of `room` at both ends, which lie on so many steps to a decade.

    Few steps keep the axis where it is while a value moves.
    """
    low = floor(steps * log10(min(values) / room)) / steps
    high = ceil(steps * log10(max(values) * room)) / steps
    return LogScale(name, 10**low, 10**high, pixels, upwards)
