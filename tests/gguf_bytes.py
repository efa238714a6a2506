"""GGUF files as bytes, written by hand: the broken ones, which no library would write."""

import struct
from pathlib import Path
from typing import Any

KINDS = {bool: 7, int: 4, float: 6, str: 8}


def text(value: str | bytes, order: str = "<") -> bytes:
    content = value.encode() if isinstance(value, str) else value
    return struct.pack(order + "Q", len(content)) + content


def value(item: Any, order: str = "<") -> bytes:
    """A value behind the number of its type; lists are arrays of the type of their first element."""
    if isinstance(item, bytes):
        return item
    if isinstance(item, list):
        inner = b"".join(value(one, order)[4:] for one in item)
        return struct.pack(order + "IIQ", 9, KINDS[type(item[0])], len(item)) + inner
    code = KINDS[type(item)]
    packed = text(item, order) if code == 8 else struct.pack(order + {7: "?", 4: "I", 6: "f"}[code], item)
    return struct.pack(order + "I", code) + packed


def tensor(name: str | bytes, shape: tuple[int, ...], kind: int, offset: int, order: str = "<") -> bytes:
    return text(name, order) + struct.pack(f"{order}I{len(shape)}QIQ", len(shape), *shape, kind, offset)


def header(
    keys: list[tuple[str, Any]],
    tensors: list[bytes],
    *,
    version: int = 3,
    order: str = "<",
    num_tensors: int | None = None,
    num_keys: int | None = None,
) -> bytes:
    counts = (len(tensors) if num_tensors is None else num_tensors, len(keys) if num_keys is None else num_keys)
    start = b"GGUF" + struct.pack(order + "IQQ", version, *counts)
    return start + b"".join(text(key, order) + value(item, order) for key, item in keys) + b"".join(tensors)


def sparse(path: Path, head: bytes, data: int, alignment: int = 32) -> Path:
    """A file of that header and so many bytes of data, which take no room on the disk."""
    with path.open("wb") as file:
        file.write(head)
        file.truncate(-(-len(head) // alignment) * alignment + data)
    return path
