"""What a model's files hold of it, part by part, to the byte: it is read and kept as it lies there."""

from typing import TYPE_CHECKING, NamedTuple

from mansard.precision import WeightFormat

if TYPE_CHECKING:
    from fractions import Fraction


class StoredPart(NamedTuple):
    """All tensors of one part: their bytes with scales, the weights that they hold, and the bytes by type."""

    part: str
    bytes: int
    weights: int
    types: tuple[tuple[str, int], ...]  # most bytes first

    @property
    def bits(self) -> "Fraction":
        """Mean bits of a weight, scales included."""
        from fractions import Fraction  # a model from a config alone needs none

        return Fraction(8 * self.bytes, self.weights)

    @property
    def name(self) -> str:
        """The types of the part, the two with most bytes: "Q4_K", "Q4_K+Q6_K"."""
        return "+".join(name for name, _ in self.types[:2])


class StoredWeights(NamedTuple):
    """The weights of a model as its files hold them.

    Types may differ from layer to layer within a part, as in a GGUF file of Q4_K_M: a part has the mean of its bits, so
    that the sum over the layers is that of the file to the byte, while one layer's share may not be.
    """

    parts: tuple[StoredPart, ...]
    left_out: tuple[tuple[str, int], ...] = ()  # why, and bytes
    has_config: bool = True  # whether a configuration beside the files says by itself how they are stored

    @property
    def bytes(self) -> int:
        """Bytes of all that is counted."""
        return sum(part.bytes for part in self.parts)

    @property
    def name(self) -> str:
        """The types of the layers' matrices, those with most bytes: "Q4_K+Q6_K"."""
        layers = [part for part in self.parts if part.part in ("attention", "feed_forward", "expert", "shared_expert")]
        sizes: dict[str, int] = {}
        for part in layers:
            for kind, size in part.types:
                sizes[kind] = sizes.get(kind, 0) + size
        return "+".join(sorted(sizes, key=lambda kind: -sizes[kind])[:3])

    @property
    def weights(self) -> int:
        """Weights of all that is counted."""
        return sum(part.weights for part in self.parts)

    def part(self, name: str) -> StoredPart | None:
        """One part; None if the files hold none of it. A head that is tied is the embedding's table."""
        found = next((part for part in self.parts if part.part == name and part.weights), None)
        return self.part("embedding") if found is None and name == "lm_head" else found

    def format_of(self, name: str, otherwise: WeightFormat) -> WeightFormat:
        """The format of a part: the bits are those of the files, the dtype of the arithmetic is that of `otherwise`."""
        part = self.part(name)
        if part is None:
            return otherwise
        return WeightFormat(name=part.name, bits=part.bits, dtype=otherwise.dtype, weight_only=otherwise.weight_only)
