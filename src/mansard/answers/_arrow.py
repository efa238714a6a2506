"""An answer's rows as an Arrow stream, which polars, pandas, duckdb and pyarrow read without a copy of their own."""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from mansard.errors import UnavailableError


def arrow_stream(rows: Iterable[Mapping[str, Any]], requested_schema: object = None) -> object:
    """The PyCapsule of an Arrow C stream: one batch, a column for each key in order of appearance.

    Numbers keep their kind, a column of whole and other numbers is float64; lists and objects are JSON text.

    Raises:
        UnavailableError: if the extra `arrow` is not installed.
    """
    try:
        import nanoarrow  # type: ignore[import-untyped]
    except ImportError as missing:
        raise UnavailableError(
            "a table for Arrow needs the extra arrow", hint="pip install 'mansard[arrow]'"
        ) from missing
    kept = list(rows)
    names = list(dict.fromkeys(name for row in kept for name in row))
    columns = {name: _column([row.get(name) for row in kept]) for name in names}
    types = {name: getattr(nanoarrow, kind)() for name, (kind, _) in columns.items()}
    children = [nanoarrow.c_array(values, types[name]) for name, (_, values) in columns.items()]
    table = nanoarrow.c_array_from_buffers(nanoarrow.struct(types), len(kept), [None], children=children)
    return nanoarrow.c_array_stream(table).__arrow_c_stream__(requested_schema)


def _column(values: Sequence[Any]) -> tuple[str, list[Any]]:
    """The name of a column's Arrow type, and its values in it."""
    there = [value for value in values if value is not None]
    if all(isinstance(value, bool) for value in there) and there:
        return "bool_", list(values)
    if all(isinstance(value, int) for value in there) and there:
        return "int64", list(values)
    if all(isinstance(value, (int, float)) for value in there) and there:
        return "float64", [None if value is None else float(value) for value in values]
    return "string", [value if value is None or isinstance(value, str) else _text(value) for value in values]


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
