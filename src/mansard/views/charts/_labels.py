"""Places labels beside their points so that none covers another: neither renderer of Vega-Lite does it."""

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

from mansard.views.charts._frame import text_width
from mansard.views.charts._theme import FONT_SIZE

_GAP = 5
_HEIGHT = FONT_SIZE + 3


class Box(NamedTuple):
    """A rectangle in pixels from the plot's upper left corner."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: "Box") -> bool:
        """Whether two rectangles share a point."""
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


class Anchor(NamedTuple):
    """A point that wants a label: its place and radius in pixels, the text, and the row of data it belongs to.

    others: the same label at other points, where the first has no room. rings: how far it may stand from its point, in
    heights of a line.
    """

    x: float
    y: float
    radius: float
    text: str
    row: dict[str, Any]
    others: "tuple[Anchor, ...]" = ()
    rings: int = 3


def placed(
    anchors: Sequence[Anchor], *, width: float, height: float, taken: Iterable[Box] = (), beyond: float = 0
) -> list[dict[str, Any]]:
    """The rows with `label`, `dx`, `dy` and `align`, in the order given; an anchor that finds no room has none.

    taken: rectangles that labels must keep off. beyond: pixels by which a label may leave the plot on its right.
    """
    used = list(taken)
    rows = []
    for anchor in anchors:
        for spot, dx, dy, align in _candidates(anchor):
            box = _box(spot, dx, dy, align)
            inside = box.left >= 0 and box.right <= width + beyond and box.top >= 0 and box.bottom <= height
            if inside and not any(box.meets(other) for other in used):
                used.append(box)
                rows.append({**spot.row, "label": spot.text, "dx": dx, "dy": dy, "align": align})
                break
    return rows


def _candidates(anchor: Anchor) -> Iterator[tuple[Anchor, float, float, str]]:
    """Places to try: close ones first, right before left, above before below."""
    for ring in range(anchor.rings):
        for spot in (anchor, *anchor.others):
            away = spot.radius + _GAP + ring * _HEIGHT
            yield from ((spot, away, 0, "left"), (spot, -away, 0, "right"))
            for dy in (-away - _HEIGHT / 3, away + _HEIGHT / 3):
                yield spot, 0, dy, "center"
                yield from ((spot, away * 0.7, dy * 0.7, "left"), (spot, -away * 0.7, dy * 0.7, "right"))


def _box(anchor: Anchor, dx: float, dy: float, align: str) -> Box:
    length = text_width(anchor.text)
    left = anchor.x + dx - {"left": 0.0, "center": length / 2, "right": length}[align]
    top = anchor.y + dy - _HEIGHT / 2
    return Box(left, top, left + length, top + _HEIGHT)


def mark(**extra: Any) -> dict[str, Any]:
    """The text mark that draws placed labels."""
    offsets = {name: {"expr": f"datum.{name}"} for name in ("dx", "dy", "align")}
    return {"type": "text", "baseline": "middle", **offsets, **extra}
