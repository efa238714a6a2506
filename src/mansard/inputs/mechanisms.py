"""The mechanisms that a model is made of: mixers, feed-forward parts, norms, embedding, head, each with its widths.

Nothing here knows a family by name: families read their `config.json` into these (see `architectures/`). Every weight
is stated once, as a `Matrix`, a `Norm` or a vector, so that parameter counts, bytes and operations follow from the same
statement and cannot disagree.
"""

from typing import Literal, NamedTuple, TypeAlias

from mansard.precision import WeightFormat


class Matrix(NamedTuple):
    """A weight matrix [rows = inputs, columns = outputs], with a bias of `columns` elements if `bias`."""

    name: str
    rows: int
    columns: int
    bias: bool = False

    @property
    def elements(self) -> int:
        return self.rows * self.columns

    @property
    def parameters(self) -> int:
        return self.rows * self.columns + (self.columns if self.bias else 0)


class Norm(NamedTuple):
    """A normalisation: `rms` (a weight), `layer` (a weight and a bias), `layer-no-bias`, or `none` (no parameters).

    `size` is the width of its weight; it is applied `repeats` times per token with the same weight (per head).
    """

    kind: Literal["rms", "layer", "layer-no-bias", "none"]
    size: int
    repeats: int = 1

    @property
    def parameters(self) -> int:
        return {"rms": 1, "layer": 2, "layer-no-bias": 1, "none": 0}[self.kind] * self.size


class Attention(NamedTuple):
    """Multi-head, grouped-query or multi-query attention, whole, windowed or chunked-local.

    window: a query sees at most this many keys, itself included. chunk: keys of its own chunk only.
    `v_head_dim` is the size of a value head where it differs from `head_dim`. `rotary_dim` is the part of each head
    that is rotated (0: positions come otherwise). Norms of queries and keys are inside the mixer.
    """

    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int | None = None
    window: int | None = None
    chunk: int | None = None
    qkv_bias: bool = False
    o_bias: bool = False
    q_norm: Norm | None = None
    k_norm: Norm | None = None
    rotary_dim: int = 0
    sinks: bool = False
    softcap: bool = False

    @property
    def value_dim(self) -> int:
        return self.v_head_dim or self.head_dim

    @property
    def cache_elements_per_token(self) -> int:
        """Keys and values of one token in one layer, by key/value heads."""
        return self.kv_heads * (self.head_dim + self.value_dim)

    def matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        return (
            Matrix("q_proj", hidden_size, self.heads * self.head_dim, self.qkv_bias),
            Matrix("k_proj", hidden_size, self.kv_heads * self.head_dim, self.qkv_bias),
            Matrix("v_proj", hidden_size, self.kv_heads * self.value_dim, self.qkv_bias),
            Matrix("o_proj", self.heads * self.value_dim, hidden_size, self.o_bias),
        )

    @property
    def vector_parameters(self) -> int:
        norms = sum(norm.parameters for norm in (self.q_norm, self.k_norm) if norm)
        return norms + (self.heads if self.sinks else 0)


class LatentAttention(NamedTuple):
    """Multi-head latent attention (MLA), DeepSeek-V2, arXiv:2405.04434: the cache holds one latent per token.

    With r = kv_lora_rank it keeps r + qk_rope_head_dim elements per token and layer, whatever the head count.
    `q_lora_rank` None: queries are projected directly. `bias` is on the down-projections and the output.
    """

    heads: int
    q_lora_rank: int | None
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    bias: bool = False
    window: None = None
    chunk: None = None

    @property
    def qk_head_dim(self) -> int:
        return self.qk_nope_head_dim + self.qk_rope_head_dim

    @property
    def cache_elements_per_token(self) -> int:
        """The latent and the rotary key of one token in one layer."""
        return self.kv_lora_rank + self.qk_rope_head_dim

    def matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        query_columns = self.heads * self.qk_head_dim
        if self.q_lora_rank is None:
            query: tuple[Matrix, ...] = (Matrix("q_proj", hidden_size, query_columns),)
        else:
            query = (
                Matrix("q_a_proj", hidden_size, self.q_lora_rank, self.bias),
                Matrix("q_b_proj", self.q_lora_rank, query_columns),
            )
        return (
            *query,
            Matrix("kv_a_proj", hidden_size, self.kv_lora_rank + self.qk_rope_head_dim, self.bias),
            Matrix("kv_b_proj", self.kv_lora_rank, self.heads * (self.qk_nope_head_dim + self.v_head_dim)),
            Matrix("o_proj", self.heads * self.v_head_dim, hidden_size, self.bias),
        )

    @property
    def norms(self) -> tuple[Norm, ...]:
        latent = Norm(kind="rms", size=self.kv_lora_rank)
        return (latent,) if self.q_lora_rank is None else (Norm(kind="rms", size=self.q_lora_rank), latent)

    @property
    def vector_parameters(self) -> int:
        return sum(norm.parameters for norm in self.norms)


class FeedForward(NamedTuple):
    """A dense feed-forward part: up and down, with a gate beside up if `gated` (SwiGLU, GeGLU)."""

    intermediate_size: int
    gated: bool
    activation: str = "silu"
    bias: bool = False
    activation_parameters: int = 0  # learned numbers of the activation itself

    def matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        up = Matrix("up_proj", hidden_size, self.intermediate_size, self.bias)
        down = Matrix("down_proj", self.intermediate_size, hidden_size, self.bias)
        return (up._replace(name="gate_proj"), up, down) if self.gated else (up, down)


class MixtureOfExperts(NamedTuple):
    """A router that sends each token to `num_experts_per_tok` of `num_experts` feed-forward parts of one shape.

    `shared` is what every token passes beside them (all shared experts as one), `shared_gate` a [hidden, 1] gate on it.
    `router_bias` is a parameter; `correction_buffer` counts elements of a checkpoint that are no parameters.
    """

    num_experts: int
    num_experts_per_tok: int
    expert: FeedForward
    shared: FeedForward | None = None
    shared_gate: bool = False
    router_bias: bool = False
    correction_buffer: int = 0

    def router(self, hidden_size: int) -> Matrix:
        return Matrix("router", hidden_size, self.num_experts, self.router_bias)

    def shared_matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        if self.shared is None:
            return ()
        gate = (Matrix("shared_expert_gate", hidden_size, 1),) if self.shared_gate else ()
        return (*self.shared.matrices(hidden_size), *gate)


Mixer: TypeAlias = Attention | LatentAttention


class Layer(NamedTuple):
    """One layer: its mixer, its feed-forward part, and the norms around them (those inside the mixer are its own).

    `parallel`: the mixer and the feed-forward part read the same normalised input and are added together.
    """

    mixer: Mixer
    feed_forward: FeedForward | MixtureOfExperts
    norms: tuple[Norm, ...]
    parallel: bool = False


class Embedding(NamedTuple):
    """Token embedding [vocab_size, dim]; learned positions [positions, position_dim]; projections where dim differs."""

    vocab_size: int
    dim: int
    positions: int = 0
    position_dim: int = 0
    norm: Norm | None = None
    project_in: Matrix | None = None
    project_out: Matrix | None = None

    @property
    def token_parameters(self) -> int:
        return self.vocab_size * self.dim


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
    """How a checkpoint stores its weights: one format for the layers' matrices, and what is left in the model's dtype.

    `method` is what the config calls it. `experts` overrides the format of routed experts alone. `skipped` names the
    kinds of matrices that stay in the model's dtype: "lm_head", "attention", "router", "feed_forward", "shared_expert".
    """

    method: str
    linear: WeightFormat
    experts: WeightFormat | None = None
    skipped: frozenset[str] = frozenset({"lm_head", "router"})
