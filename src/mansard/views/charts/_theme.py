"""How charts look, light and dark: colours that colour-blind readers tell apart (Okabe and Ito), sizes, fonts."""

from typing import Any, Literal, NamedTuple

Theme = Literal["light", "dark"]
THEMES: tuple[Theme, ...] = ("light", "dark")

FONT = "DejaVu Sans, Verdana, sans-serif"
FONT_SIZE = 11
WIDTH = 600
SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"

BOUNDS = ("memory", "compute", "network", "overhead")


class Palette(NamedTuple):
    """The colours of one theme."""

    background: str
    ink: str
    faint: str
    grid: str
    bounds: tuple[str, ...]  # memory, compute, network, overhead
    series: tuple[str, ...]  # what has no bound: parts of the memory, devices


PALETTES: dict[Theme, Palette] = {
    "light": Palette(
        background="#ffffff", ink="#1a1a1a", faint="#5c5c5c", grid="#e4e4e4",
        bounds=("#0072b2", "#d55e00", "#009e73", "#a0527f"),
        series=("#0072b2", "#d55e00", "#009e73", "#a0527f", "#b8860b", "#5c5c5c"),
    ),
    "dark": Palette(
        background="#14161a", ink="#f0f0f0", faint="#a8a8a8", grid="#33373d",
        bounds=("#56b4e9", "#e69f00", "#2fc49a", "#e091bd"),
        series=("#56b4e9", "#e69f00", "#2fc49a", "#e091bd", "#f0e442", "#a8a8a8"),
    ),
}  # fmt: skip


def config(theme: Theme) -> dict[str, Any]:
    """The `config` block of a description."""
    palette = PALETTES[theme]
    text = {"labelFont": FONT, "titleFont": FONT, "labelFontSize": FONT_SIZE, "titleFontSize": FONT_SIZE + 1}
    lines = {"domainColor": palette.faint, "tickColor": palette.faint, "gridColor": palette.grid}
    return {
        "background": palette.background,
        "font": FONT,
        "view": {"stroke": palette.grid},
        "axis": {**text, **lines, "labelColor": palette.ink, "titleColor": palette.ink, "titleFontWeight": "normal",
                 "titlePadding": 8, "labelLimit": 260},
        "legend": {**text, "labelColor": palette.ink, "titleColor": palette.ink, "titleFontWeight": "normal",
                   "orient": "bottom", "direction": "horizontal", "titleOrient": "left", "symbolOpacity": 1,
                   "symbolBaseFillColor": palette.ink, "symbolBaseStrokeColor": palette.ink, "offset": 6},
        "title": {"font": FONT, "fontSize": FONT_SIZE + 3, "color": palette.ink, "anchor": "start", "offset": 10,
                  "subtitleFont": FONT, "subtitleFontSize": FONT_SIZE, "subtitleColor": palette.faint, "limit": 1200},
        "header": {**text, "labelColor": palette.ink, "titleColor": palette.ink, "labelPadding": 2},
        "text": {"font": FONT, "fontSize": FONT_SIZE, "color": palette.ink},
    }  # fmt: skip


def bound_scale(theme: Theme) -> dict[str, Any]:
    """Colours by what binds."""
    return {"domain": list(BOUNDS), "range": list(PALETTES[theme].bounds)}
