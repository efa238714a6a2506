"""Stacks that see all of their input at once: text encoders, vision and audio towers, with what is around them."""

from typing import Literal, NamedTuple

from mansard.inputs.mechanisms import Embedding, Layer
from mansard.inputs.perception import Perception, Text
from mansard.inputs.weights import Matrix, Norm


class Applied(NamedTuple):
    """A matrix that is used `times` times for every `per` tokens of an encoder: patches, front ends, mergers, heads.

    A convolution is stated as the matrix product that it is, [kernel · inputs, outputs], once for each position of its
    output. `per` 0: `times` times for the whole input, however long it is (poolers, classifiers). `per_given`: once for
    each token that the decoder gets, whatever `times` and `per` say. norm: of its input.
    """

    matrix: Matrix
    times: int = 1
    per: int = 1
    kind: Literal["linear", "convolution"] = "linear"
    norm: Norm | None = None
    per_given: bool = False

    @property
    def parameters(self) -> int:
        """Those of the matrix, its bias and the norm before it."""
        return self.matrix.parameters + (self.norm.parameters if self.norm else 0)


class Encoder(NamedTuple):
    """A stack of layers without a mask and without a cache, run once over its whole input.

    modality: what it reads. front, back: the products before and after the layers. norms: those around the layers.
    vectors: elements of learned vectors and tables of positions. unused: of what is stored and not read in a pass.
    `shares_embedding`: its tokens are looked up in the decoder's table. `reads`: how many tokens its input becomes.
    """

    name: str
    modality: Literal["text", "image", "audio"]
    hidden_size: int
    layers: tuple[Layer, ...]
    front: tuple[Applied, ...] = ()
    back: tuple[Applied, ...] = ()
    norms: tuple[Norm, ...] = ()
    vectors: int = 0
    unused: int = 0
    embedding: Embedding | None = None
    shares_embedding: bool = False
    reads: Perception = Text()
