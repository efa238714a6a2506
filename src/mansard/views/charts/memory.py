"""What fills the device's memory at the fullest moment of the request."""

from typing import Any

from mansard.results import Analysis
from mansard.views.charts._frame import framed
from mansard.views.charts._theme import PALETTES, WIDTH, Theme
from mansard.views.headline import misfit, subject
from mansard.views.wording import bytes_both, number, percent

OF = "analysis"
SAYS = "weights, cache, activations and reserve against the device"
_PARTS = ("weights", "cache", "state", "activations", "reserve")


def spec(found: Analysis, *, theme: Theme = "light", width: int = WIDTH) -> dict[str, Any]:
    """One stacked bar against the device's size."""
    memory, palette = found.memory, PALETTES[theme]
    rows = _rows(found)
    room = memory.device_bytes
    end = 1.05 * max(memory.total_bytes, room or 0) / 1e9
    at = {
        "y": {"value": 34},
        "x": {"field": "from_gb", "type": "quantitative",
              "axis": {"title": "memory [GB]", "tickCount": max(3, width // 90)},
              "scale": {"domain": [0, end], "nice": False}},
        "x2": {"field": "to_gb"},
    }  # fmt: skip
    scale = {"domain": [row["part"] for row in rows], "range": list(palette.series[: len(rows)])}
    colour = {"field": "part", "type": "nominal", "title": None, "sort": None, "scale": scale}
    tooltip = [{"field": name, "type": "nominal"} for name in ("part", "size", "share")]
    layers: list[dict[str, Any]] = [
        {"data": {"name": "parts"}, "mark": {"type": "bar", "height": 34, "stroke": palette.background},
         "encoding": {**at, "color": colour, "tooltip": tooltip}},
    ]  # fmt: skip
    if room is not None:
        rule = {"x": {"field": "gb", "type": "quantitative"}}
        layers += [
            {"data": {"name": "room"}, "mark": {"type": "rule", "color": palette.ink, "strokeWidth": 2},
             "encoding": rule},
            {"data": {"name": "room"},
             "mark": {"type": "text", "y": 6, "dx": -5, "align": "right", "baseline": "middle"},
             "encoding": {**rule, "text": {"field": "label"}}},
        ]  # fmt: skip
    return framed(
        {"layer": layers},
        title=subject(found), subtitle=_says(found),
        theme=theme, width=width, height=66,
        datasets={"parts": rows, "room": _room(found)},
    )  # fmt: skip


def _rows(found: Analysis) -> list[dict[str, Any]]:
    memory, at, rows = found.memory, 0.0, []
    for part in _PARTS:
        size = getattr(memory, f"{part}_bytes")
        if size:
            share = percent(size / memory.total_bytes)
            named = f"{part} {bytes_both(size).partition(' (')[0]}"
            rows.append({"part": named, "from_gb": at / 1e9, "to_gb": (at + size) / 1e9, "size": bytes_both(size),
                         "share": share})  # fmt: skip
            at += size
    return rows


def _room(found: Analysis) -> list[dict[str, Any]]:
    room = found.memory.device_bytes
    if room is None:
        return []
    return [{"gb": room / 1e9, "label": f"device {bytes_both(room).partition(' (')[0]}"}]


def _says(found: Analysis) -> str:
    memory = found.memory
    if memory.fits is None or memory.device_bytes is None:
        return f"needs {bytes_both(memory.total_bytes)}; the memory of the device is not known"
    if not memory.fits:
        return misfit(memory)
    most = "" if memory.max_batch is None else f"; up to {number(memory.max_batch)} such sequences would fit"
    return f"fits: {percent(memory.total_bytes / memory.device_bytes)} of the device{most}"
