"""What every chart has around it: schema, size, title, data under names, the theme."""

from collections.abc import Mapping, Sequence
from textwrap import wrap
from typing import Any

from mansard.views.charts._scales import LogScale
from mansard.views.charts._theme import FONT_SIZE, SCHEMA, Theme, config

_CHARACTER = 0.56  # of the font's size: the mean width of a character


def framed(
    body: Mapping[str, Any],
    *,
    title: str,
    subtitle: str,
    theme: Theme,
    width: int | None,
    height: int | None,
    datasets: Mapping[str, Sequence[Mapping[str, Any]]],
    scales: Sequence[LogScale] = (),
) -> dict[str, Any]:
    """A whole description: marks refer to their data and axes by name, so that a page can put in new ones alone.

    width: of the plot; None where the panels of the body have their own.
    """
    inner = width or next(part["width"] for part in _panels(body))
    return {
        "$schema": SCHEMA,
        "description": f"{title}. {subtitle}".strip(),
        "title": {"text": fitted(title, inner, FONT_SIZE + 3), "subtitle": fitted(subtitle, inner, FONT_SIZE)},
        "padding": 12,
        **{name: size for name, size in (("width", width), ("height", height)) if size is not None},
        **body,
        **({"params": [one for scale in scales for one in scale.parameters()]} if scales else {}),
        "datasets": {name: [dict(row) for row in rows] for name, rows in datasets.items()},
        "config": config(theme),
    }


def _panels(body: Mapping[str, Any]) -> Sequence[Mapping[str, Any]]:
    return body["vconcat"] if "vconcat" in body else [body["spec"]]


def fitted(text: str, width: int, size: int) -> list[str]:
    """Lines that fit into so many pixels; titles are not wrapped by the renderers."""
    return wrap(text, max(24, int(width / (size * _CHARACTER)))) or [""]


def reach(rows: Sequence[Mapping[str, Any]], value: str, width: int) -> float:
    """The end of an axis on which each bar's label, written behind it, still fits."""
    ends = (row[value] * width / max(width / 3, width - text_width(row["label"]) - 10) for row in rows)
    return float(max(ends))


def text_width(text: str, size: int = FONT_SIZE) -> float:
    """About how many pixels a text takes."""
    return len(text) * size * _CHARACTER
