"""The mechanisms that a model is made of: mixers in layers, feed-forward parts, embedding, head, and their storage.

Nothing here knows a family by name: families read their `config.json` into these (see `architectures/`).
"""

from typing import NamedTuple

from mansard.inputs.mixers import Mixer
from mansard.inputs.weights import Matrix, Norm
from mansard.precision import WeightFormat


class FeedForward(NamedTuple):
    """A dense feed-forward part: up and down, with a gate beside up if `gated` (SwiGLU, GeGLU).

    `down_bias` None: down has a bias where the others do.
    """

    intermediate_size: int
    gated: bool
    activation: str = "silu"
    bias: bool = False
    activation_parameters: int = 0  # learned numbers of the activation itself
    down_bias: bool | None = None

    def matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        up = Matrix("up_proj", hidden_size, self.intermediate_size, self.bias)
        down_bias = self.bias if self.down_bias is None else self.down_bias
        down = Matrix("down_proj", self.intermediate_size, hidden_size, down_bias)
        return (up._replace(name="gate_proj"), up, down) if self.gated else (up, down)


class MixtureOfExperts(NamedTuple):
    """A router that sends each token to `num_experts_per_tok` of `num_experts` feed-forward parts of one shape.

    `shared` is what every token passes beside them (all shared experts as one), `shared_gate` a [hidden, 1] gate on it.
    `router_bias` is a parameter; `correction_buffer` counts elements of a checkpoint that are no parameters.
    `latent_size`: the experts live in a width of their own, with a projection into it and one back for every token,
    which have biases if `latent_bias`.
    `router_vectors`: elements of further learned vectors of the router (scales, norms).
    """

    num_experts: int
    num_experts_per_tok: int
    expert: FeedForward
    shared: FeedForward | None = None
    shared_gate: bool = False
    router_bias: bool = False
    correction_buffer: int = 0
    latent_size: int | None = None
    router_vectors: int = 0
    latent_bias: bool = False

    def router(self, hidden_size: int) -> Matrix:
        return Matrix("router", hidden_size, self.num_experts, self.router_bias)

    def expert_matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        """The matrices of one expert."""
        return self.expert.matrices(self.latent_size or hidden_size)

    def latent_matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        """The projections into the experts' own width and back; none where they live in the model's."""
        if self.latent_size is None:
            return ()
        return (
            Matrix("latent_in_proj", hidden_size, self.latent_size, self.latent_bias),
            Matrix("latent_out_proj", self.latent_size, hidden_size, self.latent_bias),
        )

    def shared_matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        if self.shared is None:
            return ()
        gate = (Matrix("shared_expert_gate", hidden_size, 1),) if self.shared_gate else ()
        return (*self.shared.matrices(hidden_size), *gate)


class Streams(NamedTuple):
    """Parallel residual streams: the layer reads one vector made of `number` and corrects all of them with its output.

    matrices: the products that make the mixing weights, each with how often it is done for a token. norms, vectors: as
    in a layer. vector_flops: what the mixing takes for a token beside them, `formula` in the number A and the width h.
    Sources: AltUp, arXiv:2301.13310; hyper-connections, arXiv:2409.19606.
    """

    number: int
    matrices: tuple[tuple[Matrix, int], ...]
    vector_flops: int
    formula: str
    norms: tuple[Norm, ...] = ()
    vectors: int = 0


class Layer(NamedTuple):
    """One layer: its mixer, its feed-forward part, and the norms around them (those inside the mixer are its own).

    Either may be absent. `beside`: further mixers of the layer (cross-attention, a state-space part next to the heads).
    `parallel`: the mixer and the feed-forward part read the same normalised input and are added together.
    `extras`: further products with one vector per token (adapters, inputs of the layer's own); `vectors`: elements of
    further learned vectors (scales). `streams`: how it reads and corrects several residual streams. `shared`: layers
    of one name have one set of weights between them. `storage`: the format of each matrix by "part.matrix" (see
    `inputs/modules.py`); what it does not name is in the model's dtype. `last_only`: nothing of it is needed of the
    positions whose logits are not, since neither it nor a later layer keeps a cache.
    """

    mixer: Mixer | None
    feed_forward: FeedForward | MixtureOfExperts | None
    norms: tuple[Norm, ...]
    parallel: bool = False
    beside: tuple[Mixer, ...] = ()
    extras: tuple[Matrix, ...] = ()
    vectors: int = 0
    shared: str = ""
    storage: tuple[tuple[str, WeightFormat], ...] = ()
    streams: Streams | None = None
    last_only: bool = False

    @property
    def mixers(self) -> tuple[Mixer, ...]:
        """All mixers of the layer."""
        return self.beside if self.mixer is None else (self.mixer, *self.beside)


class Embedding(NamedTuple):
    """Token embedding [vocab_size, dim]; learned positions [positions, position_dim]; projections where dim differs.

    `token_types`: rows of a further table [token_types, dim] that is added. `per_layer_vocab`, `per_layer_dim`: a
    second table [per_layer_vocab, per_layer_dim] whose row feeds every layer an input of its own; `extras` are the
    products made of the embedded token before the first layer, `extras_out` those that join what leaves the last.
    """

    vocab_size: int
    dim: int
    positions: int = 0
    position_dim: int = 0
    norm: Norm | None = None
    project_in: Matrix | None = None
    project_out: Matrix | None = None
    token_types: int = 0
    per_layer_vocab: int = 0
    per_layer_dim: int = 0
    extras: tuple[Matrix, ...] = ()
    extra_norms: tuple[Norm, ...] = ()
    extras_out: tuple[Matrix, ...] = ()

    @property
    def token_parameters(self) -> int:
        return self.vocab_size * self.dim

    @property
    def table_parameters(self) -> tuple[int, ...]:
        """Elements of each table of rows that are looked up."""
        return (
            self.token_parameters,
            self.positions * self.position_dim,
            self.token_types * self.dim,
            self.per_layer_vocab * self.per_layer_dim,
        )

    @property
    def row_elements(self) -> int:
        """Elements that are looked up for one token."""
        types = self.dim if self.token_types else 0
        return self.dim + self.position_dim + types + self.per_layer_dim


class Head(NamedTuple):
    """The output projection [dim, vocab_size]; `tied`: it is the embedding table, stored once and still read."""

    dim: int
    vocab_size: int
    tied: bool
    bias: bool = False
    softcap: bool = False

    @property
    def matrix(self) -> Matrix:
        return Matrix("lm_head", self.dim, self.vocab_size, self.bias)

    @property
    def stored_parameters(self) -> int:
        bias = self.vocab_size if self.bias else 0
        return bias if self.tied else self.dim * self.vocab_size + bias


class Quantization(NamedTuple):
    """How a checkpoint stores what stands outside of its layers, each of which has the formats of its own matrices.

    `method` is what the config calls it. `head`, `embedding`: their formats; those of a tied head are the same.
    `cache`: the dtype of the cache that the checkpoint is made for.
    """

    method: str
    head: WeightFormat
    embedding: WeightFormat
    cache: str | None = None
