"""Stacks that see all of their input at once: text encoders, vision and audio towers, with what is around them."""

from typing import Literal, NamedTuple

from mansard.inputs.mechanisms import Embedding, Layer
from mansard.inputs.perception import Perception, Text
from mansard.inputs.weights import Matrix, Norm


class Applied(NamedTuple):
    """A matrix that is used `times` times for every `per` tokens of an encoder: patches, front ends, mergers, heads.

    A convolution is stated as the matrix product that it is, [kernel · inputs, outputs], once for each position of its
    output. `per` 0: `times` times for the whole input, however long it is (poolers, classifiers).
    """

    matrix: Matrix
    times: int = 1
    per: int = 1
    kind: Literal["linear", "convolution"] = "linear"


class Encoder(NamedTuple):
    """A stack of layers without a mask and without a cache, run once over its whole input.

    modality: what it reads. front, back: the products before and after the layers. norms: those around the layers.
    vectors: elements of learned vectors and tables of positions. `shares_embedding`: its tokens are looked up in the
    decoder's table. `reads`: how many tokens its input becomes.
    """

    name: str
    modality: Literal["text", "image", "audio"]
    hidden_size: int
    layers: tuple[Layer, ...]
    front: tuple[Applied, ...] = ()
    back: tuple[Applied, ...] = ()
    norms: tuple[Norm, ...] = ()
    vectors: int = 0
    embedding: Embedding | None = None
    shares_embedding: bool = False
    reads: Perception = Text()
