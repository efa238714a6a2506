"""A model's files of weights, from a path: a GGUF file, a safetensors file or index, or a folder that holds them."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

from mansard.errors import Fault, InputError
from mansard.inputs.model import ModelConfig
from mansard.inputs.notes import Note
from mansard.inputs.safetensors import Index, read_index, read_indexed, read_safetensors
from mansard.inputs.stored import StoredWeights
from mansard.inputs.storing import stored_weights
from mansard.inputs.tensors import Tensor, refuse

_INDEX = "model.safetensors.index.json"
_WHOLE = "model.safetensors"


class WeightFiles(NamedTuple):
    """The tensors of a model and where they were found; `missing` instead where files of its index are not there."""

    where: str
    tensors: tuple[Tensor, ...]
    listing: Index | None = None
    missing: tuple[str, ...] = ()
    has_config: bool = True


def is_gguf(path: str) -> bool:
    """Whether a path is that of a GGUF file, by its name or its first bytes."""
    if path.lower().endswith(".gguf"):
        return True
    place = Path(path)
    try:
        if not place.is_file():
            return False
        with place.open("rb") as file:
            return file.read(4) == b"GGUF"
    except (OSError, ValueError):
        return False


def gguf_in(folder: str) -> str | None:
    """The one GGUF model of a folder that has no config.json; None if it has none.

    Raises:
        InputError: if it has several.
    """
    place = Path(folder)
    if not place.is_dir() or any((place / name).exists() for name in ("config.json", "model_index.json")):
        return None
    found = sorted(one.name for one in place.glob("*.gguf") if one.is_file())
    parts = [name for name in found if "-of-" not in name or "-00001-of-" in name]
    if len(parts) > 1:
        shown = ", ".join(parts[:5]) + (" …" if len(parts) > 5 else "")
        refuse(folder, f"holds {len(parts)} GGUF models: {shown}", "give the path of one of them")
    return str(place / parts[0]) if parts else None


def safetensors_of(path: str) -> WeightFiles | None:
    """The safetensors files that a path names or that lie in a folder; None if there are none.

    Raises:
        InputError: if one of them is bad, with every fault.
    """
    place = Path(path)
    if place.name.endswith(".safetensors"):
        return WeightFiles(str(place), read_safetensors(str(place)))
    if place.name.endswith(".safetensors.index.json"):
        return _indexed(place)
    if not place.is_dir():
        return None
    if (place / _INDEX).is_file():
        return _indexed(place / _INDEX)
    if (place / _WHOLE).is_file():
        return WeightFiles(str(place / _WHOLE), read_safetensors(str(place / _WHOLE)))
    return None


def _indexed(place: Path) -> WeightFiles:
    index = read_index(str(place))
    missing = tuple(name for name in index.files if not (place.parent / name).is_file())
    return WeightFiles(str(place), () if missing else read_indexed(index), index, missing)


def config_beside(path: str) -> str:
    """The config.json that goes with a safetensors file or index.

    Raises:
        InputError: if there is none.
    """
    place = Path(path)
    if not (place.with_name("config.json")).is_file():
        refuse(path, "has no config.json beside it", "weights alone do not tell the model: put its config.json there")
    return str(place.with_name("config.json"))


def with_weights(model: ModelConfig, files: WeightFiles) -> ModelConfig:
    """The model with what its files hold of it, and a note on every disagreement."""
    if files.missing:
        return replace(model, notes=(*model.notes, _missing_note(files)))
    stored = stored_weights(files.tensors, model)._replace(has_config=files.has_config)
    if not any(part.weights for part in stored.parts if part.part in ("attention", "feed_forward", "expert")):
        raise InputError([_nothing(files.where)])
    return replace(model, stored=stored, notes=(*model.notes, *_notes(model, files, stored)))


def _nothing(where: str) -> Fault:
    return Fault(problem="holds no layer of a language model by the names of its tensors", where=where,
                 hint="give the config.json alone")  # fmt: skip


def _missing_note(files: WeightFiles) -> Note:
    index = files.listing
    total = f"{index.total_bytes:,} bytes in all" if index and index.total_bytes else "no total"
    count = len(index.files) if index else 0
    text = f"{len(files.missing)} of the {count} files of {files.where} are not there: bytes are those of the config"
    return Note(level="warning", code="weights-missing", text=f"{text}; the index states {total}")


def _notes(model: ModelConfig, files: WeightFiles, stored: StoredWeights) -> Iterator[Note]:
    bits = 8 * stored.bytes / stored.weights
    text = f"weights are counted as {files.where} holds them: {stored.bytes:,} bytes, {bits:.3f} bits a weight"
    yield Note(level="info", code="stored-weights", text=text)
    if any(len(part.types) > 1 for part in stored.parts):
        text = "parts of several types have the mean of their bits in every layer: sums are those of the file"
        yield Note(level="info", code="stored-means", text=text)
    for why, size in stored.left_out:
        yield Note(level="info", code="not-counted", text=f"{size:,} bytes of the file are not counted: {why}")
    if stored.weights != model.parameters:
        text = (
            f"the file holds {stored.weights:,} weights, and the configuration says {model.parameters:,} parameters: "
            "bytes are the file's, operations the configuration's"
        )
        yield Note(level="warning", code="stored-parameters", text=text)
    found = sum(tensor.bytes for tensor in files.tensors)
    if files.listing and files.listing.total_bytes not in (None, found):
        text = f"the index states {files.listing.total_bytes:,} bytes, and its files hold {found:,}"
        yield Note(level="warning", code="index-total", text=text)
