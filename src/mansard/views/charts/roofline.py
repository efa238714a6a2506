"""The roofline: what each operator and each phase can reach at its intensity, under the device's slope and ceilings."""

from collections.abc import Iterator, Sequence
from math import atan2, degrees
from typing import Any

from mansard.inputs.device import Device
from mansard.records import Curve, Phase
from mansard.results import Analysis
from mansard.rooflines import OperatorResult
from mansard.views.charts._frame import framed, text_width
from mansard.views.charts._roof_labels import roof_labels
from mansard.views.charts._roof_layers import roof_layers
from mansard.views.charts._scales import LogScale, log_scale
from mansard.views.charts._theme import WIDTH, Theme
from mansard.views.headline import subject, verdicts
from mansard.views.wording import duration, figure, percent, scaled

OF = "analyses"
SAYS = "operators and phases under the roof"
_CLEAR = 30  # px on both sides of a slope's label


def spec(
    *found: Analysis, theme: Theme = "light", width: int = WIDTH, trajectory: Curve | None = None
) -> dict[str, Any]:
    """The roofline of an analysis, or of several laid over each other. trajectory: decode along one of its sizes."""
    height = round(0.62 * width)
    phases = [(index, phase) for index, one in enumerate(found) for phase in one.phases.values()]
    x, y = _axes(found, phases, trajectory, width, height)
    names = _runs(found)
    roofs = [row for index, one in enumerate(found) for row in _roof(index, names[index], one, x, y)]
    datasets = {
        "regions": _regions(roofs, x, y) if len(found) == 1 else [],
        "roofs": [{**row, "x": at, "y": value} for row in roofs for at, value in row["line"]],
        "ridges": [row for row in roofs if x.low < row["ridge"] < x.high],
        "drops": [row for index, phase in phases for row in _drop(index, phase, y)],
        "operators": [row for index, phase in phases for row in _operators(index, phase, found)],
        "phases": [row for index, phase in phases if (row := _phase(index, phase, found))],
        "trajectory": _trajectory(trajectory),
    }
    datasets["slopes"] = _slopes(roofs, [*datasets["operators"], *datasets["phases"]], x, y)
    datasets["labels"] = roof_labels(datasets, roofs, x, y)
    datasets["ridges"] = [{name: value for name, value in row.items() if name != "line"} for row in datasets["ridges"]]
    datasets["roofs"] = [{name: row[name] for name in ("roof", "device", "x", "y")} for row in datasets["roofs"]]
    return framed(
        {"layer": list(roof_layers(x, y, theme, _runs(found)))},
        title=" and ".join(dict.fromkeys(subject(one) for one in found)),
        subtitle="; ".join(verdicts(found[0])) if len(found) == 1 else "each phase and operator at its intensity",
        theme=theme, width=width, height=height, datasets=datasets, scales=(x, y),
    )  # fmt: skip


def _runs(found: Sequence[Analysis]) -> list[str]:
    """The runs by name: the devices, or the models where the device is the same."""
    devices = [one.device.name for one in found]
    names = devices if len(set(devices)) == len(found) else [f"{one.model.name} on {one.device.name}" for one in found]
    return [name if names.count(name) == 1 else f"{name} ({place + 1})" for place, name in enumerate(names)]


def _axes(
    found: Sequence[Analysis], phases: Sequence[tuple[int, Phase]], trajectory: Curve | None, width: int, height: int
) -> tuple[LogScale, LogScale]:
    """Axes that hold every point, every ridge, and some of the slope and of the ceiling around them."""
    points = [one for _, phase in phases for one in phase.operators if one.flops and one.intensity]
    intensities = [one.intensity for one in points if one.intensity] + [phase.intensity for _, phase in phases]
    rates = [one.flops / one.best_s for one in points] + [phase.flops / phase.best_s for _, phase in phases]
    if trajectory is not None:
        intensities += [point.intensity for point in trajectory.points]
        rates += [point.flops / point.best_s for point in trajectory.points]
    for one in found:
        bandwidth = one.device.memory_bandwidth.value
        for peak in _peaks(one).values():
            intensities += [peak / bandwidth / 4, peak / bandwidth * 8]
            rates += [peak, peak / 8]
    positive = [value for value in intensities if value > 0]
    return (
        log_scale("x", positive, width, room=1.5, steps=2),
        log_scale("y", [value for value in rates if value > 0], height, room=1.8, steps=2, upwards=True),
    )


def _peaks(found: Analysis) -> dict[str, float]:
    """The ceilings that the analysis uses, by the dtype that is asked for."""
    dtypes = dict.fromkeys(one.dtype for phase in found.phases.values() for one in phase.operators if one.flops)
    return {dtype: found.device.peak(dtype).flops_per_s for dtype in dtypes}


def _roof(index: int, name: str, found: Analysis, x: LogScale, y: LogScale) -> Iterator[dict[str, Any]]:
    device: Device = found.device
    bandwidth = device.memory_bandwidth.value
    for dtype, peak in _peaks(found).items():
        ridge = peak / bandwidth
        start = max(x.low, y.low / bandwidth)
        corners = [(start, bandwidth * start), (min(ridge, x.high), min(peak, bandwidth * x.high)), (x.high, peak)]
        yield {
            "run": str(index), "device": name, "dtype": dtype, "roof": f"{name} {dtype}",
            "ridge": ridge, "peak": peak, "bandwidth": bandwidth, "line": corners,
            "ridge_text": f"ridge {figure(ridge)}", "peak_text": f"{dtype} {scaled(peak, 'FLOP/s')}",
            "slope_text": scaled(bandwidth, "B/s"),
        }  # fmt: skip


def _regions(roofs: Sequence[dict[str, Any]], x: LogScale, y: LogScale) -> list[dict[str, Any]]:
    """Left and right of the first roof's ridge."""
    if not roofs or not x.low < roofs[0]["ridge"] < x.high:
        return []
    ridge = roofs[0]["ridge"]
    return [
        {
            "bound": "memory",
            "x": x.low,
            "x2": ridge,
            "y": y.low,
            "y2": y.high,
            "label": "memory-bound",
            "middle": (x.low * ridge) ** 0.5,
        },
        {
            "bound": "compute",
            "x": ridge,
            "x2": x.high,
            "y": y.low,
            "y2": y.high,
            "label": "compute-bound",
            "middle": (ridge * x.high) ** 0.5,
        },
    ]


def _slopes(
    roofs: Sequence[dict[str, Any]], points: Sequence[dict[str, Any]], x: LogScale, y: LogScale
) -> list[dict[str, Any]]:
    """The bandwidth, written along its slope where no point lies."""
    rows: list[dict[str, Any]] = []
    for row in {row["run"]: row for row in roofs}.values():
        (x0, y0), (x1, y1) = row["line"][:2]
        across, up = x.at(x1) - x.at(x0), y.at(y0) - y.at(y1)
        if across < 1.3 * text_width(row["slope_text"]):
            continue
        near = [x.at(point["x"]) for point in (*points, *rows)]
        free = [
            share
            for share in (0.3, 0.4, 0.5, 0.6, 0.2, 0.7, 0.15, 0.8)
            if not _is_near(x.at(x0) + share * across, near)
        ]
        at = x0 * (x1 / x0) ** (free[0] if free else 0.3)
        rows.append({
            "run": row["run"], "x": at, "y": row["bandwidth"] * at, "label": row["slope_text"],
            "angle": -degrees(atan2(up, across)),
        })  # fmt: skip
    return rows


def _is_near(pixel: float, others: Sequence[float]) -> bool:
    return any(abs(pixel - other) < _CLEAR for other in others)


def _drop(index: int, phase: Phase, y: LogScale) -> Iterator[dict[str, Any]]:
    """From what a phase reaches down to its intensity."""
    if phase.intensity > 0:
        yield {"run": str(index), "phase": phase.name, "bound": phase.bound, "x": phase.intensity,
               "y": phase.flops / phase.best_s, "y2": y.low}  # fmt: skip


def _operators(index: int, phase: Phase, found: Sequence[Analysis]) -> Iterator[dict[str, Any]]:
    for one in phase.operators:
        if one.flops and one.intensity:
            yield {
                "run": str(index), "device": found[index].device.name, "phase": phase.name, "operator": one.name,
                "bound": one.bound, "x": one.intensity, "y": one.flops / one.best_s, "share": one.share,
                **_said(one),
            }  # fmt: skip


def _said(one: OperatorResult) -> dict[str, str]:
    """What a tooltip shows, in words."""
    return {
        "count": f"{one.count:,}",
        "work": scaled(one.flops, "FLOP"),
        "moved": scaled(one.bytes, "B"),
        "intensity_text": f"{figure(one.intensity or 0)} FLOP/byte",
        "rate": scaled(one.flops / one.best_s, "FLOP/s"),
        "best": duration(one.best_s),
        "share_text": percent(one.share),
    }


def _phase(index: int, phase: Phase, found: Sequence[Analysis]) -> dict[str, Any]:
    if not phase.intensity:
        return {}
    rate = phase.flops / phase.best_s
    on = f" on {found[index].device.name}" if len(found) > 1 else ""
    return {
        "run": str(index), "device": found[index].device.name, "phase": phase.name, "bound": phase.bound,
        "x": phase.intensity, "y": rate, "text": f"{phase.name}{on}: {scaled(rate, 'FLOP/s')}",
        "intensity_text": f"{figure(phase.intensity)} FLOP/byte", "rate": scaled(rate, "FLOP/s"),
        "best": duration(phase.best_s), "work": scaled(phase.flops, "FLOP"), "moved": scaled(phase.bytes.total, "B"),
    }  # fmt: skip


def _trajectory(curve: Curve | None) -> list[dict[str, Any]]:
    if curve is None:
        return []
    return [
        {"x": point.intensity, "y": point.flops / point.best_s, "value": point.value, "bound": point.bound,
         "over": curve.over, "best": duration(point.best_s)}
        for point in curve.points if point.intensity > 0
    ]  # fmt: skip
