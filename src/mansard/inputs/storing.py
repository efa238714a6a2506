"""The tensors of a model's files are summed up by the parts that they belong to."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from fractions import Fraction

from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.modules import PARTS_OF_FILES, Stored, stored_matrices
from mansard.inputs.safetensors import DTYPE_BITS
from mansard.inputs.stored import StoredPart, StoredWeights
from mansard.inputs.tensor_parts import layer_of, place_of
from mansard.inputs.tensors import Tensor
from mansard.precision import WeightFormat

_PACKED = ("U8", "I8", "I32", "U32", "I64")


def stored_weights(tensors: Iterable[Tensor], model: ModelConfig) -> StoredWeights:
    """The parts of a model's files; its configuration tells how many weights an integer of them holds."""
    sizes: Counter[str] = Counter()
    weights: Counter[str] = Counter()
    types: dict[str, Counter[str]] = {}
    left_out: Counter[str] = Counter()
    packing = _Packing(model)
    for tensor in tensors:
        place = place_of(tensor, len(model.layers))
        if place.left_out:
            left_out[place.left_out] += tensor.bytes
            continue
        sizes[place.part] += tensor.bytes
        types.setdefault(place.part, Counter())
        if not place.is_scale:
            weights[place.part] += packing.weights(tensor, place.part)
            types[place.part][tensor.type] += tensor.bytes
    parts = (StoredPart(part, sizes[part], weights[part], tuple(types[part].most_common())) for part in sizes)
    return StoredWeights(tuple(sorted(parts)), tuple(sorted(left_out.items())))


class _Packing:
    """How many weights the integers of a file hold, by the formats that the configuration gives to its matrices."""

    def __init__(self, model: ModelConfig) -> None:
        self._model = model
        self._matrices: dict[int, tuple[Stored, ...]] = {}

    def weights(self, tensor: Tensor, part: str) -> int:
        """Weights that a tensor holds: its elements, or more where they are packed into integers."""
        if self._model.quantization is None or tensor.type not in _PACKED:
            return tensor.elements
        bits = self._bits(tensor, part)
        return int(tensor.elements * DTYPE_BITS[tensor.type] / bits) if bits else tensor.elements

    def _bits(self, tensor: Tensor, part: str) -> int | Fraction | None:
        quantization = self._model.quantization
        if quantization is not None and part in ("lm_head", "embedding"):
            return (quantization.head if part == "lm_head" else quantization.embedding).bits
        place = layer_of(tensor)
        if place is None or place >= len(self._model.layers):
            return None
        layer = self._model.layers[place]
        formats, words = dict(layer.storage), tensor.name.split(".")
        found = [
            one for one in self._of(layer) if PARTS_OF_FILES.get(one.part, one.part) == part and one.key in formats
        ]
        # Of a part with several formats: the matrix of that name, where checkpoints call it as we do.
        named = [one for one in found if one.matrix.name in words]
        bits = {formats[one.key].bits for one in named or found}
        return bits.pop() if len(bits) == 1 else _mean_bits(found, formats)

    def _of(self, layer: Layer) -> tuple[Stored, ...]:
        if id(layer) not in self._matrices:
            self._matrices[id(layer)] = tuple(stored_matrices(layer, self._model.hidden_size))
        return self._matrices[id(layer)]


def _mean_bits(matrices: Sequence[Stored], formats: Mapping[str, WeightFormat]) -> Fraction | None:
    sizes = [(one.copies * one.matrix.elements, formats[one.key].bits) for one in matrices]
    elements = sum(size for size, _ in sizes)
    return Fraction(sum(size * bits for size, bits in sizes), elements) if elements else None
