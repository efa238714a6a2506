"""Charts as files, in notebooks and as text of a page: one description, drawn by vl-convert without a browser."""

import json
import os
import re
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

from mansard.curves import SIZES, curve
from mansard.errors import UnavailableError, UsageError, did_you_mean
from mansard.inputs.device_file import usable_devices
from mansard.registry import module, names
from mansard.results import Analysis
from mansard.views.charts._theme import THEMES, WIDTH

_CHARTS = "mansard.views.charts"
_MIME = "application/vnd.vegalite.v6+json"
_VEGA_LITE = "6.4"
_SCALE = 2.0  # pixels of a PNG to one of the chart
_NARROWEST, _WIDEST = 240, 4000
_MOST_RUNS = 4
FORMATS = ("svg", "png", "pdf", "html", "json")


class Chart(NamedTuple):
    """A chart: its kind and its Vega-Lite description."""

    kind: str
    spec: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """The Vega-Lite description."""
        return self.spec

    def to_json(self, indent: int | None = 2) -> str:
        """The description as JSON text."""
        return json.dumps(self.spec, indent=indent, allow_nan=False, ensure_ascii=False)

    def to_svg(self) -> str:
        """The chart as SVG text.

        Raises:
            UnavailableError: if the extra `charts` is not installed.
        """
        return _renumbered(str(_converter().vegalite_to_svg(self.to_json(None), vl_version=_VEGA_LITE)))

    def to_bytes(self, form: str) -> bytes:
        """The chart as the contents of a file: svg, png, pdf, html (self-contained) or json.

        Raises:
            UsageError: if there is no such format.
            UnavailableError: if the extra `charts` is not installed.
        """
        text = self.to_json(None)
        if form == "json":
            return (self.to_json() + "\n").encode()
        if form == "svg":
            return (self.to_svg() + "\n").encode()
        if form == "png":
            return bytes(_converter().vegalite_to_png(text, vl_version=_VEGA_LITE, scale=_SCALE))
        if form == "pdf":
            return bytes(_converter().vegalite_to_pdf(text, vl_version=_VEGA_LITE))
        if form == "html":
            return str(_converter().vegalite_to_html(text, vl_version=_VEGA_LITE, bundle=True)).encode()
        raise UsageError(f"a chart cannot be written as {form[:20]!r}", hint=f"one of {', '.join(FORMATS)}")

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes the chart into a file, in the format of its ending.

        Raises:
            UsageError: if the ending is not known or the file cannot be written.
            UnavailableError: if the extra `charts` is not installed.
        """
        place = Path(path)
        data = self.to_bytes(place.suffix.removeprefix(".").lower())
        try:
            place.write_bytes(data)
        except OSError as bad:
            raise UsageError(f"cannot write {place}: {bad.strerror}", hint="choose another place") from bad

    def __repr__(self) -> str:
        return f"<Chart: {self.spec['description']}>"

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """What a notebook shows: the live chart, or its picture where the notebook knows no Vega-Lite."""
        bundle: dict[str, Any] = {_MIME: self.spec, "text/plain": repr(self)}
        with suppress(UnavailableError):
            bundle["image/svg+xml"] = self.to_svg()
        return bundle


def chart_names() -> tuple[str, ...]:
    """The kinds of charts."""
    return names(_CHARTS)


def draw(kind: str, *found: Analysis, theme: str = "light", width: int = WIDTH, along: str | None = None) -> Chart:
    """A chart of an analysis, of several for the roofline; `hardware` needs none and marks the devices of those given.

    width: pixels of the plot. along: "batch" or "context", for a trajectory of decode in a roofline.

    Raises:
        UsageError: if there is no such chart or theme, or the kind needs another number of analyses.
    """
    if kind not in chart_names():
        raise UsageError(f"no chart is called {kind[:60]!r}", hint=did_you_mean(kind, chart_names()) or _kinds())
    if theme not in THEMES:
        raise UsageError(f"no theme is called {theme[:60]!r}", hint=f"one of {', '.join(THEMES)}")
    if not _NARROWEST <= width <= _WIDEST:
        raise UsageError(f"a chart is between {_NARROWEST} and {_WIDEST} pixels wide, not {width}")
    if along is not None and (along not in SIZES or kind != "roofline"):
        raise UsageError("a trajectory is drawn in a roofline, along batch or context")
    look: dict[str, Any] = {"theme": theme, "width": width}
    spec = module(_CHARTS, kind).spec
    takes = module(_CHARTS, kind).OF
    if takes == "devices":
        devices = list(usable_devices())
        return Chart(kind, spec(devices, marked=[one.device.name for one in found], **look))
    if not found or len(found) > (_MOST_RUNS if takes == "analyses" else 1):
        raise UsageError(f"{kind} shows {'one to four analyses' if takes == 'analyses' else 'one analysis'}")
    if takes == "analyses":
        trajectory = None if along is None else curve(found[0].answers, along)  # type: ignore[arg-type]
        return Chart(kind, spec(*found, trajectory=trajectory, **look))
    if takes == "curve":
        return Chart(kind, spec(curve(found[0].answers, kind), **look))  # type: ignore[arg-type]
    return Chart(kind, spec(found[0], **look))


def _renumbered(svg: str) -> str:
    """The same picture whatever was drawn before: the renderer counts clip paths through the life of a process."""
    seen: dict[str, str] = {}
    return re.sub(r"\bclip\d+\b", lambda found: seen.setdefault(found[0], f"clip{len(seen)}"), svg)


def _kinds() -> str:
    return f"one of {', '.join(chart_names())}"


def _converter() -> Any:
    """vl-convert, which only pictures need."""
    try:
        import vl_convert
    except ImportError as missing:
        raise UnavailableError(
            "drawing a chart needs the extra charts",
            hint="pip install 'mansard[charts]'; the description itself needs nothing: --chart FILE.json",
        ) from missing
    return vl_convert
