"""The header of a safetensors file, and the index of a model in several; the weights themselves are never read.

The format: 8 bytes of length, a JSON object that gives each tensor's dtype, shape and place, then the data without a
gap. Source: the README of safetensors and the checks of its own reader, whose limit of 100 MB for the header is kept.
"""

import json
from collections.abc import Iterator
from math import prod
from pathlib import Path
from typing import Any, NamedTuple

from mansard.errors import Fault, printable
from mansard.inputs.tensors import LONGEST_NAME, MOST_TENSORS, Tensor, finish, opened, refuse

_LARGEST_HEADER = 100_000_000  # bytes
_LARGEST_INDEX = 32 << 20
_MOST_FILES = 2000
_WIDEST = 1 << 44
_AGAIN = "the download is not complete, or the file is damaged: fetch it again"

# Bits of one element, by the names of the format.
DTYPE_BITS: dict[str, int] = {
    "BOOL": 8, "U8": 8, "I8": 8, "F8_E4M3": 8, "F8_E5M2": 8, "F8_E8M0": 8, "F8_E4M3FNUZ": 8, "F8_E5M2FNUZ": 8,
    "I16": 16, "U16": 16, "F16": 16, "BF16": 16, "I32": 32, "U32": 32, "F32": 32, "I64": 64, "U64": 64, "F64": 64,
    "C64": 64, "F4": 4, "F6_E2M3": 6, "F6_E3M2": 6,
}  # fmt: skip

_MOST_SIGNS = {b"{": 2 * MOST_TENSORS, b"[": 3 * MOST_TENSORS, b",": 20 * MOST_TENSORS}


class Index(NamedTuple):
    """A model in several files: their names, and the bytes of all tensors if the index says so."""

    where: str
    files: tuple[str, ...]
    names: frozenset[str]
    total_bytes: int | None


def read_safetensors(path: str) -> tuple[Tensor, ...]:
    """The tensors of a safetensors file, in the order in which they lie in it.

    Raises:
        InputError: naming the file and everything that is wrong with it.
    """
    with opened(path) as (file, size):
        where = printable(path)
        if size < 8:
            refuse(where, f"has {size} bytes and no header", _AGAIN)
        length = int.from_bytes(file.read(8), "little")
        if length > _LARGEST_HEADER:
            problem = f"announces a header of {length:,} bytes; {_LARGEST_HEADER:,} are the most"
            refuse(where, problem, "is it a safetensors file?")
        if length > size - 8:
            refuse(where, f"ends too early: its header has {length:,} bytes, and {size - 8:,} are there", _AGAIN)
        entries = _object(file.read(length), where)
    entries.pop("__metadata__", None)
    return _tensors(entries, where, size - 8 - length)


def read_index(path: str) -> Index:
    """What `model.safetensors.index.json` says: the files beside it that hold the tensors.

    Raises:
        InputError: if it is bad, or names a file outside its own folder.
    """
    with opened(path) as (file, size):
        where = printable(path)
        if size > _LARGEST_INDEX:
            refuse(where, f"has {size:,} bytes; an index has at most {_LARGEST_INDEX:,}")
        document = _object(file.read(_LARGEST_INDEX + 1), where)
    placed = document.get("weight_map")
    if not isinstance(placed, dict) or not placed:
        refuse(where, "must be an object that gives each tensor's file", key="weight_map")
    files: dict[str, None] = {}
    faults: list[Fault] = []
    for name, file_name in placed.items():
        if isinstance(file_name, str) and file_name in files:
            continue
        if not _is_plain(file_name):
            problem = "must be the name of a .safetensors file in the same folder"
            faults.append(
                Fault(problem=problem, where=where, key=f"weight_map.{printable(name[:100])}", value=file_name)
            )
        else:
            files[file_name] = None
    if len(files) > _MOST_FILES or len(placed) > MOST_TENSORS:
        refuse(where, f"names {len(files):,} files and {len(placed):,} tensors, more than any model has")
    finish(faults)
    metadata = document.get("metadata")
    total = metadata.get("total_size") if isinstance(metadata, dict) else None
    is_whole = isinstance(total, (int, float)) and not isinstance(total, bool) and 0 < total < _WIDEST * 8
    return Index(where, tuple(files), frozenset(placed), int(total) if is_whole and total is not None else None)


def read_indexed(index: Index) -> tuple[Tensor, ...]:
    """The tensors of all files of an index, which must be there.

    Raises:
        InputError: if a file is bad or missing, or the files and the index do not name the same tensors.
    """
    folder = Path(index.where).parent
    found: dict[str, Tensor] = {}
    faults: list[Fault] = []
    for file_name in index.files:
        for tensor in read_safetensors(str(folder / file_name)):
            if tensor.name in found:
                problem = f"is in {printable(file_name)}, and in another file too"
                faults.append(Fault(problem=problem, where=index.where, key=printable(tensor.name[:100])))
            found[tensor.name] = tensor
    missing = sorted(index.names - found.keys())
    if missing:
        problem = f"{len(missing):,} tensors of the index are in none of its files, the first is named here"
        faults.append(Fault(problem=problem, where=index.where, key=printable(missing[0][:100])))
    if len(found) > MOST_TENSORS:
        faults.append(Fault(problem=f"has {len(found):,} tensors; {MOST_TENSORS:,} are the most", where=index.where))
    finish(faults)
    return tuple(found.values())


def _is_plain(name: object) -> bool:
    return (
        isinstance(name, str)
        and name.endswith(".safetensors")
        and len(name) <= 255
        and not any(letter in name for letter in "/\\\0:")
    )


def _object(content: bytes, where: str) -> dict[str, Any]:
    # Each costs many times its own byte once it is parsed: a header of nothing else would fill the memory.
    if any(content.count(sign) > most for sign, most in _MOST_SIGNS.items()):
        refuse(where, f"has a header of more values than {MOST_TENSORS:,} tensors need")
    try:
        document = json.loads(content.decode("utf-8"), object_pairs_hook=_unique)
    except _TwiceError as error:
        refuse(where, "is there twice", key=str(error))
    except UnicodeDecodeError as error:
        refuse(where, f"has a header that is no UTF-8 text at its byte {error.start:,}", _AGAIN)
    except RecursionError:
        refuse(where, "has a header that is nested too deeply", _AGAIN)
    except ValueError as error:
        refuse(where, f"has a header that is no valid JSON: {str(error)[:80]}", _AGAIN)
    if not isinstance(document, dict):
        refuse(where, "must have a JSON object as its header", _AGAIN)
    return document


class _TwiceError(Exception):
    """A key that an object has twice."""


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) == len(pairs):
        return found
    seen: set[str] = set()
    for key, _ in pairs:
        if key in seen:
            raise _TwiceError(key)
        seen.add(key)
    return found


def _tensors(entries: dict[str, Any], where: str, size: int) -> tuple[Tensor, ...]:
    if len(entries) > MOST_TENSORS:
        refuse(where, f"has {len(entries):,} tensors; {MOST_TENSORS:,} are the most")
    faults: list[Fault] = []
    placed = sorted(_placed(entries, where, faults), key=lambda one: one[:2])
    finish(faults)
    end = 0
    for begin, stop, tensor in placed:
        if begin != end:
            what = "begins before the end of the one before it" if begin < end else "leaves a gap before it"
            faults.append(Fault(problem=what, where=where, key=printable(tensor.name[:100])))
        end = stop
    if end != size:
        problem = f"has {size:,} bytes of data, and its tensors take {end:,}"
        faults.append(Fault(problem=problem, where=where, hint=_AGAIN))
    finish(faults)
    return tuple(tensor for _, _, tensor in placed)


def _placed(entries: dict[str, Any], where: str, faults: list[Fault]) -> Iterator[tuple[int, int, Tensor]]:
    for name, entry in entries.items():
        problem = _wrong(name, entry)
        if problem:
            faults.append(Fault(problem=problem, where=where, key=printable(name[:100])))
        else:
            begin, stop = entry["data_offsets"]
            yield begin, stop, Tensor(name, tuple(entry["shape"]), entry["dtype"], stop - begin)


def _wrong(name: str, entry: Any) -> str:
    """What is wrong with one tensor's entry; empty if nothing is."""
    if len(name) > LONGEST_NAME:
        return f"has a name of {len(name):,} letters; {LONGEST_NAME} are the most"
    if not isinstance(entry, dict) or entry.keys() != {"dtype", "shape", "data_offsets"}:
        return "must be an object of dtype, shape and data_offsets"
    bits = DTYPE_BITS.get(entry["dtype"]) if isinstance(entry["dtype"], str) else None
    if bits is None:
        return f"has the unknown dtype {str(entry['dtype'])[:40]!r}"
    shape, offsets = entry["shape"], entry["data_offsets"]
    if not _are_whole(shape) or len(shape) > 16 or prod(shape) > _WIDEST:
        return "has an impossible shape"
    if not _are_whole(offsets) or len(offsets) != 2 or offsets[0] > offsets[1]:
        return "must have two data_offsets, begin and end"
    if prod(shape) * bits != 8 * (offsets[1] - offsets[0]):
        needed = f"{prod(shape) * bits / 8:,.0f}"
        return f"takes {offsets[1] - offsets[0]:,} bytes, and its shape in {entry['dtype']} needs {needed}"
    return ""


def _are_whole(value: Any) -> bool:
    return isinstance(value, list) and all(type(one) is int and 0 <= one <= _WIDEST * 8 for one in value)
