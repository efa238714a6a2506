"""What a person is shown, apart from how it is drawn: a first line, then blocks of text and of tables."""

from typing import NamedTuple, TypeAlias


class Column(NamedTuple):
    """A column: its heading, and whether its cells line up on the right, as numbers do."""

    title: str
    right: bool = False


class Table(NamedTuple):
    """Rows of cells that are text already. Columns without titles make a table without a heading."""

    title: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[str, ...], ...]

    @property
    def has_heading(self) -> bool:
        return any(column.title for column in self.columns)


class Text(NamedTuple):
    """Lines under a title; `literal` lines are never wrapped, since their columns line up."""

    title: str
    lines: tuple[str, ...]
    literal: bool = False


Block: TypeAlias = Table | Text


class Report(NamedTuple):
    """A first line that says what a person wants to know, then the blocks behind it, in the order of interest."""

    headline: str
    blocks: tuple[Block, ...] = ()


def facts(title: str, pairs: "list[tuple[str, str]]") -> Table:
    """A table of names and values, without a heading."""
    return Table(title=title, columns=(Column(""), Column("")), rows=tuple(pairs))
