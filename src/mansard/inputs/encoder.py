"""Stacks that see all of their input at once: text encoders, vision and audio towers, with what is around them."""

from typing import Literal, NamedTuple

from mansard.inputs.mechanisms import Embedding, Layer
from mansard.inputs.perception import Perception, Text
from mansard.inputs.weights import Matrix, Norm


class Applied(NamedTuple):
    """A matrix that is used `times` times for every `per` tokens of an encoder: patches, front ends, mergers, heads.

    A convolution is stated as the matrix product that it is, [kernel · inputs, outputs], once for each position of its
    output. `per` 0: `times` times for the whole input, however long it is (poolers, classifiers). `per_given`: once for
    each token that the decoder gets, whatever `times` and `per` say. `tied`: the matrix is the encoder's own embedding
    table, stored once and read again; a bias is its own. norm: of its input.

    The patches of ViT-B/16 (arXiv:2010.11929), 196 for 197 tokens, take 2·196·768·768 FLOPs:

    >>> from mansard.operators.step import Basis, Step
    >>> patches = Applied(Matrix("patches", 3 * 16 * 16, 768), times=196, per=197, kind="convolution")
    >>> basis = Basis("scaled", times=patches.times, per=patches.per)
    >>> 2 * patches.matrix.elements * Step(batch=1, new=197, cached=0).value(basis), 2 * 196 * 768 * 768
    (231211008, 231211008)
    """

    matrix: Matrix
    times: int = 1
    per: int = 1
    kind: Literal["linear", "convolution"] = "linear"
    tied: bool = False
    norm: Norm | None = None
    per_given: bool = False

    @property
    def parameters(self) -> int:
        """Those that are stored for it."""
        norm = self.norm.parameters if self.norm else 0
        return self.matrix.parameters - (self.matrix.elements if self.tied else 0) + norm


class Pooling(NamedTuple):
    """Attention of `queries` learned vectors to all tokens, after the layers; its projections are of the back end."""

    heads: int
    head_dim: int
    queries: int = 1


class Encoder(NamedTuple):
    """A stack of layers without a cache, run once over its whole input; without a mask unless its mixers are causal.

    modality: what it reads. front, back: the products before and after the layers. norms: those around the layers.
    vectors: elements of learned vectors and tables of positions. unused: of what is stored and not read in a pass.
    `shares_embedding`: its tokens are looked up in the decoder's table, and `embedding` if it is there holds what is
    its own beside it. `reads`: how many tokens its input becomes. `pooling`: attention of the back end.
    Source: arXiv:1706.03762, 3.1.
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
    pooling: Pooling | None = None

    @property
    def looked_up_parameters(self) -> int:
        """Those of the tables of tokens that are read by the row alone: none where a head is tied to the table."""
        if self.embedding is None or any(one.tied for one in self.back):
            return 0
        return self.embedding.token_parameters
