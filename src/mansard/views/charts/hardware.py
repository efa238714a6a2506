"""Devices in the plane of memory bandwidth and peak, with lines of equal ridge point."""

from collections.abc import Sequence
from typing import Any

from mansard.inputs.device import Device
from mansard.views.charts._frame import framed, text_width
from mansard.views.charts._labels import Anchor, Box, mark, placed
from mansard.views.charts._scales import LogScale, log_scale
from mansard.views.charts._theme import FONT_SIZE, PALETTES, WIDTH, Theme
from mansard.views.wording import figure, scaled

OF = "devices"
SAYS = "devices by bandwidth and peak, with ridge lines"
_RIDGES = (10, 30, 100, 300, 1000)
_SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
_VENDORS = 5  # named; the rest are "other"


def spec(
    devices: Sequence[Device], *, marked: Sequence[str] = (), dtype: str = "bf16", theme: Theme = "light",
    width: int = WIDTH,
) -> dict[str, Any]:  # fmt: skip
    """Every device that has a peak in the dtype. marked: names that are labelled before all others."""
    height = round(0.7 * width)
    there = [device for device in devices if device.bandwidth is not None and dtype in dict(device.peaks)]
    x = log_scale("x", [device.memory_bandwidth.value for device in there], width, room=1.3)
    y = log_scale("y", [dict(device.peaks)[dtype].value for device in there], height, room=1.3, upwards=True)
    rows = _rows(there, dtype, marked)
    vendors = list(dict.fromkeys(row["vendor"] for row in sorted(rows, key=lambda row: row["vendor"] == "other")))
    return framed(
        {"layer": _layers(x, y, theme, vendors)},
        title=f"{len(rows)} devices by memory bandwidth and dense {dtype} peak",
        subtitle="a workload whose intensity is below a device's ridge line is bound by its memory",
        theme=theme, width=width, height=height,
        datasets={"devices": rows, "ridges": _ridges(x, y), "labels": _labels(rows, x, y)},
        scales=(x, y),
    )  # fmt: skip


def _rows(devices: Sequence[Device], dtype: str, marked: Sequence[str]) -> list[dict[str, Any]]:
    vendors = [device.vendor for device in devices]
    named = sorted(set(vendors), key=lambda vendor: (-vendors.count(vendor), vendor))[:_VENDORS]
    rows = []
    for device in devices:
        bandwidth, peak = device.memory_bandwidth.value, dict(device.peaks)[dtype].value
        rows.append({
            "name": device.name, "title": device.title, "vendor": device.vendor if device.vendor in named else "other",
            "x": bandwidth, "y": peak, "bandwidth": scaled(bandwidth, "B/s"), "peak": scaled(peak, "FLOP/s"),
            "ridge": f"{figure(peak / bandwidth)} FLOP/byte", "marked": device.name in marked,
        })  # fmt: skip
    return rows


def _ridges(x: LogScale, y: LogScale) -> list[dict[str, Any]]:
    """Both ends of each line of equal ridge point inside the plot."""
    rows: list[dict[str, Any]] = []
    taken: list[Box] = []
    for ridge in _RIDGES:
        low, high = max(x.low, y.low / ridge), min(x.high, y.high / ridge)
        if low < high:
            label = f"{ridge} FLOP/byte"
            end = {"ridge": ridge, "x": high, "y": ridge * high, "label": label}
            if any(_ridge_box(end, x, y).meets(box) for box in taken):
                end["label"] = ""  # on a small plot, where the ends of two lines are close
            else:
                taken.append(_ridge_box(end, x, y))
            rows += [{"ridge": ridge, "x": low, "y": ridge * low, "label": ""}, end]
    return rows


def _labels(rows: Sequence[dict[str, Any]], x: LogScale, y: LogScale) -> list[dict[str, Any]]:
    """As many names as have room: marked ones first, then the fastest."""
    taken = [Box(x.at(row["x"]) - 4, y.at(row["y"]) - 4, x.at(row["x"]) + 4, y.at(row["y"]) + 4) for row in rows]
    taken += [_ridge_box(row, x, y) for row in _ridges(x, y) if row["label"]]
    order = sorted(rows, key=lambda row: (not row["marked"], -row["x"] * row["y"]))
    anchors = [
        Anchor(x.at(row["x"]), y.at(row["y"]), 4, row["name"],
               {"x": row["x"], "y": row["y"], "strong": row["marked"]}, rings=1)
        for row in order
    ]  # fmt: skip
    return placed(anchors, width=x.pixels, height=y.pixels, taken=taken)


def _ridge_box(row: dict[str, Any], x: LogScale, y: LogScale) -> Box:
    right, bottom = x.at(row["x"]) - 6, y.at(row["y"]) - 2
    return Box(right - text_width(row["label"]), bottom - FONT_SIZE - 2, right, bottom)


def _layers(x: LogScale, y: LogScale, theme: Theme, vendors: Sequence[str]) -> list[dict[str, Any]]:
    palette = PALETTES[theme]
    at = {
        "x": {"field": "x", "type": "quantitative", "scale": x.encoded(), "axis": x.axis("memory bandwidth [B/s]")},
        "y": {"field": "y", "type": "quantitative", "scale": y.encoded(), "axis": y.axis("dense peak [FLOP/s]")},
    }
    count = len(vendors)
    vendor = {"field": "vendor", "type": "nominal", "sort": None, "title": None}
    colour = {**vendor, "scale": {"domain": list(vendors), "range": list(palette.series[:count])}}
    shape = {**vendor, "scale": {"domain": list(vendors), "range": list(_SHAPES[:count])}}
    size = {"condition": {"test": "datum.marked", "value": 140}, "value": 45}
    tooltip = [{"field": name, "type": "nominal"} for name in ("title", "bandwidth", "peak", "ridge")]
    weight = {"expr": "datum.strong ? 'bold' : 'normal'"}
    return [
        {"data": {"name": "ridges"},
         "mark": {"type": "line", "color": palette.faint, "strokeDash": [4, 4], "opacity": 0.6},
         "encoding": {**at, "detail": {"field": "ridge"}}},
        {"data": {"name": "ridges"},
         "mark": {"type": "text", "align": "right", "baseline": "bottom", "dx": -6, "dy": -2, "fontStyle": "italic",
                  "color": palette.faint},
         "encoding": {**at, "text": {"field": "label"}}},
        {"data": {"name": "devices"}, "mark": {"type": "point", "filled": True, "opacity": 0.85},
         "encoding": {**at, "color": colour, "shape": shape, "size": size, "tooltip": tooltip}},
        {"data": {"name": "labels"},
         "mark": mark(fontWeight=weight, stroke=palette.background, strokeWidth=3, opacity=0.9),
         "encoding": {**at, "text": {"field": "label"}}},
        {"data": {"name": "labels"}, "mark": mark(fontWeight=weight), "encoding": {**at, "text": {"field": "label"}}},
    ]  # fmt: skip
