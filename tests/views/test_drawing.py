"""One report, drawn as plain text, Markdown and HTML."""

import csv
import io
import json

from mansard.views.markup import to_html, to_markdown
from mansard.views.plain import to_plain
from mansard.views.report import Column, Report, Table, Text
from mansard.views.rows import to_csv, to_jsonl

ROWS = (("a|b", "1", "short"), ("long name", "12,345", "words " * 40))
REPORT = Report(
    headline="what a person wants to know",
    blocks=(
        Table(title="Numbers", columns=(Column("name"), Column("value", right=True), Column("why")), rows=ROWS),
        Text(title="Notes", lines=("- <b> & more",)),
    ),
)


def test_plain_lines_keep_to_the_width_and_carry_no_trailing_space() -> None:
    for width in (60, 80, 100):
        lines = to_plain(REPORT, width).splitlines()
        assert max(map(len, lines)) <= width
        assert all(line == line.rstrip() for line in lines)


def test_plain_numbers_line_up_on_the_right() -> None:
    lines = to_plain(REPORT, 100).splitlines()
    one = next(line for line in lines if "a|b" in line)
    other = next(line for line in lines if "long name" in line)
    assert one.index("1") == other.index("12,345") + len("12,345") - 1


def test_plain_loses_no_word() -> None:
    assert to_plain(REPORT, 60).count("words") == 40


def test_markdown_escapes_its_own_signs() -> None:
    text = to_markdown(REPORT)
    assert "a\\|b" in text
    assert "| --- | ---: | --- |" in text


def test_html_escapes_and_is_a_whole_page() -> None:
    text = to_html(REPORT)
    assert text.startswith("<!doctype html>")
    assert "&lt;b&gt; &amp; more" in text
    assert "<b>" not in text


def test_rows_have_one_heading_whatever_keys_they_have() -> None:
    rows = [{"a": 1, "b": None}, {"a": 2, "c": "x,y"}]
    assert list(csv.DictReader(io.StringIO(to_csv(rows)))) == [
        {"a": "1", "b": "", "c": ""},
        {"a": "2", "b": "", "c": "x,y"},
    ]
    assert [json.loads(line) for line in to_jsonl(rows).splitlines()] == rows
