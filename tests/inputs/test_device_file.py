"""Devices of one's own: a file, or numbers in a word; what is wrong with them is said at once."""

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import mansard
from mansard.errors import InputError, MansardError, UnavailableError, UsageError
from mansard.inputs.device_file import device_names, load_device

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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("aliases = 3\n" + MINIMAL, ("aliases", "list of strings")),
        ("ambiguous = [3]\n" + MINIMAL, ("ambiguous", "list of strings")),
        ("name = ''\n" + MINIMAL, ("name", "printed")),
        ("x = " + "9" * 5000 + "\n" + MINIMAL, ("no valid TOML",)),
        ("[peaks]\n[memory]\nbandwidth = 1e12\n", ("peaks", "at least one")),
        (MINIMAL + "bytes = 0.5\n", ("memory.bytes", "number of bytes")),
        (MINIMAL + "[facts]\ntdp_w = 0\n", ("facts.tdp_w", "positive")),
        (MINIMAL + "[sources.s1]\ntitel = 'x'\n", ("sources.s1.titel", "did you mean title")),
        (MINIMAL.replace("200e12", "{ value = 2e14, confidnce = 'vendor' }"), ("did you mean confidence",)),
        (MINIMAL.replace("200e12", "{ value = 2e14, source = 's9' }"), ("peaks.bf16.source", "among the sources")),
    ],
)
def test_a_fault_names_its_key(tmp_path: Path, text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(InputError) as error:
        load_device(written(tmp_path, text))
    for word in words:
        assert word in str(error.value)


def test_a_fault_is_told_once(tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        load_device(written(tmp_path, "peaks = 3\nname = 1\n[memory]\nbandwidth = 1e12\n"))
    assert len(set(error.value.faults)) == len(error.value.faults)


def test_a_file_may_begin_with_a_byte_order_mark(tmp_path: Path) -> None:
    assert load_device(written(tmp_path, "\ufeff" + MINIMAL)).peak("bf16").flops_per_s == 200e12


def private(folder: Path, name: str, text: str) -> None:
    (folder / "devices").mkdir(exist_ok=True)
    (folder / "devices" / f"{name}.toml").write_text(text)


@pytest.mark.parametrize("variable", ["MANSARD_PATH", "XDG_DATA_HOME"])
def test_private_devices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, variable: str) -> None:
    monkeypatch.setenv(variable, str(tmp_path))
    folder = tmp_path if variable == "MANSARD_PATH" else tmp_path / "mansard"
    folder.mkdir(exist_ok=True)
    private(folder, "our-card", 'aliases = ["Our Own Card"]\n' + MINIMAL)
    assert "our-card" in device_names()
    assert load_device("our-card").name == load_device("our_own-card").name == "our-card"


@pytest.mark.parametrize("head", ["aliases = 3", "ambiguous = 3", "aliases = [3]", "colour = 1", "x = " + "9" * 5000])
def test_a_bad_private_file_hides_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, head: str) -> None:
    monkeypatch.setenv("MANSARD_PATH", str(tmp_path))
    private(tmp_path, "broken", f"{head}\n{MINIMAL}")
    assert load_device("H100 SXM").name == "h100-sxm"
    with pytest.raises(UsageError, match="no device is called"):
        load_device("h1000")
    with pytest.raises(InputError, match=r"broken\.toml"):
        load_device("broken")


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
        ("peak=1e12,peak=2e12,bandwidth=1e12", ("peak is given twice",)),
        ("peak=1e12,bandwidth=3,35TB/s", ("35TB/s",)),
        ("peak=1e12,bandwith=1e12", ("bandwith", "bandwidth")),
        ("peak=1e12,bandwidth=3.35TB", ("no unit of byte/s",)),
        ("peak=1e12,bandwidth=0", ("more than 0",)),
        ("peak=-1,bandwidth=1e12", ("is negative",)),
        ("peak=inf,bandwidth=nan", ("peak", "bandwidth")),
        ("h1000", ("no device is called", "did you mean")),
    ],
)
def test_a_wrong_word(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(UsageError) as error:
        load_device(text)
    for word in words:
        assert word in str(error.value)


def test_spaces_around_the_numbers_of_a_word() -> None:
    assert load_device("peak = 1e12, bandwidth = 3TB/s").memory_bandwidth.value == 3e12


def test_vector_units_are_unknown_unless_given() -> None:
    assert load_device("peak=1e12,bandwidth=1e12").vector_peak is None
    vector = load_device("peak=1e12,bandwidth=1e12,vector=2e11").vector_peak
    assert vector is not None
    assert vector.value == 2e11


def test_this_machine_needs_a_measurement() -> None:
    for text in ("this", "This"):
        with pytest.raises(UnavailableError):
            load_device(text)


def test_a_device_without_a_known_bandwidth_is_refused() -> None:
    with pytest.raises(UsageError, match="mlu590"):
        mansard.analyze("llama-3.1-8b", on="mlu590")
    with pytest.raises(UsageError, match="bandwidth of mlu590 is not known"):
        load_device("mlu590").memory_bandwidth  # noqa: B018


leaves = st.one_of(st.floats(), st.integers(), st.text(max_size=4), st.booleans())
keys = st.sampled_from(["value", "confidence", "bf16", "x"])


@given(st.recursive(leaves, lambda inner: st.dictionaries(keys, inner, max_size=3), max_leaves=5))
def test_any_value_in_a_file_is_read_or_refused(value: Any) -> None:
    from mansard.inputs.device_file import _Reader

    reader = _Reader(
        {
            "peaks": {"bf16": value},
            "memory": {"bandwidth": value},
            "sources": value,
            "title": value,
            "name": value,
            "aliases": value,
        },
        "x.toml",
    )
    reader.check()
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
