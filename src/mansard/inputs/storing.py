"""The tensors of a model's files are summed up by the parts that they belong to."""

from collections import Counter
from collections.abc import Iterable

from mansard.inputs.mechanisms import Quantization
from mansard.inputs.safetensors import DTYPE_BITS
from mansard.inputs.stored import StoredPart, StoredWeights
from mansard.inputs.tensor_parts import place_of
from mansard.inputs.tensors import Tensor


def stored_weights(tensors: Iterable[Tensor], layers: int, quantization: Quantization | None) -> StoredWeights:
    """The parts of a model of so many layers.

    quantization: what the configuration says, which tells how many weights an integer of the files holds.
    """
    sizes: Counter[str] = Counter()
    weights: Counter[str] = Counter()
    types: dict[str, Counter[str]] = {}
    left_out: Counter[str] = Counter()
    for tensor in tensors:
        place = place_of(tensor, layers)
        if place.left_out:
            left_out[place.left_out] += tensor.bytes
            continue
        sizes[place.part] += tensor.bytes
        types.setdefault(place.part, Counter())
        if not place.is_scale:
            weights[place.part] += _weights(tensor, place.part, quantization)
            types[place.part][tensor.type] += tensor.bytes
    parts = (StoredPart(part, sizes[part], weights[part], tuple(types[part].most_common())) for part in sizes)
    return StoredWeights(tuple(sorted(parts)), tuple(sorted(left_out.items())))


def _weights(tensor: Tensor, part: str, quantization: Quantization | None) -> int:
    """Weights that a tensor holds: its elements, or more where they are packed into integers."""
    if quantization is None or tensor.type not in ("U8", "I8", "I32", "U32", "I64"):
        return tensor.elements
    packed = quantization.experts if part == "expert" and quantization.experts else quantization.linear
    return int(tensor.elements * DTYPE_BITS[tensor.type] // packed.bits)
