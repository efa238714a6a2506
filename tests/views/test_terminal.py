"""A terminal shows what a pipe carries, with styles, and none where NO_COLOR says so."""

import pytest

from mansard.views.plain import to_plain
from mansard.views.report import Column, Report, Table, Text
from mansard.views.terminal import show

REPORT = Report(
    headline="[first] line",
    blocks=(
        Table(title="Numbers", columns=(Column("name"), Column("value", right=True)), rows=(("a", "1"), ("b", "22"))),
        Text(title="Notes", lines=("- with [brackets] kept",)),
    ),
)


def test_it_is_the_plain_form(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    monkeypatch.setenv("COLUMNS", "90")
    show(REPORT)
    assert capsys.readouterr().out == to_plain(REPORT, 90)
