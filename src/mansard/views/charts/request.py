"""A request along time: the prefill until the first token, then one token after the other."""

from collections.abc import Sequence
from typing import Any

from mansard.results import Analysis
from mansard.views.charts._frame import framed
from mansard.views.charts._theme import PALETTES, WIDTH, Palette, Theme
from mansard.views.headline import subject, workload
from mansard.views.wording import duration

OF = "analysis"
SAYS = "queue, prefill and tokens along time"
_MOST_TICKS = 160


def spec(found: Analysis, *, theme: Theme = "light", width: int = WIDTH) -> dict[str, Any]:
    """Spans of the phases, and a tick for each token (or for every few of them)."""
    request, palette = found.request, PALETTES[theme]
    end = request.e2e_s.best or 0.0
    unit, factor = ("s", 1.0) if end >= 1 else ("ms", 1e3)
    across = {"field": "start", "type": "quantitative",
              "scale": {"domain": [0, end * factor * 1.02], "nice": False},
              "axis": {"title": f"time from the request [{unit}]", "tickCount": max(3, width // 75)}}  # fmt: skip
    names = [*found.phases]
    colour = {"field": "span", "type": "nominal", "title": None, "sort": None,
              "scale": {"domain": names, "range": _colours(names, palette)}}  # fmt: skip
    tooltip = [{"field": name, "type": "nominal"} for name in ("span", "lasts", "what")]
    ticks = {"type": "rule", "y": 14, "y2": 46, "color": palette.background, "strokeWidth": 0.8, "opacity": 0.9}
    layers = [
        {"data": {"name": "spans"}, "mark": {"type": "bar", "height": 32, "y": 30},
         "encoding": {"x": across, "x2": {"field": "end"}, "color": colour, "tooltip": tooltip}},
        {"data": {"name": "tokens"}, "mark": ticks, "encoding": {"x": {**across, "field": "at"}}},
    ]  # fmt: skip
    return framed(
        {"layer": layers},
        title=subject(found),
        subtitle=f"{workload(found)}: {_gaps(found)}"
        f"done after {duration(request.e2e_s.best)}, at best",
        theme=theme, width=width, height=60,
        datasets={"spans": _spans(found, factor), "tokens": _tokens(found, factor)},
    )  # fmt: skip


def _gaps(found: Analysis) -> str:
    first, gap = found.request.ttft_s.best, found.request.itl_s.best
    if first is None:
        return ""
    said = f"first token after {duration(first)}, "
    return said if gap is None else f"{said}then one every {duration(gap)}, "


def _colours(names: Sequence[str], palette: Palette) -> list[str]:
    """Those of the bounds for prefill and decode, as everywhere; of the series for what runs before them."""
    own = {"prefill": palette.bounds[1], "decode": palette.bounds[0]}
    return [own.get(name, palette.series[place % len(palette.series)]) for place, name in enumerate(names)]


def _spans(found: Analysis, factor: float) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = []
    start, whole = 0.0, found.request.e2e_s.best or 0.0
    for name, phase in found.phases.items():
        end = whole if name == "decode" else start + phase.best_s
        what = f"{phase.tokens:,} tokens" + (", to the first token" if name == "prefill" else "")
        if name == "decode":
            what = f"{found.workload.output - 1:,} more tokens a sequence"
        if end > start:
            rows.append({"span": name, "start": start * factor, "end": end * factor, "lasts": duration(end - start),
                         "what": what})  # fmt: skip
        start = end
    return rows


def _tokens(found: Analysis, factor: float) -> list[dict[str, Any]]:
    """Where tokens come: gaps grow evenly from the first to the last as the cache grows."""
    request, count = found.request, found.workload.output - 1
    first, gap, last = request.ttft_s.best, request.itl_first_s.best, request.itl_last_s.best
    if not count or first is None or gap is None or last is None:
        return []
    step = max(1, -(-count // _MOST_TICKS))
    grows = (last - gap) / max(1, count - 1)
    return [
        {"at": factor * (first + n * gap + grows * n * (n - 1) / 2), "token": n + 1} for n in range(0, count + 1, step)
    ]
