"""Rows of a result as CSV and as JSON lines: raw numbers in SI base units, one heading."""

from collections.abc import Iterable, Mapping
from typing import Any


def to_csv(rows: Iterable[Mapping[str, Any]]) -> str:
    """CSV with a heading of every key that occurs, in order of appearance; None is an empty cell."""
    import csv
    import io

    kept = list(rows)
    names = list(dict.fromkeys(name for row in kept for name in row))
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(names)
    writer.writerows([_cell(row.get(name)) for name in names] for row in kept)
    return text.getvalue()


def to_jsonl(rows: Iterable[Mapping[str, Any]]) -> str:
    """One JSON object a line; never NaN or Infinity."""
    import json

    return "".join(json.dumps(dict(row), allow_nan=False, ensure_ascii=False) + "\n" for row in rows)


def _cell(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return " ".join(map(str, value))
    return "" if value is None else value
