"""A model's GGUF file, or all parts of one that was split, as one header."""

import re
from pathlib import Path
from typing import Any

from mansard.errors import Fault, InputError
from mansard.inputs.gguf import GgufHeader, read_gguf
from mansard.inputs.tensors import MOST_TENSORS, finish, refuse

_PART = re.compile(r"(?P<stem>.+)-(?P<number>\d{5})-of-(?P<count>\d{5})\.gguf")
_MOST_PARTS = 1000


def read_gguf_model(path: str) -> GgufHeader:
    """The header of a GGUF model: of one file, or of all the parts beside it where it was split.

    The metadata is that of the first part. A part is found by its name, `-00001-of-00003.gguf`.

    Raises:
        InputError: if a part is bad, missing, or of another model, with every fault.
    """
    first = read_gguf(path)
    count = _whole(first.metadata.get("split.count", 1))
    if count <= 1:
        return first
    if count > _MOST_PARTS:
        refuse(first.where, f"says that it has {count:,} parts; {_MOST_PARTS:,} are the most", key="split.count")
    parts = [first if other == Path(path) else read_gguf(str(other)) for other in _beside(Path(path), count)]
    return _joined(parts, count)


def _whole(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else -1


def _beside(path: Path, count: int) -> list[Path]:
    """The paths of all parts, in order."""
    name = _PART.fullmatch(path.name)
    if name is None or int(name["count"]) != count:
        hint = f"name it as it was made: …-00001-of-{count:05d}.gguf"
        refuse(str(path), f"is one of {count} parts by split.count, and its name does not say so", hint)
    paths = [path.with_name(f"{name['stem']}-{number:05d}-of-{count:05d}.gguf") for number in range(1, count + 1)]
    missing = [Fault(problem="is missing", where=str(one), hint="all parts must lie in one folder")
               for one in paths if not one.is_file()]  # fmt: skip
    finish(missing)
    return paths


def _joined(parts: list[GgufHeader], count: int) -> GgufHeader:
    faults: list[Fault] = []
    names: set[str] = set()
    for index, part in enumerate(parts):
        number, of = _whole(part.metadata.get("split.no")), _whole(part.metadata.get("split.count"))
        if (number, of) != (index, count):
            problem = f"says that it is part {number + 1} of {of}, and its name says {index + 1} of {count}"
            faults.append(Fault(problem=problem, where=part.where, key="split.no"))
        twice = [tensor.name for tensor in part.tensors if tensor.name in names]
        names.update(tensor.name for tensor in part.tensors)
        if twice:
            problem = f"has {len(twice):,} tensors that another part has too"
            faults.append(Fault(problem=problem, where=part.where, key=twice[0][:100]))
    tensors = tuple(tensor for part in parts for tensor in part.tensors)
    stated = parts[0].metadata.get("split.tensors.count", len(tensors))
    if stated != len(tensors):
        problem = f"says {stated!r:.20} tensors, and the parts have {len(tensors):,}"
        faults.append(Fault(problem=problem, where=parts[0].where, key="split.tensors.count"))
    if len(tensors) > MOST_TENSORS:
        faults.append(Fault(problem=f"has {len(tensors):,} tensors in all its parts", where=parts[0].where))
    if faults:
        raise InputError(faults[:20])
    return parts[0]._replace(tensors=tensors)
