"""Decode against the context: what a longer cache costs each step."""

from typing import Any

from mansard.records import Curve
from mansard.views.charts._curve import curve_spec
from mansard.views.charts._theme import WIDTH, Theme

OF = "curve"
SAYS = "decode against the context, with what fits"


def spec(curve: Curve, *, theme: Theme = "light", width: int = WIDTH) -> dict[str, Any]:
    """Step time, tokens per second and intensity against the context."""
    title = f"Decode of {curve.model} on {curve.device} against the context"
    return curve_spec(curve, title=title, axis="context [tokens]", theme=theme, width=width)
