"""GGUF headers: read as the public library writes them, and refused with a reason where they are broken."""

import struct
import time
from pathlib import Path
from typing import Any

import gguf
import numpy as np
import pytest

from gguf_bytes import header, sparse, tensor, text, value
from mansard.errors import InputError
from mansard.inputs.ggml import TENSOR_TYPES
from mansard.inputs.gguf import Length, read_gguf
from mansard.inputs.gguf_files import read_gguf_model

F32, F16, Q4_K = 0, 1, 12


def refused(path: Path) -> str:
    started = time.perf_counter()
    with pytest.raises(InputError) as error:
        read_gguf_model(str(path))
    assert time.perf_counter() - started < 2
    message = str(error.value)
    assert str(path.parent) in message
    assert len(message) < 5000
    return message


def test_every_type_has_the_block_of_the_public_library() -> None:
    for number, kind in TENSOR_TYPES.items():
        public = gguf.GGMLQuantizationType(number)
        assert (public.name, gguf.GGML_QUANT_SIZES[public]) == (kind.name, (kind.block, kind.block_bytes))
    # Q8_1 holds products on their way, no weights.
    assert {kind.name for kind in gguf.GGMLQuantizationType} - {kind.name for kind in TENSOR_TYPES.values()} == {"Q8_1"}


@pytest.mark.parametrize("order", [gguf.GGUFEndian.LITTLE, gguf.GGUFEndian.BIG])
def test_a_file_of_the_public_library_is_read(tmp_path: Path, order: gguf.GGUFEndian) -> None:
    path = tmp_path / "model.gguf"
    writer = gguf.GGUFWriter(path, "llama", endianess=order)
    writer.add_context_length(4096)
    writer.add_string("general.name", "a name")
    writer.add_array("tokenizer.ggml.tokens", [f"<{number}>" for number in range(300)])
    writer.add_array("llama.feed_forward_length", [64, 128])
    writer.add_bool("llama.flag", True)
    writer.add_array("nested", [[1, 2], [3]])
    writer.add_tensor("token_embd.weight", np.zeros((300, 64), dtype=np.float16))
    packed = np.zeros((64, 2 * 144), dtype=np.uint8)  # 64 rows of 2 blocks of 256
    writer.add_tensor("blk.0.ffn_up.weight", packed, raw_dtype=gguf.GGMLQuantizationType.Q4_K)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    found = read_gguf(str(path))
    assert found.version == 3
    assert found.metadata["llama.context_length"] == 4096
    assert found.metadata["general.name"] == "a name"
    assert found.metadata["llama.feed_forward_length"] == [64, 128]
    assert found.metadata["llama.flag"] is True
    assert found.metadata["tokenizer.ggml.tokens"] == Length(300)
    assert [tuple(one) for one in found.tensors] == [
        ("token_embd.weight", (64, 300), "F16", 300 * 64 * 2),
        ("blk.0.ffn_up.weight", (512, 64), "Q4_K", 64 * 2 * 144),
    ]


@pytest.mark.parametrize("version", [2, 3])
def test_both_versions_and_a_large_sparse_file_are_read_without_its_weights(tmp_path: Path, version: int) -> None:
    rows = 1 << 20
    head = header([], [tensor("a", (4096, rows), Q4_K, 0)], version=version)
    path = sparse(tmp_path / "a.gguf", head, 4096 * rows // 256 * 144)
    started = time.perf_counter()
    found = read_gguf(str(path))
    assert found.tensors[0].bytes == 4096 * rows // 256 * 144
    assert time.perf_counter() - started < 1


def test_a_vocabulary_is_passed_over_quickly(tmp_path: Path) -> None:
    tokens = struct.pack("<IIQ", 9, 8, 300_000) + text("token") * 300_000
    path = sparse(tmp_path / "a.gguf", header([("tokenizer.ggml.tokens", tokens), ("a", 1)], []), 0)
    started = time.perf_counter()
    assert read_gguf(str(path)).metadata == {"tokenizer.ggml.tokens": Length(300_000), "a": 1}
    assert time.perf_counter() - started < 2


GOOD = [tensor("a", (64,), F32, 0), tensor("b", (64,), F32, 256)]
LONG = 1 << 62


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", ("ends too early",)),
        (b"GG", ("ends too early",)),
        (b"\x80\x02pickle", ("no GGUF file",)),
        (b"tjgg" + bytes(100), ("no GGUF file", "converted again")),
        (b"version https://git-lfs.github.com/spec/v1\n", ("git-LFS pointer", "git lfs pull")),
        (header([], [], version=1), ("version 1", "convert the model again")),
        (header([], [], version=4), ("version 4",)),
        (header([], [], version=0), ("version 0",)),
        (header([], [], num_tensors=1_000_000), ("1,000,000 tensors",)),
        (header([], [], num_tensors=LONG), ("tensors",)),
        (header([], [], num_keys=LONG), ("keys",)),
        (header([], [], num_tensors=1), ("ends too early",)),
        (header([("a", 1), ("a", 2)], []), ("a: is there twice",)),
        (header([("a", struct.pack("<I", 13))], []), ("a: has a value of the unknown type 13",)),
        (header([("a", struct.pack("<IQ", 8, LONG))], []), ("ends too early",)),
        (header([("a", struct.pack("<IIQ", 9, 8, LONG))], []), ("strings",)),
        (header([("a", struct.pack("<IIQ", 9, 4, LONG))], []), ("ends too early",)),
        (header([("a", struct.pack("<IIQ", 9, 8, 1000))], []), ("ends too early",)),
        (header([("a", struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 50)], []), ("arrays within arrays",)),
        (header([("a" * 5000, 1)], []), ("a key of the metadata of 5,000 bytes",)),
        (header([], [struct.pack("<Q", LONG)], num_tensors=1), ("a tensor's name",)),
        (header([], [tensor("n" * 600, (32,), F32, 0)]), ("a tensor's name of 600 bytes",)),
        (header([], [tensor(b"\xff\xfe", (32,), F32, 0)]), ("no UTF-8",)),
        (header([], [tensor("a", (32,) * 5, F32, 0)]), ("a: has 5 dimensions",)),
        (header([], [text("a") + struct.pack("<I", 1 << 31)], num_tensors=1), ("dimensions",)),
        (header([], [tensor("a", (32,), 99, 0)]), ("a: is of the unknown type 99",)),
        (header([], [tensor("a", (32,), 4, 0)]), ("a: is of the type Q4_2",)),
        (header([], [tensor("a", (0, 5), F32, 0)]), ("a: has an impossible shape",)),
        (header([], [tensor("a", (1 << 60, 1 << 60), F32, 0)]), ("a: has an impossible shape",)),
        (header([], [tensor("a", (128, 2), Q4_K, 0)]), ("rows of 128, no multiple of the 256 of Q4_K",)),
        (header([], [GOOD[0], tensor("a", (64,), F32, 256)]), ("a: is there twice",)),
        (header([], [GOOD[0], tensor("b", (64,), F32, 128)]), ("b: begins before the end of a",)),
        (header([], [tensor("a", (64,), F32, 8)]), ("a: begins at 8, no multiple of 32",)),
        (header([], [tensor("a", (64,), F32, LONG)]), ("a: ends at byte", "not complete")),
        (header([], [tensor("a", (1 << 20,), F32, 0)]), ("a: ends at byte", "not complete")),
        (header([("general.alignment", 0)], GOOD), ("general.alignment: must be a power of two",)),
        (header([("general.alignment", 48)], GOOD), ("general.alignment: must be a power of two",)),
        (header([("general.alignment", "x")], GOOD), ("general.alignment: must be a power of two",)),
        (header([("split.count", 5000)], GOOD), ("split.count: says that it has 5,000 parts",)),
        (header([("split.count", 2)], GOOD), ("one of 2 parts", "-00001-of-00002.gguf")),
    ],
)  # fmt: skip
def test_a_broken_file_says_what_is_wrong(tmp_path: Path, content: bytes, words: tuple[str, ...]) -> None:
    path = tmp_path / "broken.gguf"
    if content[:4] == b"GGUF" and len(content) > 24:
        sparse(path, content, 512)
    else:
        path.write_bytes(content)
    message = refused(path)
    for word in words:
        assert word in message


def test_a_file_that_is_cut_anywhere_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "cut.gguf"
    content = header([("a", 1), ("b", "text"), ("c", ["x", "y"])], GOOD)
    for length in range(len(content)):
        path.write_bytes(content[:length])
        assert "ends too early" in refused(path)
    path.write_bytes(content)
    assert "ends at byte" in refused(path)


def test_all_faults_of_tensors_are_told_at_once_and_no_flood_of_them(tmp_path: Path) -> None:
    bad = [tensor(f"t{number}", (1, 2), Q4_K, 0) for number in range(5000)]
    message = refused(sparse(tmp_path / "a.gguf", header([], bad), 0))
    assert "t0:" in message
    assert "t19:" in message
    assert "and 4,980 more faults" in message


def test_what_is_no_file_is_refused(tmp_path: Path) -> None:
    assert "cannot be read" in refused(tmp_path / "absent.gguf")
    (tmp_path / "folder.gguf").mkdir()
    assert "cannot be read" in refused(tmp_path / "folder.gguf")


def part(number: int, count: int, names: list[str], **more: Any) -> bytes:
    keys = [("split.no", number), ("split.count", count), ("general.architecture", "llama")]
    tensors = [tensor(name, (64,), F32, 256 * place) for place, name in enumerate(names)]
    return header([*keys, *more.items()], tensors)


def write_parts(folder: Path, contents: list[bytes], count: int | None = None) -> Path:
    for number, content in enumerate(contents, 1):
        sparse(folder / f"m-{number:05d}-of-{count or len(contents):05d}.gguf", content, 512)
    return folder / f"m-00002-of-{count or len(contents):05d}.gguf"


def test_parts_are_found_beside_any_of_them(tmp_path: Path) -> None:
    any_part = write_parts(tmp_path, [part(0, 2, ["a", "b"], **{"split.tensors.count": 3}), part(1, 2, ["c"])])
    found = read_gguf_model(str(any_part))
    assert [one.name for one in found.tensors] == ["a", "b", "c"]
    assert found.metadata["general.architecture"] == "llama"
    assert found.where.endswith("m-00001-of-00002.gguf")


def test_parts_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    any_part = write_parts(tmp_path, [part(0, 2, ["a"], **{"split.tensors.count": 3}), part(0, 2, ["a"])])
    message = refused(any_part)
    assert "split.no: says that it is part 1 of 2, and its name says 2 of 2" in message
    assert "1 tensors that another part has too" in message
    assert "split.tensors.count: says 3 tensors, and the parts have 2" in message


def test_missing_parts_are_named(tmp_path: Path) -> None:
    any_part = write_parts(tmp_path, [part(0, 4, ["a"]), part(1, 4, ["b"])], count=4)
    message = refused(any_part)
    assert "m-00003-of-00004.gguf: is missing" in message
    assert "m-00004-of-00004.gguf: is missing" in message


def test_values_are_written_as_the_test_means_them() -> None:
    assert value(True) == struct.pack("<I?", 7, True)
    assert value([1, 2]) == struct.pack("<IIQII", 9, 4, 2, 1, 2)
