"""Quantities as people write them, read exactly."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mansard.errors import UsageError
from mansard.units import parse_quantity


@pytest.mark.parametrize(
    ("text", "unit", "value"),
    [
        ("3.35TB/s", "byte/s", 3_350_000_000_000),
        ("989.4TFLOP/s", "FLOP/s", 989_400_000_000_000),
        ("80GiB", "byte", 80 * 2**30),
        ("80 GB", "byte", 80 * 10**9),
        ("500ms", "s", 0.5),
        ("20/s", "1/s", 20),
        ("4k", "token", 4000),
        ("4Ki", "token", 4096),
        ("990e12", "FLOP/s", 990 * 10**12),
        ("1_000", "token", 1000),
        ("0.1", "", 0.1),
        ("4,096", "token", 4096),
        ("81559MiB", "byte", 81_559 * 2**20),  # as nvidia-smi writes it
        ("1μs", "s", 1e-6),
    ],
)
def test_read(text: str, unit: str, value: float) -> None:
    found = parse_quantity(text, unit)
    assert found == value
    assert isinstance(found, int) is isinstance(value, int)


@pytest.mark.parametrize(
    ("text", "unit"),
    [
        ("80GB", "byte/s"),
        ("80gb", "byte"),
        ("80Gb", "byte"),
        ("3TB/S", "byte/s"),
        ("3,35TB/s", "byte/s"),
        ("1,5", "s"),
        ("1,,000", "token"),
        ("nan", "s"),
        ("inf", "s"),
        ("-1", "s"),
        ("1e999", "byte"),
        ("1e999999999", "byte"),
        ("", "s"),
        ("ms", "s"),
        ("1 2", "s"),
        ("9" * 500, "byte"),
    ],
)
def test_refused(text: str, unit: str) -> None:
    with pytest.raises(UsageError):
        parse_quantity(text, unit)


@pytest.mark.parametrize(
    ("text", "unit", "meant"),
    [("80gb", "byte", "GB"), ("80Gb", "byte", "b is a bit"), ("3tb/s", "byte/s", "TB/s"), ("4K", "token", "mean k?")],
)
def test_the_case_trap_says_what_may_be_meant(text: str, unit: str, meant: str) -> None:
    with pytest.raises(UsageError) as error:
        parse_quantity(text, unit)
    assert meant in error.value.hint


@given(st.integers(0, 10**24))
def test_whole_numbers_come_back(value: int) -> None:
    assert parse_quantity(str(value), "byte") == value


@given(st.integers(1, 10**6), st.sampled_from(["k", "M", "G", "T"]))
def test_prefixes_are_exact(value: int, prefix: str) -> None:
    assert (
        parse_quantity(f"{value}{prefix}B", "byte") == value * {"k": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}[prefix]
    )
