"""Decode against the batch: where it stops being bound by memory, if it ever does, and how much fits."""

from typing import Any

from mansard.records import Curve
from mansard.views.charts._curve import curve_spec
from mansard.views.charts._theme import WIDTH, Theme

OF = "curve"
SAYS = "decode against the batch, with the knee and what fits"


def spec(curve: Curve, *, theme: Theme = "light", width: int = WIDTH) -> dict[str, Any]:
    """Step time, tokens per second and intensity against the batch."""
    title = f"Decode of {curve.model} on {curve.device} against the batch"
    return curve_spec(curve, title=title, axis="batch [sequences]", theme=theme, width=width)
