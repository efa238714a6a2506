"""Sequence mixers: attention by heads or latents, and what carries a state instead of a cache, each with its widths.

Every weight is stated once, as a `Matrix`, a `Norm` or a count of learned vectors' elements, so that parameters, bytes
and operations follow from the same statement and cannot disagree.
"""

from typing import NamedTuple, TypeAlias

from mansard.inputs.weights import Matrix, Norm


class Attention(NamedTuple):
    """Multi-head, grouped-query or multi-query attention, whole, windowed or chunked-local.

    window: a query sees at most this many keys, itself included. chunk: keys of its own chunk only. causal False: every
    query sees every key, or with a window those on both sides of it, W - 1 in all beside itself.
    `v_head_dim` is the size of a value head where it differs from `head_dim`. `rotary_dim` is the part of each head
    that is rotated (0: positions come otherwise). Norms of queries, keys and values are inside the mixer.
    `k_bias` None: keys have a bias where queries and values do. `input_size`: the width that is read where it is not
    the layer's. `gate_size`: columns of a projection that gates the output, with a bias if `gate_bias`. `has_values`
    False: keys serve as values, and have no projection of their own. `shares_cache`: attends to the keys and values of
    an earlier layer and keeps none; `unused_parameters` are those of projections that the checkpoint has all the same.
    `vectors` counts elements of further learned vectors and tables. `is_cached` False: of an encoder with a causal
    mask, which keeps nothing. `square`: tokens of an image see those of their own square of so many rows and columns.
    `prefix`: tokens of one step see each other both ways, as those of a prompt that is read at once do.
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
    causal: bool = True
    k_bias: bool | None = None
    input_size: int | None = None
    gate_size: int = 0
    has_values: bool = True
    shares_cache: bool = False
    unused_parameters: int = 0
    v_norm: Norm | None = None
    vectors: int = 0
    gate_bias: bool = False
    is_cached: bool = True
    square: int | None = None
    prefix: bool = False

    @property
    def value_dim(self) -> int:
        return self.v_head_dim or self.head_dim

    @property
    def cache_elements_per_token(self) -> int:
        """Keys and values of one token in one layer, by key/value heads; 0 where an earlier layer's are used."""
        keeps = self.causal and self.is_cached and not self.shares_cache
        return self.attended_elements_per_token if keeps else 0

    @property
    def attended_elements_per_token(self) -> int:
        """Keys and values of one token that are attended to, whichever layer keeps them."""
        return self.kv_heads * (self.head_dim + self.value_dim)

    def projections(self, hidden_size: int) -> tuple[Matrix, ...]:
        """The products with the layer's input: queries, keys and values, and the output's gate."""
        read = self.input_size or hidden_size
        k_bias = self.qkv_bias if self.k_bias is None else self.k_bias
        found = [Matrix("q_proj", read, self.heads * self.head_dim, self.qkv_bias)]
        if not self.shares_cache:
            found.append(Matrix("k_proj", read, self.kv_heads * self.head_dim, k_bias))
            if self.has_values:
                found.append(Matrix("v_proj", read, self.kv_heads * self.value_dim, self.qkv_bias))
        if self.gate_size:
            found.append(Matrix("g_proj", read, self.gate_size, self.gate_bias))
        return tuple(found)

    def matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        """The projections of the input, then that of the output."""
        out = Matrix("o_proj", self.heads * self.value_dim, hidden_size, self.o_bias)
        return (*self.projections(hidden_size), out)

    @property
    def norms(self) -> tuple[Norm, ...]:
        return tuple(norm for norm in (self.q_norm, self.k_norm, self.v_norm) if norm)

    @property
    def vector_parameters(self) -> int:
        norms = sum(norm.parameters for norm in self.norms)
        return norms + (self.heads if self.sinks else 0) + self.vectors + self.unused_parameters


class Indexer(NamedTuple):
    """Chooses the tokens that a query of sparse attention sees, DeepSeek-V3.2-Exp (2025).

    Each of `heads` index queries [query_dim → head_dim] is scored against one index key [hidden → head_dim] of every
    token before it, which is cached beside the latents; the scores are weighed by a projection [hidden → heads].
    `norm` is that of the keys; `rotary_dim` elements of each query and key are rotated.
    """

    heads: int
    head_dim: int
    query_dim: int
    norm: Norm
    rotary_dim: int = 0

    def matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        return (
            Matrix("index_q_proj", self.query_dim, self.heads * self.head_dim),
            Matrix("index_k_proj", hidden_size, self.head_dim),
            Matrix("index_weights_proj", hidden_size, self.heads),
        )


class LatentAttention(NamedTuple):
    """Multi-head latent attention (MLA), DeepSeek-V2, arXiv:2405.04434: the cache holds one latent per token.

    With r = kv_lora_rank it keeps r + qk_rope_head_dim elements per token and layer, whatever the head count.
    `q_lora_rank` None: queries are projected directly. `bias` is on the down-projections and the output. `top_k`: a
    query sees no more than so many tokens, those that the `indexer` chooses; without one, an earlier layer's choice is
    used again. `rotates` False: the part of a head that others rotate is left as it is.
    `gate_size`: columns of a projection that gates the output, as for `Attention`.
    """

    heads: int
    q_lora_rank: int | None
    kv_lora_rank: int
    qk_nope_head_dim: int
    qk_rope_head_dim: int
    v_head_dim: int
    bias: bool = False
    top_k: int | None = None
    indexer: Indexer | None = None
    rotates: bool = True
    gate_size: int = 0
    window: None = None
    chunk: None = None

    @property
    def qk_head_dim(self) -> int:
        return self.qk_nope_head_dim + self.qk_rope_head_dim

    @property
    def cache_elements_per_token(self) -> int:
        """The latent and the rotary key of one token in one layer, and its index key."""
        return self.latent_elements_per_token + (self.indexer.head_dim if self.indexer else 0)

    @property
    def latent_elements_per_token(self) -> int:
        """The latent and the rotary key, which attention reads."""
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
            *(self.indexer.matrices(hidden_size) if self.indexer else ()),
            *((Matrix("g_proj", hidden_size, self.gate_size),) if self.gate_size else ()),
            Matrix("o_proj", self.heads * self.v_head_dim, hidden_size, self.bias),
        )

    @property
    def norms(self) -> tuple[Norm, ...]:
        latent = Norm(kind="rms", size=self.kv_lora_rank)
        query = () if self.q_lora_rank is None else (Norm(kind="rms", size=self.q_lora_rank),)
        return (*query, latent, *((self.indexer.norm,) if self.indexer else ()))

    @property
    def vector_parameters(self) -> int:
        return sum(norm.parameters for norm in self.norms)


class CrossAttention(NamedTuple):
    """Attention to another sequence: what an encoder made, its keys and values projected once and read in each step.

    `source_size` is the width of that sequence where it is not the layer's. `gate_size`, `vectors` as for `Attention`.
    """

    heads: int
    kv_heads: int
    head_dim: int
    source_size: int | None = None
    q_bias: bool = False
    k_bias: bool = False
    v_bias: bool = False
    o_bias: bool = False
    q_norm: Norm | None = None
    k_norm: Norm | None = None
    vectors: int = 0
    window: None = None
    chunk: None = None

    @property
    def cache_elements_per_token(self) -> int:
        """Nothing is kept of the tokens of the sequence itself."""
        return 0

    @property
    def source_elements_per_token(self) -> int:
        """Keys and values of one token of the other sequence."""
        return 2 * self.kv_heads * self.head_dim

    def source_matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        """The products with the other sequence: keys and values."""
        read, columns = self.source_size or hidden_size, self.kv_heads * self.head_dim
        return Matrix("cross_k_proj", read, columns, self.k_bias), Matrix("cross_v_proj", read, columns, self.v_bias)

    def own_matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        """The products with the sequence itself: queries and output."""
        width = self.heads * self.head_dim
        return (
            Matrix("cross_q_proj", hidden_size, width, self.q_bias),
            Matrix("cross_o_proj", width, hidden_size, self.o_bias),
        )

    def matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        query, out = self.own_matrices(hidden_size)
        return (query, *self.source_matrices(hidden_size), out)

    @property
    def norms(self) -> tuple[Norm, ...]:
        return tuple(norm for norm in (self.q_norm, self.k_norm) if norm)

    @property
    def vector_parameters(self) -> int:
        return sum(norm.parameters for norm in self.norms) + self.vectors


class ShortConvolution(NamedTuple):
    """A causal convolution over the last `kernel` tokens, each channel by itself.

    `kept`: so many inputs of each channel are kept by the class where they are not `kernel`; `kernel` - 1 are needed.
    """

    channels: int
    kernel: int
    bias: bool = False
    kept: int | None = None

    @property
    def parameters(self) -> int:
        return self.channels * (self.kernel + (1 if self.bias else 0))

    @property
    def state_elements(self) -> int:
        """Inputs of one sequence as the class keeps them."""
        return self.channels * (self.kernel if self.kept is None else self.kept)


class TokenShift(NamedTuple):
    """Inputs that are mixed with those of the token before by learned vectors, as RWKV does it.

    `kept`: elements of the token before. `mixes`: elements of the vectors; each is a weighted sum of two inputs.
    """

    kept: int
    mixes: int


class Recurrence(NamedTuple):
    """A mixer that carries a state of fixed size per sequence: state-space layers, linear attention, gated recurrences.

    The input is projected, passes a short convolution if there is one, then a scan that reads and writes the state
    once for each token, and is projected out. The state does not grow with the context.

    kind: what it is called ("mamba2", "gated_delta", …). projections: the products with the layer's input and those of
    narrow vectors that follow from it, in order. out: the products after the scan. state: elements of one sequence.
    scan_flops: vector FLOPs of one token, `scan_formula` in the `symbols` (symbol, value, what it is). vectors:
    elements of learned vectors (decays, skips, time steps). norms: those inside the mixer. shift: what of the token
    before is mixed into the input.
    """

    kind: str
    projections: tuple[Matrix, ...]
    out: tuple[Matrix, ...]
    state: int
    scan_flops: int
    scan_formula: str
    symbols: tuple[tuple[str, int | float, str], ...]
    convolution: ShortConvolution | None = None
    vectors: int = 0
    norms: tuple[Norm, ...] = ()
    shift: TokenShift | None = None
    window: None = None
    chunk: None = None

    @property
    def cache_elements_per_token(self) -> int:
        """No token is kept by itself."""
        return 0

    @property
    def convolution_state(self) -> int:
        """Elements of earlier tokens' inputs that are kept of one sequence."""
        convolved = self.convolution.state_elements if self.convolution else 0
        return convolved + (self.shift.kept if self.shift else 0)

    def matrices(self, hidden_size: int) -> tuple[Matrix, ...]:
        del hidden_size  # the mixer was built for it
        return (*self.projections, *self.out)

    @property
    def vector_parameters(self) -> int:
        convolution = self.convolution.parameters if self.convolution else 0
        mixes = self.shift.mixes if self.shift else 0
        return self.vectors + convolution + mixes + sum(norm.parameters for norm in self.norms)


Mixer: TypeAlias = Attention | LatentAttention | CrossAttention | Recurrence
