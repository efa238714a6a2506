"""Every chart that lies in the folder: compiles, in both themes and at any width; labels that cover nothing; stable."""

import importlib.util
import itertools
import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from syrupy.extensions.single_file import SingleFileSnapshotExtension, WriteMode

import mansard
from mansard.curves import curve, sizes
from mansard.errors import UnavailableError, UsageError
from mansard.results import Analysis
from mansard.views.charts._frame import text_width
from mansard.views.charts._labels import Anchor, Box, placed
from mansard.views.charts._scales import log_scale
from mansard.views.charts._theme import FONT_SIZE
from mansard.views.drawing import FORMATS, Chart, chart_names, draw

HAS_CONVERTER = importlib.util.find_spec("vl_convert") is not None
needs_converter = pytest.mark.skipif(not HAS_CONVERTER, reason="the extra charts is not installed")
ASKED: dict[str, dict[str, Any]] = {
    "dense": {"model": "llama-3.1-8b", "on": "h100-sxm"},
    "busy": {"model": "mixtral-8x7b", "on": "h200-sxm", "batch": 64, "prompt": 8000},
    "latent": {"model": "deepseek-v3", "on": "mi300x", "batch": 32},
    "count": {"model": "params=8e9", "on": "peak=990e12,bandwidth=3.35e12"},
    "single": {"model": "gpt2", "on": "h100-sxm", "output": 1},
    "eager": {"model": "llama-3.1-8b", "on": "a100-sxm-80gb", "engine": "eager", "batch": 8},
}


def analysis(name: str) -> Analysis:
    words = dict(ASKED[name])
    return mansard.analyze(words.pop("model"), on=words.pop("on"), **words)


def drawn(kind: str, name: str, **look: Any) -> Chart:
    return draw(kind, analysis(name), **look)


def test_the_eight_charts_are_there() -> None:
    expected = {"roofline", "clocks", "operators", "batch", "context", "memory", "request", "hardware"}
    assert set(chart_names()) == expected


@pytest.mark.parametrize("name", ASKED)
@pytest.mark.parametrize("kind", chart_names())
def test_every_chart_of_every_kind_of_answer(kind: str, name: str) -> None:
    spec = drawn(kind, name).spec
    assert json.loads(json.dumps(spec, allow_nan=False)) == spec  # plain data, no infinity
    assert spec["title"]["text"]
    used = {layer["name"] for layer in _data(spec)}
    assert used <= set(spec["datasets"])
    assert any(spec["datasets"][data] for data in used)


def _data(part: Any) -> list[dict[str, Any]]:
    """Every `data` of a description, however deep."""
    if isinstance(part, list):
        return [found for one in part for found in _data(one)]
    if not isinstance(part, dict):
        return []
    own = [part["data"]] if "data" in part else []
    return own + [found for name, one in part.items() if name not in ("data", "datasets") for found in _data(one)]


@needs_converter
@pytest.mark.parametrize("kind", chart_names())
@pytest.mark.parametrize(("theme", "width"), [("light", 600), ("dark", 600), ("light", 240), ("dark", 1600)])
def test_every_chart_compiles_and_is_drawn(kind: str, theme: str, width: int) -> None:
    svg = drawn(kind, "busy", theme=theme, width=width).to_svg()
    assert svg.startswith("<svg")
    assert svg.count("<path") + svg.count("<text") > 5  # marks and words
    assert "NaN" not in svg
    assert "undefined" not in svg


@pytest.mark.parametrize("kind", chart_names())
def test_axes_that_carry_a_quantity_say_its_unit(kind: str) -> None:
    titles = [axis.get("title") for axis in _axes(drawn(kind, "busy").spec)]
    named = [title for title in titles if title]
    assert named
    assert all("[" in title or "/s" in title or "FLOP/byte" in title for title in named), named


def _axes(part: Any) -> list[dict[str, Any]]:
    if isinstance(part, list):
        return [found for one in part for found in _axes(one)]
    if not isinstance(part, dict):
        return []
    own = [part["axis"]] if isinstance(part.get("axis"), dict) else []
    return own + [found for name, one in part.items() if name not in ("datasets", "config") for found in _axes(one)]


@pytest.mark.parametrize("width", [300, 600, 1200])
@pytest.mark.parametrize("name", ASKED)
def test_labels_of_a_roofline_cover_neither_each_other_nor_a_point(name: str, width: int) -> None:
    spec = drawn("roofline", name, width=width).spec
    height, ends = spec["height"], {one["name"]: one["value"] for one in spec["params"]}
    scales = {axis: (ends[f"{axis}_low"], ends[f"{axis}_high"]) for axis in ("x", "y")}
    boxes = [_label_box(row, scales, width, height) for row in spec["datasets"]["labels"]]
    for one, other in itertools.combinations(boxes, 2):
        assert not one.meets(other)
    for row in spec["datasets"]["phases"]:
        x, y = _pixels(row, scales, width, height)
        assert not any(box.left < x < box.right and box.top < y < box.bottom for box in boxes)


def _pixels(row: dict[str, Any], scales: dict[str, Any], width: int, height: int) -> tuple[float, float]:
    x = log_scale("x", [scales["x"][0], scales["x"][1]], width, room=1)
    y = log_scale("y", [scales["y"][0], scales["y"][1]], height, room=1, upwards=True)
    return x.at(row["x"]), y.at(row["y"])


def _label_box(row: dict[str, Any], scales: dict[str, Any], width: int, height: int) -> Box:
    x, y = _pixels(row, scales, width, height)
    length = text_width(row["label"])
    left = x + row["dx"] - {"left": 0, "center": length / 2, "right": length}[row["align"]]
    return Box(left, y + row["dy"] - FONT_SIZE / 2, left + length, y + row["dy"] + FONT_SIZE / 2)


def test_a_label_without_room_is_left_out_and_never_put_over_another() -> None:
    crowd = [Anchor(50, 50, 3, "a long label", {"n": n}) for n in range(40)]
    rows = placed(crowd, width=200, height=60)
    assert 0 < len(rows) < len(crowd)


def test_the_roof_is_the_device_and_points_lie_under_it() -> None:
    found = analysis("busy")
    spec = draw("roofline", found).spec
    bandwidth = found.device.memory_bandwidth.value
    dtypes = {one.dtype for phase in found.phases.values() for one in phase.operators}
    ceiling = max(found.device.peak(dtype).flops_per_s for dtype in dtypes)
    for row in spec["datasets"]["operators"]:
        assert row["y"] <= min(ceiling, bandwidth * row["x"]) * (1 + 1e-9)
    ridge = spec["datasets"]["ridges"][0]
    assert ridge["ridge"] == ridge["peak"] / bandwidth


def test_two_devices_lie_over_each_other_and_a_trajectory_runs_along_the_batch() -> None:
    both = draw("roofline", analysis("dense"), analysis("busy")).spec
    assert {row["device"] for row in both["datasets"]["roofs"]} == {"h100-sxm", "h200-sxm"}
    along = draw("roofline", analysis("dense"), along="batch").spec["datasets"]["trajectory"]
    assert [row["value"] for row in along] == sorted(row["value"] for row in along)
    assert along[0]["value"] == 1


def test_a_curve_passes_through_the_scenario_itself_and_knows_what_fits() -> None:
    found = analysis("busy")
    assert found.decode is not None
    steps = curve(found.answers, "batch")  # type: ignore[arg-type]
    here = next(point for point in steps.points if point.value == found.workload.batch)
    assert here.best_s == found.decode.best_s
    assert here.intensity == found.decode.intensity
    assert here.memory_bytes == found.memory.total_bytes
    assert steps.largest == found.memory.max_batch
    assert all(point.fits == (point.value <= (steps.largest or 0)) for point in steps.points)


def test_sizes_grow_evenly_and_name_each_once() -> None:
    assert sizes(1, 8) == [1, 2, 3, 4, 5, 6, 7, 8]
    found = sizes(1, 1024, 100)
    assert found == sorted(set(found))
    assert {1, 2, 64, 100, 1024} <= set(found)


@pytest.mark.parametrize(
    ("kind", "look", "words"),
    [
        ("rooflin", {}, "did you mean roofline"),
        ("roofline", {"theme": "blue"}, "no theme"),
        ("roofline", {"width": 10}, "240"),
        ("clocks", {"along": "batch"}, "trajectory"),
        ("roofline", {"along": "time"}, "batch or context"),
    ],
)
def test_what_cannot_be_drawn_is_said(kind: str, look: dict[str, Any], words: str) -> None:
    with pytest.raises(UsageError, match=words):
        drawn(kind, "dense", **look)


def test_a_chart_of_one_analysis_takes_no_two() -> None:
    with pytest.raises(UsageError, match="one analysis"):
        draw("clocks", analysis("dense"), analysis("busy"))
    with pytest.raises(UsageError, match="one to four"):
        draw("roofline")


@needs_converter
@pytest.mark.parametrize("form", FORMATS)
def test_every_format_is_written(form: str, tmp_path: Path) -> None:
    place = tmp_path / f"roof.{form}"
    analysis("dense").chart("roofline").save(place)
    data = place.read_bytes()
    starts = {"svg": b"<svg", "png": b"\x89PNG", "pdf": b"%PDF", "html": b"<!DOCTYPE html>", "json": b"{"}
    assert data.startswith(starts[form])
    if form == "html":  # whole and offline
        assert b"cdn" not in data
        assert b'src="http' not in data


def test_an_ending_that_is_none_and_a_folder_that_is_not_there(tmp_path: Path) -> None:
    chart = analysis("dense").chart("clocks")
    with pytest.raises(UsageError, match="bmp"):
        chart.save(tmp_path / "c.bmp")
    with pytest.raises(UsageError, match="cannot write"):
        chart.save(tmp_path / "none" / "c.json")


def test_without_the_extra_a_picture_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setitem(__import__("sys").modules, "vl_convert", None)
    chart = analysis("dense").chart()
    with pytest.raises(UnavailableError, match="extra charts"):
        chart.save(tmp_path / "roof.svg")
    chart.save(tmp_path / "roof.json")
    assert set(chart._repr_mimebundle_()) == {"application/vnd.vegalite.v6+json", "text/plain"}


@needs_converter
def test_a_notebook_gets_the_live_chart_a_picture_the_tables_and_plain_text() -> None:
    bundle = analysis("dense")._repr_mimebundle_()
    assert set(bundle) == {"application/vnd.vegalite.v6+json", "image/svg+xml", "text/html", "text/plain"}
    assert bundle["image/svg+xml"].startswith("<svg")
    assert "<table" in bundle["text/html"]


class Svg(SingleFileSnapshotExtension):
    """One SVG file for each chart, that can be looked at."""

    _write_mode = WriteMode.TEXT
    file_extension = "svg"


def _has_font() -> bool:
    """Whether the font is there that the pictures were made with: with another one, texts take other widths."""
    if shutil.which("fc-list") is None:
        return False
    return "DejaVuSans.ttf" in subprocess.run(["fc-list"], capture_output=True, text=True, check=False).stdout


@needs_converter
@pytest.mark.skipif(not _has_font(), reason="the font DejaVu Sans is not installed")
@pytest.mark.parametrize("kind", [kind for kind in chart_names() if kind != "hardware"])
def test_a_chart_looks_as_it_did(kind: str, snapshot: Any) -> None:
    assert drawn(kind, "dense").to_svg() == snapshot(extension_class=Svg, name=kind)
