"""Marks of a roofline: regions, roofs, ridges, points, labels; each refers to its data by name."""

from collections.abc import Iterator, Sequence
from typing import Any

from mansard.views.charts._labels import mark
from mansard.views.charts._roof_labels import LARGEST, SMALLEST
from mansard.views.charts._scales import LogScale
from mansard.views.charts._theme import PALETTES, Palette, Theme, bound_scale

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
_PHASES = {"prefill": "circle", "decode": "square"}
_SAID = (
    ("phase", "phase"), ("intensity_text", "intensity"), ("rate", "reaches"), ("bound", "bound by"),
    ("best", "best time"), ("work", "work"), ("moved", "bytes moved"),
)  # fmt: skip


def roof_layers(x: LogScale, y: LogScale, theme: Theme, runs: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The layers from the back to the front; `runs` are the names of what is laid over each other."""
    palette = PALETTES[theme]
    at = {
        "x": {"field": "x", "type": "quantitative", "scale": x.encoded(), "axis": x.axis("intensity [FLOP/byte]")},
        "y": {"field": "y", "type": "quantitative", "scale": y.encoded(), "axis": y.axis("attainable [FLOP/s]")},
    }
    bound = {"field": "bound", "type": "nominal", "scale": bound_scale(theme), "legend": None}
    yield from _regions(at, bound)
    yield from _roofs(at, palette, runs)
    yield _trajectory(at, palette)
    yield from _points(at, bound, palette, several=len(runs) > 1)
    yield from _texts(at, palette)


def _layer(data: str, mark: dict[str, Any], encoding: dict[str, Any]) -> dict[str, Any]:
    return {"data": {"name": data}, "mark": mark, "encoding": encoding}


def _regions(at: dict[str, Any], bound: dict[str, Any]) -> Iterator[dict[str, Any]]:
    ends = {"x2": {"field": "x2"}, "y2": {"field": "y2"}}
    yield _layer("regions", {"type": "rect", "opacity": 0.07}, {**at, **ends, "color": bound})
    named = {"x": {**at["x"], "field": "middle"}, "y": {**at["y"], "field": "y2"}, "text": {"field": "label"}}
    yield _layer("regions", {"type": "text", "dy": 12, "fontStyle": "italic"}, {**named, "color": bound})
    dashed = {"type": "rule", "strokeDash": [3, 3], "opacity": 0.7}
    yield _layer("drops", dashed, {**at, "y2": {"field": "y2"}, "color": bound})


def _roofs(at: dict[str, Any], palette: Palette, runs: Sequence[str]) -> Iterator[dict[str, Any]]:
    dash: dict[str, Any] = {
        "field": "device", "type": "nominal", "title": "device", "sort": None,
        "scale": {"domain": list(runs), "range": list(_DASHES[: len(runs)])},
    }  # fmt: skip
    if len(runs) == 1:
        dash["legend"] = None
    line = {"type": "line", "color": palette.ink, "strokeWidth": 2, "clip": True}
    yield _layer("roofs", line, {**at, "detail": {"field": "roof"}, "strokeDash": dash, "order": {"field": "x"}})
    ridge = {"type": "point", "shape": "triangle-down", "filled": True, "size": 60, "color": palette.ink, "opacity": 1}
    said = (("roof", "roof"), ("ridge_text", "FLOP/byte"), ("peak_text", "peak"), ("slope_text", "bandwidth"))
    there = {"x": {**at["x"], "field": "ridge"}, "y": {**at["y"], "field": "peak"}}
    yield _layer("ridges", ridge, {**there, "tooltip": _tooltip(said)})


def _trajectory(at: dict[str, Any], palette: Palette) -> dict[str, Any]:
    dots = {"size": 14, "color": palette.faint}
    line = {"type": "line", "point": dots, "color": palette.faint, "strokeWidth": 1}
    said = (("over", "along"), ("value", "size"), ("best", "best time"))
    return _layer("trajectory", line, {**at, "order": {"field": "value"}, "tooltip": _tooltip(said)})


def _points(at: dict[str, Any], bound: dict[str, Any], palette: Palette, *, several: bool) -> Iterator[dict[str, Any]]:
    phase = {
        "field": "phase", "type": "nominal", "title": "phase",
        "scale": {"domain": list(_PHASES), "range": list(_PHASES.values())},
    }  # fmt: skip
    size = {"field": "share", "type": "quantitative", "legend": None,
            "scale": {"domain": [0, 1], "range": [SMALLEST, LARGEST]}}  # fmt: skip
    first = (("device", "device"),) if several else ()
    said = (*first, ("operator", "operator"), *_SAID, ("count", "count"), ("share_text", "share of the time"))
    filled = {"type": "point", "filled": True, "opacity": 0.75, "stroke": palette.background, "strokeWidth": 0.7}
    yield _layer("operators", filled, {**at, "color": bound, "shape": phase, "size": size, "tooltip": _tooltip(said)})
    hollow = {"type": "point", "size": 190, "strokeWidth": 2, "opacity": 1, "fill": palette.background,
              "fillOpacity": 0.6}  # fmt: skip
    yield _layer("phases", hollow, {**at, "color": bound, "shape": phase, "tooltip": _tooltip((*first, *_SAID))})


def _texts(at: dict[str, Any], palette: Palette) -> Iterator[dict[str, Any]]:
    text = {**at, "text": {"field": "label"}}
    weight = {"expr": "datum.strong ? 'bold' : 'normal'"}
    halo = {"stroke": palette.background, "strokeWidth": 3, "opacity": 0.9}
    yield _layer("labels", mark(fontWeight=weight, **halo), text)
    yield _layer("labels", mark(fontWeight=weight), text)
    yield _layer("slopes", {"type": "text", "angle": {"expr": "datum.angle"}, "dy": -9}, text)


def _tooltip(fields: Sequence[tuple[str, str]]) -> list[dict[str, str]]:
    return [{"field": field, "title": title, "type": "nominal"} for field, title in fields]
