"""Devices of one's own: a file, or numbers in a word; what is wrong with them is said at once."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mansard
from mansard.errors import InputError, MansardError, UnavailableError, UsageError
from mansard.inputs.device_file import load_device

MINIMAL = "[peaks]\nbf16 = 200e12\n[memory]\nbandwidth = 1.2e12\n"


def written(folder: Path, text: str) -> str:
    path = folder / "card.toml"
    path.write_text(text)
    return str(path)


def test_a_minimal_file(tmp_path: Path) -> None:
    device = load_device(written(tmp_path, MINIMAL))
    assert device.name == "card"
    assert device.peak("bf16").flops_per_s == 200e12
    assert device.memory_bytes is None
    found = mansard.analyze("llama-3.1-8b", on=device)
    assert found.memory.fits is None
    assert {"no-memory-size", "no-vector-peak"} <= {note.code for note in found.notes}


def test_all_faults_of_a_file_at_once(tmp_path: Path) -> None:
    text = "colour = 1\n[peaks]\nbf61 = 1e12\nfp8 = -3\n[memory]\nbandwith = inf\n"
    with pytest.raises(InputError) as error:
        load_device(written(tmp_path, text))
    message = str(error.value)
    for word in ("colour", "peaks.bf61", "did you mean bf16", "peaks.fp8", "memory.bandwith", "did you mean bandwidth"):
        assert word in message
    assert error.value.exit_code == 3


@pytest.mark.parametrize("text", ["[peaks", "peaks = 3", "\x00", "[memory]\nbandwidth = nan\n", "a" * (2 << 20)])
def test_a_broken_file(tmp_path: Path, text: str) -> None:
    with pytest.raises(InputError):
        load_device(written(tmp_path, text))


def test_numbers_in_a_word() -> None:
    device = load_device("peak=989.4TFLOP/s,bandwidth=3.35TB/s,memory=80GiB,fp8=1979e12")
    assert device.peak("bf16").flops_per_s == 989.4e12
    assert device.peak("fp8").flops_per_s == 1979e12
    assert device.memory_bandwidth.value == 3.35e12
    assert device.memory_bytes == 80 * 2**30
    assert "given-peak" in {note.code for note in device.notes}


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("peak=1e12", ("needs a bandwidth",)),
        ("peak=1e12,bandwith=1e12", ("bandwith", "bandwidth")),
        ("peak=1e12,bandwidth=3.35TB", ("no unit of byte/s",)),
        ("peak=1e12,bandwidth=0", ("more than 0",)),
        ("peak=-1,bandwidth=1e12", ("no quantity",)),
        ("peak=inf,bandwidth=nan", ("peak", "bandwidth")),
        ("h1000", ("no device is called", "did you mean")),
    ],
)
def test_a_wrong_word(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as error:
        load_device(text)
    for word in words:
        assert word in str(error.value)


def test_this_machine_needs_a_measurement() -> None:
    with pytest.raises(UnavailableError):
        load_device("this")


def test_a_device_without_a_known_bandwidth_is_refused() -> None:
    with pytest.raises(UsageError, match="mlu590"):
        mansard.analyze("llama-3.1-8b", on="mlu590")
    with pytest.raises(UsageError, match="bandwidth of mlu590 is not known"):
        load_device("mlu590").memory_bandwidth_bytes_per_s  # noqa: B018


leaves = st.one_of(st.floats(), st.integers(), st.text(max_size=4), st.booleans())
keys = st.sampled_from(["value", "confidence", "bf16", "x"])


@given(st.recursive(leaves, lambda inner: st.dictionaries(keys, inner, max_size=3), max_leaves=5))
def test_any_value_in_a_file_is_read_or_refused(value: Any) -> None:
    from mansard.inputs.device_file import _Reader

    reader = _Reader(
        {"peaks": {"bf16": value}, "memory": {"bandwidth": value}, "sources": value, "title": value}, "x.toml"
    )
    reader.check_keys()
    try:
        reader.device("x")
    except MansardError:
        return


@given(st.text(max_size=30))
def test_any_word_is_a_device_or_a_clear_error(text: str) -> None:
    try:
        load_device(text)
    except MansardError as error:
        assert str(error)
