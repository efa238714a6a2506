"""Rows go to polars, pandas, duckdb and pyarrow through Arrow's own interface."""

from typing import Any

import pytest

import mansard

pytest.importorskip("nanoarrow", reason="the extra arrow is not installed")


@pytest.fixture(scope="module")
def found() -> Any:
    return mansard.analyze("mixtral-8x7b", on="h200-sxm", batch=8)


def expected(found: Any) -> list[tuple[str, str, float]]:
    return [(name, one.name, one.best_s) for name, phase in found.phases.items() for one in phase.operators]


def test_pyarrow(found: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    table = pyarrow.table(found)
    rows = zip(*(table[name].to_pylist() for name in ("phase", "name", "best_s")), strict=True)
    assert list(rows) == expected(found)
    assert str(table.schema.field("count").type) == "int64"


def test_polars(found: Any) -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(found)
    assert frame.select("phase", "name", "best_s").rows() == expected(found)
    assert frame["share"].sum() == pytest.approx(len(found.phases))


def test_pandas(found: Any) -> None:
    pyarrow = pytest.importorskip("pyarrow")
    pytest.importorskip("pandas")
    frame = pyarrow.table(found).to_pandas()
    assert list(frame[["phase", "name", "best_s"]].itertuples(index=False, name=None)) == expected(found)


def test_duckdb(found: Any) -> None:
    duckdb = pytest.importorskip("duckdb")
    operators = found
    assert operators is found  # duckdb finds it by its name
    rows = duckdb.sql("select phase, name, best_s from operators").fetchall()
    assert rows == expected(found)


def test_a_list_with_gaps_and_words() -> None:
    polars = pytest.importorskip("polars")
    frame = polars.DataFrame(mansard.list("devices"))
    names = mansard.device_names()
    assert set(frame["name"]) == set(names)
    assert frame["memory_bytes"].null_count() == sum(mansard.load_device(name).memory_bytes is None for name in names)
    assert polars.DataFrame(mansard.cite("h100-sxm"))["states"].dtype == polars.String
