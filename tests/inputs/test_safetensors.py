"""Safetensors headers and indexes: read as the public library writes them, refused with a reason where broken."""

import json
import time
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from safetensors.numpy import save_file

from mansard.errors import InputError
from mansard.inputs.safetensors import read_index, read_indexed, read_safetensors


def written(path: Path, header: Any, data: int = 0, length: int | None = None) -> Path:
    content = header if isinstance(header, bytes) else json.dumps(header).encode()
    with path.open("wb") as file:
        file.write((len(content) if length is None else length).to_bytes(8, "little") + content)
        file.truncate(file.tell() + data)
    return path


def entry(shape: list[Any], begin: Any, end: Any, dtype: Any = "BF16") -> dict[str, Any]:
    return {"dtype": dtype, "shape": shape, "data_offsets": [begin, end]}


def refused(path: Path) -> str:
    started = time.perf_counter()
    with pytest.raises(InputError) as error:
        read_safetensors(str(path))
    assert time.perf_counter() - started < 3
    message = str(error.value)
    assert str(path) in message
    assert len(message) < 5000
    return message


def test_a_file_of_the_public_library_is_read(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    tensors = {
        "a": np.zeros((3, 5), np.float32),
        "b": np.zeros((4,), np.float16),
        "c": np.zeros((2, 2), np.int32),
        "scalar": np.zeros((), np.float32),
        "empty": np.zeros((0, 7), np.float32),
    }
    save_file(tensors, path, metadata={"format": "pt"})
    found = {one.name: (one.shape, one.type, one.bytes) for one in read_safetensors(str(path))}
    assert found == {
        "a": ((3, 5), "F32", 60),
        "b": ((4,), "F16", 8),
        "c": ((2, 2), "I32", 16),
        "scalar": ((), "F32", 4),
        "empty": ((0, 7), "F32", 0),
    }


def test_shorter_than_a_byte_and_large_without_its_weights(tmp_path: Path) -> None:
    rows = 1 << 20
    header = {"x": entry([rows, 4096], 0, rows * 2048, "F4"), "y": entry([2], rows * 2048, rows * 2048 + 4)}
    path = written(tmp_path / "a.safetensors", header, rows * 2048 + 4)
    assert [one.bytes for one in read_safetensors(str(path))] == [rows * 2048, 4]


@pytest.mark.parametrize(
    ("header", "data", "words"),
    [
        ({"a": entry([2, 3], 0, 12)}, 11, ("11 bytes of data, and its tensors take 12",)),
        ({"a": entry([2, 3], 0, 12)}, 13, ("13 bytes of data, and its tensors take 12",)),
        ({"a": entry([2, 3], 0, 10)}, 10, ("a: takes 10 bytes, and its shape in BF16 needs 12",)),
        ({"a": entry([3], 0, 6), "b": entry([3], 4, 10)}, 10, ("b: begins before the end",)),
        ({"a": entry([3], 0, 6), "b": entry([3], 8, 14)}, 14, ("b: leaves a gap",)),
        ({"a": entry([3], 2, 8)}, 8, ("a: leaves a gap",)),
        ({"a": entry([3], 0, 6, "B17")}, 6, ("a: has the unknown dtype 'B17'",)),
        ({"a": entry([3], 0, 6, ["x"])}, 6, ("a: has the unknown dtype",)),
        ({"a": entry([-3], 0, 6)}, 6, ("a: has an impossible shape",)),
        ({"a": entry([True], 0, 2)}, 2, ("a: has an impossible shape",)),
        ({"a": entry([1.5], 0, 3)}, 3, ("a: has an impossible shape",)),
        ({"a": entry([2**60, 2**60], 0, 6)}, 6, ("a: has an impossible shape",)),
        ({"a": entry([1] * 999, 0, 2)}, 2, ("a: has an impossible shape",)),
        ({"a": entry([3], 6, 0)}, 6, ("a: must have two data_offsets",)),
        ({"a": entry([3], None, 6)}, 6, ("a: must have two data_offsets",)),
        ({"a": {"dtype": "BF16"}}, 0, ("a: must be an object of dtype, shape and data_offsets",)),
        ({"a": 3}, 0, ("a: must be an object",)),
        ({"n" * 600: entry([3], 0, 6)}, 6, ("a name of 600 letters",)),
        ([], 0, ("JSON object",)),
        (b"", 0, ("no valid JSON",)),
        (b"{", 0, ("no valid JSON",)),
        (b"\xff\xfe{}", 0, ("no UTF-8",)),
        (b'{"a":' * 100_000, 0, ("nested too deeply",)),
        (b'{"a": ' + b"9" * 5000 + b"}", 0, ("no valid JSON",)),
        (b'{"a": {}, "a": {}}', 0, ("a: is there twice",)),
        (b'{"a": [' + b"[]," * 700_000 + b"[]]}", 0, ("more values than",)),
        (b'{"a": [' + b"1," * 5_000_000 + b"1]}", 0, ("more values than",)),
    ],
)  # fmt: skip
def test_a_broken_header_says_what_is_wrong(tmp_path: Path, header: Any, data: int, words: tuple[str, ...]) -> None:
    message = refused(written(tmp_path / "a.safetensors", header, data))
    for word in words:
        assert word in message


def test_lengths_beyond_the_file_or_the_limit(tmp_path: Path) -> None:
    assert "its header has 3,000 bytes, and 2 are there" in refused(written(tmp_path / "a", b"{}", length=3000))
    assert "100,000,000 are the most" in refused(written(tmp_path / "b", b"{}", length=1 << 63))
    (tmp_path / "c").write_bytes(b"1234")
    assert "has 4 bytes and no header" in refused(tmp_path / "c")


def test_all_faults_are_told_at_once_and_no_flood_of_them(tmp_path: Path) -> None:
    header = {f"t{number}": entry([3], 0, 5) for number in range(3000)}
    message = refused(written(tmp_path / "a.safetensors", header, 5))
    assert "t19:" in message
    assert "and 2,980 more faults" in message


def index(folder: Path, document: Any) -> Path:
    path = folder / "model.safetensors.index.json"
    path.write_text(json.dumps(document))
    return path


def test_an_index_gathers_its_files(tmp_path: Path) -> None:
    save_file({"a": np.zeros(3, np.float32)}, tmp_path / "m-1.safetensors")
    save_file({"b": np.zeros(5, np.float16)}, tmp_path / "m-2.safetensors")
    weight_map = {"a": "m-1.safetensors", "b": "m-2.safetensors"}
    found = read_index(str(index(tmp_path, {"metadata": {"total_size": 22}, "weight_map": weight_map})))
    assert found.total_bytes == 22
    assert {one.name: one.bytes for one in read_indexed(found)} == {"a": 12, "b": 10}


OUTSIDE = [
    "../a.safetensors", "/etc/a.safetensors", "a\\b.safetensors", "a/b.safetensors", "..", "a.bin", "", 3, None,
    "a\0.safetensors", "c:a.safetensors", "x" * 300,
]  # fmt: skip


@pytest.mark.parametrize("name", OUTSIDE)
def test_an_index_names_nothing_outside_its_folder(tmp_path: Path, name: Any) -> None:
    with pytest.raises(InputError, match=r"weight_map\.a: must be the name of a \.safetensors file in the same folder"):
        read_index(str(index(tmp_path, {"weight_map": {"a": name}})))


@pytest.mark.parametrize("document", [{}, [], {"weight_map": []}, {"weight_map": {}}, {"weight_map": 3}, 7])
def test_an_index_without_files_is_refused(tmp_path: Path, document: Any) -> None:
    with pytest.raises(InputError, match=r"must be an object|JSON object"):
        read_index(str(index(tmp_path, document)))


def test_an_index_and_its_files_must_agree(tmp_path: Path) -> None:
    save_file({"a": np.zeros(3, np.float32)}, tmp_path / "1.safetensors")
    save_file({"a": np.zeros(3, np.float32)}, tmp_path / "2.safetensors")
    weight_map = {"a": "1.safetensors", "b": "2.safetensors"}
    found = read_index(str(index(tmp_path, {"weight_map": weight_map})))
    with pytest.raises(InputError) as error:
        read_indexed(found)
    assert "a: is in 2.safetensors, and in another file too" in str(error.value)
    assert "b: 1 tensors of the index are in none of its files" in str(error.value)
