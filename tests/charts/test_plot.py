"""The roofline in characters."""

import mansard
from mansard.views.plot import Canvas, roofline_plot


def test_a_plot_is_as_wide_as_asked_and_says_both_phases() -> None:
    for width in (40, 78, 120):
        lines = roofline_plot(mansard.analyze("llama-3.1-8b", on="h100-sxm", batch=32), width).lines
        assert max(map(len, lines[:-3])) <= width
        text = "\n".join(lines)
        assert "ridge 295.3" in text
        assert "P prefill" in text
        assert "D decode" in text


def test_a_line_is_drawn_in_dots_from_corner_to_corner() -> None:
    canvas = Canvas(4, 2)
    canvas.line(0, 0, 1, 1)
    rows = canvas.rows()
    assert ord(rows[0][-1]) & 0x08 + 0x2800  # the upper right dot of the upper right character
    assert ord(rows[1][0]) & 0x40  # the lower left dot of the lower left one
    assert rows[0][0] == rows[1][-1] == " "


def test_letters_stay_inside() -> None:
    canvas = Canvas(6, 1)
    canvas.write(1, 0.5, "long")
    assert canvas.rows() == ["  long"]
