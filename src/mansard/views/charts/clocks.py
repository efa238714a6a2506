"""The clocks: how long memory, compute, network and overhead would take for each phase by themselves."""

from typing import Any

from mansard.records import Phase
from mansard.results import Analysis
from mansard.views.charts._frame import framed, reach
from mansard.views.charts._theme import WIDTH, Theme, bound_scale
from mansard.views.headline import subject
from mansard.views.wording import duration, percent

OF = "analysis"
SAYS = "memory, compute, network and overhead side by side"
_BAR = 22


def spec(found: Analysis, *, theme: Theme = "light", width: int = WIDTH) -> dict[str, Any]:
    """Horizontal bars, one row of them per phase; the longest is what binds."""
    rows = [row for phase in found.phases.values() for row in _rows(phase)]
    phases = list(found.phases)
    clocks = list(dict.fromkeys(row["clock"] for row in rows))
    bars = {
        "x": {"field": "share", "type": "quantitative",
              "axis": {"title": "share of the phase's best time [%]", "values": [0, 25, 50, 75, 100]},
              "scale": {"domain": [0, reach(rows, "share", width)], "nice": False}},
        "y": {"field": "clock", "type": "nominal", "sort": None, "axis": {"title": None}},
    }  # fmt: skip
    colour = {"field": "clock", "type": "nominal", "scale": bound_scale(theme), "legend": None}
    tooltip = [{"field": name, "type": "nominal"} for name in ("phase", "clock", "time", "share_text")]
    return framed(
        {
            "data": {"name": "clocks"},
            "spacing": 12,
            "facet": {"row": {"field": "phase", "type": "nominal", "sort": phases, "title": None,
                              "header": {"labelAngle": 0, "labelAlign": "left", "labelFontWeight": "bold",
                                         "labelOrient": "top", "labelAnchor": "start"}}},
            "spec": {
                "width": width, "height": _BAR * len(clocks),
                "layer": [
                    {"mark": {"type": "bar", "height": _BAR * 0.7},
                     "encoding": {**bars, "color": colour, "tooltip": tooltip}},
                    {"mark": {"type": "text", "align": "left", "dx": 5},
                     "encoding": {**bars, "text": {"field": "label"}}},
                ],
            },
        },
        title=subject(found),
        subtitle="the longest clock of a phase is what binds it; the others wait",
        theme=theme, width=None, height=None, datasets={"clocks": rows},
    )  # fmt: skip


def _rows(phase: Phase) -> list[dict[str, Any]]:
    clocks = phase.clocks
    times = {"memory": clocks.memory_s, "compute": clocks.compute_s}
    times |= {"network": clocks.network_s} if clocks.network_s else {}
    times |= {"overhead": clocks.overhead_s} if clocks.overhead_s else {}
    return [
        {"phase": phase.name, "clock": name, "seconds": seconds, "share": 100 * seconds / phase.best_s,
         "time": duration(seconds), "share_text": percent(seconds / phase.best_s),
         "label": f"{duration(seconds)}{', binds' if name == phase.bound else ''}"}
        for name, seconds in times.items()
    ]  # fmt: skip
