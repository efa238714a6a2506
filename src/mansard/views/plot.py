"""A roofline in characters, for a terminal: braille dots for the lines, letters for the phases."""

from math import log10

from mansard.records import Phase
from mansard.results import Analysis
from mansard.views.report import Text
from mansard.views.wording import figure, scaled

_DOTS = ((0x01, 0x08), (0x02, 0x10), (0x04, 0x20), (0x40, 0x80))  # of a braille character, by row and column
_BLANK = 0x2800
_HEIGHT = 14  # characters
_AXIS = 9  # characters left of the plot
_WIDTH = 78  # characters, which fit on any terminal


class Canvas:
    """A grid of characters that is drawn on with dots, two across and four down to each, and with letters."""

    def __init__(self, width: int, height: int) -> None:
        self.width, self.height = width, height
        self.dots = [[0] * width for _ in range(height)]
        self.letters: dict[tuple[int, int], str] = {}

    def line(self, x0: float, y0: float, x1: float, y1: float) -> None:
        """A line between two points in shares of the width and of the height, from the lower left corner."""
        steps = 4 * max(self.width, self.height)
        for step in range(steps + 1):
            share = step / steps
            self.dot(x0 + (x1 - x0) * share, y0 + (y1 - y0) * share)

    def dot(self, x: float, y: float) -> None:
        """One dot; outside of the canvas none."""
        column, row = round(x * (2 * self.width - 1)), round((1 - y) * (4 * self.height - 1))
        if 0 <= column < 2 * self.width and 0 <= row < 4 * self.height:
            self.dots[row // 4][column // 2] |= _DOTS[row % 4][column % 2]

    def write(self, x: float, y: float, text: str) -> None:
        """Letters from a point on, moved left where they would leave the canvas."""
        row = min(self.height - 1, max(0, round((1 - y) * (self.height - 1))))
        start = min(max(0, round(x * (self.width - 1))), max(0, self.width - len(text)))
        for place, letter in enumerate(text[: self.width]):
            self.letters[row, start + place] = letter

    def rows(self) -> list[str]:
        """The lines of text."""
        return [
            "".join(
                self.letters.get((row, column), chr(_BLANK + dots) if dots else " ") for column, dots in enumerate(line)
            )
            for row, line in enumerate(self.dots)
        ]


def roofline_plot(found: Analysis, width: int = _WIDTH) -> Text:
    """The roof of the main phase's dtype, with a letter for each phase: P for prefill, D for decode."""
    inner = width - _AXIS - 2
    phases = [phase for phase in found.phases.values() if phase.intensity > 0 and phase.flops > 0]
    bandwidth = found.device.memory_bandwidth.value
    peak = found.device.peak(found.main.dtype).flops_per_s
    ridge = peak / bandwidth
    low, high = _ends([ridge / 30, ridge * 10, *(phase.intensity for phase in phases)])
    bottom, top = _ends([peak * 1.5, min(peak, bandwidth * low), *map(_rate, phases)])

    def x(value: float) -> float:
        return log10(value / low) / log10(high / low)

    def y(value: float) -> float:
        return log10(value / bottom) / log10(top / bottom)

    canvas = Canvas(inner, _HEIGHT)
    canvas.line(x(low), y(bandwidth * low), x(ridge), y(peak))
    canvas.line(x(ridge), y(peak), 1, y(peak))
    canvas.write(x(ridge), y(peak) + 0.09, f"ridge {figure(ridge)}")
    for phase in phases:
        canvas.write(x(phase.intensity), y(_rate(phase)), phase.name[0].upper())
    return Text(title="Roofline", lines=tuple(_framed(canvas, (low, high), (bottom, top), phases)), literal=True)


def _rate(phase: Phase) -> float:
    return phase.flops / phase.best_s


def _ends(values: list[float]) -> tuple[float, float]:
    return min(values) / 1.3, max(values) * 1.3


def _framed(canvas: Canvas, across: tuple[float, float], up: tuple[float, float], phases: list[Phase]) -> list[str]:
    """The canvas between its axes, with a line below that says what the letters are."""
    rows = canvas.rows()
    labels = {
        0: scaled(up[1], ""),
        len(rows) // 2: scaled((up[0] * up[1]) ** 0.5, ""),
        len(rows) - 1: scaled(up[0], ""),
    }
    lines = [f"{labels.get(place, ''):>{_AXIS - 1}} │{row}".rstrip() for place, row in enumerate(rows)]
    lines.append(" " * _AXIS + "└" + "─" * canvas.width)
    left, right, middle = figure(across[0]), figure(across[1]), "FLOP/byte, against FLOP/s upwards"
    gap = canvas.width - len(left) - len(right)
    lines.append(" " * (_AXIS + 1) + left + middle.center(max(0, gap))[: max(0, gap)] + right)
    said = [
        f"{phase.name[0].upper()} {phase.name}: {figure(phase.intensity)} FLOP/byte, {scaled(_rate(phase), 'FLOP/s')}"
        for phase in phases
    ]
    return [*lines, "", *said]
