"""Labels of a roofline: ceilings, ridges, phases and the largest operators, the most important first."""

from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

from mansard.views.charts._frame import text_width
from mansard.views.charts._labels import Anchor, Box, placed
from mansard.views.charts._scales import LogScale

LARGEST = 420  # px², the area of a point that takes all of the time
SMALLEST = 24
HEAD = 20  # px, kept for the names of the regions

_LABELLED = 5  # heaps of operators of each phase
_HEAP = 12  # px, within which points share a label
_STEP = 5  # px, between the boxes along a line
_FAR = 6  # rings, for the labels of phases, which must not be missing


def radius(share: float) -> float:
    """The radius in pixels of a point with this share of the time."""
    return float(((SMALLEST + (LARGEST - SMALLEST) * share) / 3.1416) ** 0.5)


def roof_labels(
    datasets: dict[str, list[dict[str, Any]]], roofs: Sequence[dict[str, Any]], x: LogScale, y: LogScale
) -> list[dict[str, Any]]:
    """Ceilings, ridges, phases, ends of the trajectory and the largest operators, the most important first."""
    points = datasets["operators"]
    taken = [_around(x.at(row["x"]), y.at(row["y"]), radius(row["share"])) for row in points]
    taken += [_around(x.at(row["x"]), y.at(row["y"]), 7) for row in datasets["phases"]]
    taken += [_slope_box(row, x, y) for row in datasets["slopes"]]
    taken += [box for row in roofs for box in _line_boxes(row, x, y)]
    taken += [Box(0, 0, x.pixels, HEAD)] if datasets["regions"] else []
    anchors = []
    for row in datasets["ridges"]:
        text = row["ridge_text"]
        anchors.append(Anchor(x.at(row["ridge"]), y.at(row["peak"]), 4, text, _spot(row["ridge"], row["peak"], row)))
        spots = [_ceiling_anchor(row, place, x, y) for place in (0, 0.2, 0.4)]
        anchors.append(spots[0]._replace(others=tuple(spots[1:])))
    for row in datasets["phases"]:
        spot = {**_spot(row["x"], row["y"], row), "strong": True}
        anchors += [Anchor(x.at(row["x"]), y.at(row["y"]), 8, row["text"], spot, rings=_FAR)]
    along = datasets["trajectory"]
    for row in (along[0], along[-1]) if along else ():
        text = f"{row['over']} {row['value']:,}"
        anchors.append(Anchor(x.at(row["x"]), y.at(row["y"]), 4, text, _spot(row["x"], row["y"], row)))
    runs = len({row["run"] for row in roofs})
    anchors += _operator_anchors(points, _LABELLED if runs == 1 else 1, x, y)
    return placed(anchors, width=x.pixels, height=y.pixels, taken=taken)


def _ceiling_anchor(row: dict[str, Any], place: float, x: LogScale, y: LogScale) -> Anchor:
    """On the ceiling, at the right end or a share of the plot's width before it."""
    at = x.low * (x.high / x.low) ** (1 - place - (text_width(row["peak_text"]) / 2 + 8) / x.pixels)
    return Anchor(x.at(at), y.at(row["peak"]), 0, row["peak_text"], _spot(at, row["peak"], row))


def _operator_anchors(points: Sequence[dict[str, Any]], most: int, x: LogScale, y: LogScale) -> Iterator[Anchor]:
    """The largest operators of each phase; those that lie on each other share a label."""
    for run, phase in dict.fromkeys((row["run"], row["phase"]) for row in points):
        mine = [row for row in points if (row["run"], row["phase"]) == (run, phase)]
        heaps: list[list[dict[str, Any]]] = []
        for row in sorted(mine, key=lambda row: -row["share"]):
            near = next((heap for heap in heaps if _apart(heap[0], row, x, y) < _HEAP), None)
            if near is None:
                heaps.append([row])
            else:
                near.append(row)
        for heap in heaps[:most]:
            names = ", ".join(row["operator"] for row in heap[:2]) + (f", +{len(heap) - 2}" if len(heap) > 2 else "")
            first = heap[0]
            spot = _spot(first["x"], first["y"], first)
            yield Anchor(x.at(first["x"]), y.at(first["y"]), radius(first["share"]), names, spot)


def _apart(one: dict[str, Any], other: dict[str, Any], x: LogScale, y: LogScale) -> float:
    return max(abs(x.at(one["x"]) - x.at(other["x"])), abs(y.at(one["y"]) - y.at(other["y"])))


def _line_boxes(roof: dict[str, Any], x: LogScale, y: LogScale) -> Iterator[Box]:
    """Small boxes along a roof, so that no label is struck through."""
    corners = [(x.at(at), y.at(value)) for at, value in roof["line"]]
    for (x0, y0), (x1, y1) in pairwise(corners):
        steps = max(1, round(max(abs(x1 - x0), abs(y1 - y0)) / _STEP))
        for step in range(steps + 1):
            at, value = x0 + (x1 - x0) * step / steps, y0 + (y1 - y0) * step / steps
            yield Box(at - 1, value - 2, at + 1, value + 2)


def _spot(x: float, y: float, row: dict[str, Any]) -> dict[str, Any]:
    return {"x": x, "y": y, "run": row.get("run", "0"), "strong": False}


def _around(x: float, y: float, radius: float) -> Box:
    return Box(x - radius, y - radius, x + radius, y + radius)


def _slope_box(row: dict[str, Any], x: LogScale, y: LogScale) -> Box:
    half = text_width(row["label"]) / 2
    return Box(x.at(row["x"]) - half, y.at(row["y"]) - half, x.at(row["x"]) + half * 0.6, y.at(row["y"]) + half * 0.4)
