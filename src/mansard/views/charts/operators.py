"""Time by operator: what each takes of a phase when operators run one after the other."""

from typing import Any

from mansard.records import Phase
from mansard.results import Analysis
from mansard.views.charts._frame import framed, reach
from mansard.views.charts._theme import WIDTH, Theme, bound_scale
from mansard.views.headline import subject
from mansard.views.wording import duration, percent, scaled

OF = "analysis"
SAYS = "the time of each operator, coloured by what binds it"
_MOST = 9  # rows; the rest are one
_BAR = 20


def spec(found: Analysis, *, theme: Theme = "light", width: int = WIDTH) -> dict[str, Any]:
    """Horizontal bars of best time, the longest first; expected time is drawn beside it once it is calibrated."""
    charts = [_phase(phase, theme, width) for phase in reversed(found.phases.values())]
    datasets = {f"operators_{phase.name}": _rows(phase) for phase in found.phases.values()}
    return framed(
        {"vconcat": charts, "spacing": 18},
        title=subject(found),
        subtitle="best time of each operator, one after the other",
        theme=theme, width=None, height=None, datasets=datasets,
    )  # fmt: skip


def _phase(phase: Phase, theme: Theme, width: int) -> dict[str, Any]:
    rows = _rows(phase)
    unit, factor = _unit(max(row["seconds"] for row in rows))
    end = reach(rows, "seconds", width) * factor
    at = {
        "x": {"field": "scaled", "type": "quantitative", "scale": {"domain": [0, end], "nice": False},
              "axis": {"title": f"{phase.name}: best time [{unit}]", "tickCount": max(3, width // 90)}},
        "y": {"field": "operator", "type": "nominal", "sort": None, "axis": {"title": None}},
    }  # fmt: skip
    colour = {"field": "bound", "type": "nominal", "scale": bound_scale(theme), "title": "bound by",
              "legend": {"values": sorted({row["bound"] for row in rows})}}  # fmt: skip
    tooltip = [{"field": name, "type": "nominal"} for name in ("operator", "bound", "time", "share", "work", "moved")]
    return {
        "width": width, "height": _BAR * len(rows), "data": {"name": f"operators_{phase.name}"},
        "transform": [{"calculate": f"datum.seconds * {factor}", "as": "scaled"}],
        "layer": [
            {"mark": {"type": "bar", "height": _BAR * 0.7}, "encoding": {**at, "color": colour, "tooltip": tooltip}},
            {"mark": {"type": "text", "align": "left", "dx": 5}, "encoding": {**at, "text": {"field": "label"}}},
        ],
    }  # fmt: skip


def _unit(seconds: float) -> tuple[str, float]:
    for least, unit, factor in ((1.0, "s", 1.0), (1e-3, "ms", 1e3), (1e-6, "µs", 1e6)):
        if seconds >= least:
            return unit, factor
    return "ns", 1e9


def _rows(phase: Phase) -> list[dict[str, Any]]:
    ranked = sorted(phase.operators, key=lambda one: -one.best_s)
    rows = [
        {"operator": one.name, "bound": one.bound, "seconds": one.best_s, "time": duration(one.best_s),
         "share": percent(one.share), "work": scaled(one.flops or one.vector_flops, "FLOP"),
         "moved": scaled(one.bytes, "B"), "label": f"{duration(one.best_s)}, {percent(one.share)}"}
        for one in ranked[:_MOST]
    ]  # fmt: skip
    rest = ranked[_MOST:]
    if rest:
        seconds, share = sum(one.best_s for one in rest), sum(one.share for one in rest)
        bounds = [one.bound for one in rest]
        rows.append({
            "operator": f"{len(rest)} others", "bound": max(set(bounds), key=bounds.count), "seconds": seconds,
            "time": duration(seconds), "share": percent(share), "work": "", "moved": "",
            "label": f"{duration(seconds)}, {percent(share)}",
        })  # fmt: skip
    return rows
