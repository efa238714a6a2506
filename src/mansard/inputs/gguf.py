"""The header of a GGUF file: its metadata and what it says of its tensors; the weights themselves are never read.

The layout is that of the format's specification (docs/gguf.md of ggml), versions 2 and 3, of either byte order. Nothing
that the file states is believed: counts and lengths are held against bounds and against the size of the file.
"""

from math import prod
from struct import calcsize
from typing import Any, NamedTuple

from mansard.errors import Fault, printable
from mansard.inputs.cursor import Cursor
from mansard.inputs.ggml import TENSOR_TYPES, UNREAD_TYPES
from mansard.inputs.tensors import LONGEST_NAME, MOST_TENSORS, Tensor, finish, opened, refuse

_LARGEST_HEADER = 256 << 20  # bytes; those of vocabularies of 260,000 tokens have some 15 MB
_MOST_KEYS = 4096  # real files have fewer than a hundred
_LONGEST_KEY = 4096  # bytes
_MOST_STRINGS = 4_000_000  # in arrays, of the whole file
_LONGEST_KEPT = 4096  # of a string's bytes
_MOST_NUMBERS = 100_000  # of arrays that are kept, of the whole file: a few for each layer
_MOST_NESTED = 4
_WIDEST = 1 << 40
_NUMBERS = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}
_STRING, _ARRAY = 8, 9
_AGAIN = "the file is damaged, or no GGUF file: fetch or convert it again"


class Length(NamedTuple):
    """How many elements an array of the metadata has that is not kept."""

    elements: int


class GgufHeader(NamedTuple):
    """What the header of one file says. Arrays of strings, and long ones, are there as their length alone."""

    where: str
    version: int
    metadata: dict[str, Any]
    tensors: tuple[Tensor, ...]


def read_gguf(path: str) -> GgufHeader:
    """The header of a GGUF file.

    Raises:
        InputError: naming the file and everything that is wrong with it.
    """
    with opened(path) as (file, size):
        return _header(Cursor(file, printable(path), size, _LARGEST_HEADER), size)


def _header(cursor: Cursor, size: int) -> GgufHeader:
    version = _version(cursor)
    num_tensors, num_keys = cursor.whole("Q"), cursor.whole("Q")
    for what, count, most in (("tensors", num_tensors, MOST_TENSORS), ("keys", num_keys, _MOST_KEYS)):
        if count > most:
            refuse(cursor.where, f"announces {count:,} {what}; {most:,} are the most that is read", _AGAIN)
    faults: list[Fault] = []
    metadata = _metadata(cursor, num_keys, faults)
    alignment = metadata.get("general.alignment", 32)
    if not isinstance(alignment, int) or alignment < 8 or alignment & (alignment - 1):
        refuse(cursor.where, f"must be a power of two from 8 on, and is {alignment!r:.40}", key="general.alignment")
    tensors = _tensors(cursor, num_tensors, alignment, size, faults)
    finish(faults)
    return GgufHeader(cursor.where, version, metadata, tensors)


def _version(cursor: Cursor) -> int:
    magic = cursor.take(4)
    if magic != b"GGUF":
        hint = "files from before 2023-08 must be converted again" if magic in _OLD else "give a .gguf file"
        refuse(cursor.where, f"is no GGUF file: it begins with {magic!r}", hint)
    version = cursor.whole("I")
    if version & 0xFFFF == 0:  # the other byte order
        cursor.order = ">"
        version = int.from_bytes(version.to_bytes(4, "little"), "big")
    if version not in (2, 3):
        hint = "convert the model again: nothing reads version 1 now" if version == 1 else "versions 2 and 3 are read"
        refuse(cursor.where, f"is a GGUF file of version {version:,}", hint)
    return version


_OLD = (b"lmgg", b"fmgg", b"tjgg", b"algg")  # ggml, ggmf, ggjt, ggla, as they lie in a file


def _metadata(cursor: Cursor, count: int, faults: list[Fault]) -> dict[str, Any]:
    metadata: dict[str, Any] = {}
    budget = _Budget(_MOST_STRINGS, _MOST_NUMBERS)
    for _ in range(count):
        key = _text(cursor, _LONGEST_KEY, "a key of the metadata")
        if key in metadata:
            faults.append(Fault(problem="is there twice", where=cursor.where, key=printable(key[:100])))
        metadata[key] = _value(cursor, cursor.whole("I"), budget, key)
    return metadata


class _Budget:
    """How many more strings may be passed over, and how many numbers kept, in all arrays together."""

    def __init__(self, strings: int, numbers: int) -> None:
        self.strings = strings
        self.numbers = numbers


def _value(cursor: Cursor, kind: int, budget: _Budget, key: str, depth: int = 0) -> Any:
    if kind in _NUMBERS:
        return cursor.number(_NUMBERS[kind])
    if kind == _STRING:
        length = cursor.whole("Q")
        kept = cursor.take(min(length, _LONGEST_KEPT))
        cursor.skip(length - len(kept))
        return kept.decode("utf-8", "replace")
    if kind != _ARRAY:
        refuse(cursor.where, f"has a value of the unknown type {kind:,}", _AGAIN, key=key)
    if depth == _MOST_NESTED:
        refuse(cursor.where, f"has arrays within arrays, more than {_MOST_NESTED} deep", _AGAIN, key=key)
    return _array(cursor, budget, key, depth)


def _array(cursor: Cursor, budget: _Budget, key: str, depth: int) -> Any:
    kind, count = cursor.whole("I"), cursor.whole("Q")
    if kind in _NUMBERS:
        if count <= budget.numbers:
            budget.numbers -= count
            return [cursor.number(_NUMBERS[kind]) for _ in range(count)]
        cursor.skip(count * calcsize("<" + _NUMBERS[kind]))
        return Length(count)
    if count > budget.strings:
        problem = f"has an array of {count:,} strings or arrays, more than any vocabulary has"
        refuse(cursor.where, problem, _AGAIN, key=key)
    budget.strings -= count
    if kind == _STRING:
        cursor.skip_strings(count)
    else:
        for _ in range(count):
            _value(cursor, kind, budget, key, depth + 1)
    return Length(count)


def _text(cursor: Cursor, longest: int, what: str) -> str:
    length = cursor.whole("Q")
    if length > longest:
        problem = f"has {what} of {length:,} bytes at byte {cursor.position:,}; {longest:,} are the most"
        refuse(cursor.where, problem, _AGAIN)
    try:
        return cursor.take(length).decode("utf-8")
    except UnicodeDecodeError:
        refuse(cursor.where, f"has {what} that is no UTF-8, before byte {cursor.position:,}", _AGAIN)


class _Placed(NamedTuple):
    tensor: Tensor
    offset: int


def _tensors(cursor: Cursor, count: int, alignment: int, size: int, faults: list[Fault]) -> tuple[Tensor, ...]:
    placed: list[_Placed] = []
    names: set[str] = set()
    for _ in range(count):
        name = _text(cursor, LONGEST_NAME, "a tensor's name")
        one = _tensor(cursor, name, faults)
        if name in names:
            faults.append(_fault(cursor, name, "is there twice"))
        names.add(name)
        if one is not None:
            placed.append(one)
            if one.offset % alignment:
                faults.append(_fault(cursor, name, f"begins at {one.offset:,}, no multiple of {alignment}"))
    data = -(-cursor.position // alignment) * alignment
    end, before = 0, ""
    for tensor, offset in sorted(placed, key=lambda one: one.offset):
        if offset < end:
            faults.append(_fault(cursor, tensor.name, f"begins before the end of {printable(before[:60])}"))
        if data + offset + tensor.bytes > size:
            problem = f"ends at byte {data + offset + tensor.bytes:,}, and the file has {size:,}"
            hint = "the download is not complete: fetch it again"
            faults.append(_fault(cursor, tensor.name, problem)._replace(hint=hint))
        end, before = offset + tensor.bytes, tensor.name
    return tuple(one.tensor for one in placed)


def _tensor(cursor: Cursor, name: str, faults: list[Fault]) -> _Placed | None:
    """One tensor's shape, type and place; None, with a fault, if its bytes cannot be told."""
    dimensions = cursor.whole("I")
    if not 1 <= dimensions <= 4:
        refuse(cursor.where, f"has {dimensions:,} dimensions; 1 to 4 are possible", _AGAIN, key=name)
    shape = tuple(cursor.whole("Q") for _ in range(dimensions))
    number, offset = cursor.whole("I"), cursor.whole("Q")
    kind = TENSOR_TYPES.get(number)
    if kind is None:
        known = UNREAD_TYPES.get(number)
        problem = f"is of the type {known}, which no file has now" if known else f"is of the unknown type {number:,}"
        faults.append(_fault(cursor, name, problem)._replace(hint="convert or quantise the model again"))
        return None
    if any(not 1 <= extent <= _WIDEST for extent in shape) or prod(shape) > _WIDEST:
        faults.append(_fault(cursor, name, "has an impossible shape")._replace(value=str(list(shape))))
        return None
    if shape[0] % kind.block:
        faults.append(_fault(cursor, name, f"has rows of {shape[0]:,}, no multiple of the {kind.block} of {kind.name}"))
        return None
    return _Placed(Tensor(name, shape, kind.name, kind.bytes_of(prod(shape))), offset)


def _fault(cursor: Cursor, name: str, problem: str) -> Fault:
    return Fault(problem=problem, where=cursor.where, key=printable(name[:100]))
