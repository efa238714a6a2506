"""Decode along a size, in panels over one axis: step time, tokens per second, intensity."""

from typing import Any

from mansard.records import Curve
from mansard.views.charts._frame import framed
from mansard.views.charts._scales import LogScale, log_scale
from mansard.views.charts._theme import PALETTES, Palette, Theme, bound_scale
from mansard.views.wording import duration, figure, number, rate

_HEIGHT = 120
_MOST_TICKS = 9
_PANELS: dict[str, str] = {
    "step_ms": "step, at best [ms]",
    "user": "tokens/s per user",
    "device": "tokens/s per device",
    "intensity": "FLOP/byte",
}
_SAID = ("size", "best", "per user", "per device", "FLOP/byte", "bound", "fits")


def curve_spec(curve: Curve, *, title: str, axis: str, theme: Theme, width: int) -> dict[str, Any]:
    """Four panels, with the knee, what fits, and where the scenario itself is."""
    rows = _rows(curve)
    ruled = {"title": None, "format": ",", "labelOverlap": True,
             "values": _ticks(rows[0]["value"], rows[-1]["value"])}  # fmt: skip
    across = {
        "field": "value", "type": "quantitative", "axis": ruled,
        "scale": {"type": "log", "domain": [rows[0]["value"], rows[-1]["value"]], "nice": False},
    }  # fmt: skip
    last = {**across, "axis": {**ruled, "title": axis}}
    scales = {field: log_scale(field, [row[field] for row in rows], _HEIGHT, room=1.2) for field in _PANELS}
    levels = [*(row["intensity"] for row in rows), curve.ridge_point]
    scales["intensity"] = log_scale("intensity", levels, _HEIGHT, room=1.3)
    panels = [_panel(last if field == "intensity" else across, field, scales[field], theme, width) for field in _PANELS]
    ridge = {"value": curve.ridge_point, "label": f"ridge {figure(curve.ridge_point)}"}
    return framed(
        {"vconcat": panels, "spacing": 10},
        title=title, subtitle=_says(curve), theme=theme, width=None, height=None,
        datasets={"curve": rows, "marks": _marks(curve), "ridge": [ridge]}, scales=tuple(scales.values()),
    )  # fmt: skip


def _panel(across: dict[str, Any], field: str, scale: LogScale, theme: Theme, width: int) -> dict[str, Any]:
    palette = PALETTES[theme]
    up = {"field": field, "type": "quantitative", "scale": scale.encoded(),
          "axis": {**scale.axis(_PANELS[field]), "minExtent": 44, "labelOverlap": True}}  # fmt: skip
    colour = {"field": "bound", "type": "nominal", "scale": bound_scale(theme), "legend": None}
    tooltip = [{"field": name, "title": name, "type": "nominal"} for name in _SAID]
    dimmed = {"condition": {"test": "datum.fits === 'no'", "value": 0.25}, "value": 1}
    layers: list[dict[str, Any]] = [
        {"data": {"name": "marks"}, "mark": {"type": "rule", "strokeDash": [3, 3], "color": palette.faint},
         "encoding": {"x": across}},
        {"data": {"name": "curve"}, "mark": {"type": "line", "color": palette.faint, "strokeWidth": 1},
         "encoding": {"x": across, "y": up}},
        {"data": {"name": "curve"}, "mark": {"type": "point", "filled": True, "size": 26},
         "encoding": {"x": across, "y": up, "color": colour, "opacity": dimmed, "tooltip": tooltip}},
    ]  # fmt: skip
    if field == "step_ms":
        layers.append(_mark_labels(across))
    if field == "intensity":
        layers += _ridge(up, palette)
    return {"width": width, "height": _HEIGHT, "layer": layers}


def _mark_labels(across: dict[str, Any]) -> dict[str, Any]:
    offsets = {"align": {"expr": "datum.align"}, "dx": {"expr": "datum.dx"}, "y": {"expr": "datum.line * 14 + 3"}}
    return {
        "data": {"name": "marks"}, "mark": {"type": "text", "baseline": "top", **offsets},
        "encoding": {"x": across, "text": {"field": "label"}},
    }  # fmt: skip


def _ridge(up: dict[str, Any], palette: Palette) -> list[dict[str, Any]]:
    level = {"y": {**up, "field": "value"}}
    return [
        {"data": {"name": "ridge"}, "mark": {"type": "rule", "color": palette.ink}, "encoding": level},
        {"data": {"name": "ridge"}, "mark": {"type": "text", "align": "left", "x": 4, "dy": -7},
         "encoding": {**level, "text": {"field": "label"}}},
    ]  # fmt: skip


def _rows(curve: Curve) -> list[dict[str, Any]]:
    return [
        {"value": point.value, "step_ms": 1e3 * point.best_s, "user": point.tokens_per_s_per_user,
         "device": point.tokens_per_s_per_device, "intensity": point.intensity, "bound": point.bound,
         "size": number(point.value), "best": duration(point.best_s),
         "per user": rate(point.tokens_per_s_per_user, "tokens"),
         "per device": rate(point.tokens_per_s_per_device, "tokens"), "FLOP/byte": figure(point.intensity),
         "fits": {None: "not known", True: "yes", False: "no"}[point.fits]}
        for point in curve.points
    ]  # fmt: skip


def _marks(curve: Curve) -> list[dict[str, Any]]:
    """Upright lines: the scenario itself, the knee, the most that fits; labels on lines of their own."""
    start, end = curve.points[0].value, curve.points[-1].value
    found = [(curve.here, "here")]
    if curve.knee is not None:
        found.append((curve.knee, f"knee {number(curve.knee)}"))
    if curve.largest is not None:
        found.append((curve.largest, f"fits up to {number(curve.largest)}"))
    rows = []
    for line, (value, label) in enumerate(found):
        if start <= value <= end:
            right = value * value > start * end
            rows.append({"value": value, "label": label, "line": line, "align": "right" if right else "left",
                         "dx": -4 if right else 4})  # fmt: skip
    return rows


def _ticks(low: float, high: float) -> list[int]:
    found = [2**power for power in range(40) if low <= 2**power <= high]
    return found[:: 1 if len(found) <= _MOST_TICKS else 2]


def _says(curve: Curve) -> str:
    if curve.over == "batch":
        return curve.reason[0].upper() + curve.reason[1:]
    return "what a longer context costs each step; faint points do not fit in the device's memory"
