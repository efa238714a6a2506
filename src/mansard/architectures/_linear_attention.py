"""Linear attention with a matrix of state per head: the delta rule, gated by head or by channel of the keys.

A token decays the state, corrects what it holds under the token's key, and reads it with the token's query. The work is
counted once for each token, on the vector units, in prefill as in decode.
"""

from collections.abc import Sequence

from mansard.architectures._experts import gated, routed
from mansard.architectures._heads import head_attention, head_norms, rotary_share
from mansard.architectures._reading import quiet_flag
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mechanisms import MixtureOfExperts
from mansard.inputs.mixers import Attention, Recurrence, ShortConvolution
from mansard.inputs.weights import Matrix, Norm

EXPERTS = ("num_experts", "num_local_experts")
LINEAR, FULL = "linear_attention", "full_attention"
# Tokens of a chunk, by which engines and classes prefill.
CHUNK = 64


def gated_delta(
    projections: Sequence[Matrix],
    out: Matrix,
    *,
    key_heads: int,
    value_heads: int,
    key_dim: int,
    value_dim: int,
    kernel: int,
) -> Recurrence:
    """Gated DeltaNet: H value heads, each with a state [K, V]; G key heads, each of which serves H/G value heads.

    Queries, keys and values [2·G·K + H·V] pass one convolution; beside them are projected a gate [H·V], a decay [H] and
    a rate of writing [H]. Learned are A and the time step's bias [H] each. With q and k of unit length, for each value
    head and token, α = exp(-A·softplus(a + bias)) and β = sigmoid(b): S = α·S; S = S + β·k·(v - Sᵀ·k)ᵀ; y = Sᵀ·q. The
    output is normalised [V] per head and multiplied by silu(gate).

    Vector FLOPs of a token: 7·H·K·V for the state (decay, two to read with k, two to add the outer product, two to read
    with q), 7·H·V beside it (v - Sᵀ·k and its product with β, gate 5), 10·H for α (bias, softplus 3, product, exp) and
    β (4), 7·G·K for the lengths of q and k (3 each) and the scale of q, 4·C for the activation of the convolution.
    State: H·K·V elements of a sequence, and k inputs of each of the C channels.

    Source: Gated Delta Networks, arXiv:2412.06464, section 3; the class Qwen3NextGatedDeltaNet of Hugging Face
    transformers.

    >>> into, out = Matrix("in_proj", 2048, 12352), Matrix("out_proj", 4096, 2048)
    >>> mixer = gated_delta([into], out, key_heads=16, value_heads=32, key_dim=128, value_dim=128, kernel=4)
    >>> mixer.state, mixer.convolution_state, mixer.scan_flops
    (524288, 32768, 3746112)
    >>> 7 * 32 * 128 * 128 + 7 * 32 * 128 + 10 * 32 + 7 * 16 * 128 + 4 * (2 * 16 * 128 + 32 * 128)
    3746112
    """
    keys, values = key_heads * key_dim, value_heads * value_dim
    state, mixed = values * key_dim, 2 * keys + values
    return Recurrence(
        kind="gated_delta",
        projections=tuple(projections),
        out=(out,),
        state=state,
        scan_flops=7 * state + 7 * values + 10 * value_heads + 7 * keys + 4 * mixed,
        scan_formula="(7·H·K·V + 7·H·V + 10·H + 7·G·K + 4·C)",
        symbols=(
            ("H", value_heads, "value heads"),
            ("G", key_heads, "key heads"),
            ("K", key_dim, "size of a key"),
            ("V", value_dim, "size of a value"),
            ("C", mixed, "channels of the convolution: 2·G·K + H·V"),
        ),
        convolution=ShortConvolution(mixed, kernel),
        vectors=2 * value_heads,
        norms=(Norm(kind="rms", size=value_dim, repeats=value_heads),),
    )


def kimi_delta(hidden_size: int, *, heads: int, head_dim: int, kernel: int, narrow: bool = True) -> Recurrence:
    """Kimi Delta Attention: H heads with a state [K, V] each, K = V, whose decay is of each channel of the keys.

    Queries, keys and values [h, H·K] each pass one convolution; decay and output gate come by way of K columns
    [h, K], [K, H·K] each, or directly [h, H·K] unless they are `narrow`; the rate of writing directly [h, H]. Learned
    are A [H] and the time step's bias [H·K]. With q and k of unit length, for each head and token: S = Diag(α)·S;
    S = S + β·k·(v - Sᵀ·k)ᵀ; y = Sᵀ·q, as in Gated DeltaNet. The output is normalised [V] per head and multiplied by
    sigmoid(gate).

    Vector FLOPs of a token: 7·H·K·V for the state (decay, two to read with k, two to add the outer product, two to read
    with q), 7·H·V beside it (v - Sᵀ·k and its product with β, gate 5), 6·H·K for α (bias, softplus 3, product, exp),
    4·H for β, 7·H·K for the lengths of q and k (3 each) and the scale of q, 4·C for the activation of the convolution.
    State: H·K·V elements of a sequence, and k inputs of each of the C channels.

    Source: Kimi Linear, arXiv:2510.26692, section 3; the class KimiLinearDeltaAttention of Hugging Face transformers.

    >>> mixer = kimi_delta(2304, heads=32, head_dim=128, kernel=4)
    >>> mixer.state, mixer.convolution_state, mixer.scan_flops
    (524288, 49152, 3801216)
    >>> 7 * 32 * 128 * 128 + (7 + 6 + 7) * 32 * 128 + 4 * 32 + 4 * 3 * 32 * 128
    3801216
    """
    width = heads * head_dim
    state, mixed = width * head_dim, 3 * width

    def spread(name: str) -> tuple[Matrix, ...]:
        if not narrow:
            return (Matrix(f"{name}_proj", hidden_size, width),)
        return Matrix(f"{name}_a_proj", hidden_size, head_dim), Matrix(f"{name}_b_proj", head_dim, width)

    return Recurrence(
        kind="kimi_delta",
        projections=(
            *(Matrix(name, hidden_size, width) for name in ("q_proj", "k_proj", "v_proj")),
            *spread("f"),
            Matrix("b_proj", hidden_size, heads),
            *spread("g"),
        ),
        out=(Matrix("o_proj", width, hidden_size),),
        state=state,
        scan_flops=7 * state + 20 * width + 4 * heads + 4 * mixed,
        scan_formula="(7·H·K·V + 7·H·V + 13·H·K + 4·H + 4·C)",
        symbols=(
            ("H", heads, "heads"),
            ("K", head_dim, "size of a key"),
            ("V", head_dim, "size of a value"),
            ("C", mixed, "channels of the convolution: 3·H·K"),
        ),
        convolution=ShortConvolution(mixed, kernel),
        vectors=heads + width,
        norms=(Norm(kind="rms", size=head_dim, repeats=heads),),
    )


def lightning(hidden_size: int, *, heads: int, head_dim: int) -> Recurrence:
    """Lightning attention: H heads with a state [K, V] each, K = V, that decays by a constant of its head and layer.

    Queries, keys and values [h, 3·H·K] pass a SiLU; for each head and token S = λ·S + k·vᵀ and y = Sᵀ·q. The output is
    normalised over all heads [H·V], multiplied by the sigmoid of a gate [h, H·V], and projected back. No rotation.

    Vector FLOPs of a token: 5·H·K·V for the state (decay, two to add the outer product, two to read), 12·H·K for the
    SiLU of queries, keys and values, 5·H·V for the gate. State: H·K·V elements of a sequence. In blocks of B tokens
    there are 2·B·H·(K + V) + 4·H·K·V matrix FLOPs a token in their place.

    Source: Lightning Attention-2, arXiv:2401.04658; MiniMax-01, arXiv:2501.08313; the class
    MiniMaxLightningAttention of Hugging Face transformers.

    >>> mixer = lightning(6144, heads=64, head_dim=128)
    >>> mixer.state, mixer.scan_flops, 5 * 64 * 128 * 128 + (12 + 5) * 64 * 128
    (1048576, 5382144, 5382144)
    """
    width = heads * head_dim
    return Recurrence(
        kind="lightning",
        projections=(Matrix("qkv_proj", hidden_size, 3 * width), Matrix("output_gate", hidden_size, width)),
        out=(Matrix("out_proj", width, hidden_size),),
        state=width * head_dim,
        scan_flops=5 * width * head_dim + 17 * width,
        scan_formula="(5·H·K·V + 12·H·K + 5·H·V)",
        symbols=(("H", heads, "heads"), ("K", head_dim, "size of a key"), ("V", head_dim, "size of a value")),
        norms=(Norm(kind="rms", size=width),),
    )


def chunk_flops(mixer: Recurrence) -> int:
    """Matrix FLOPs of one token where the delta rule is prefilled in chunks of C tokens, the whole square of each.

    For each value head: keys with keys and queries with keys, 2·C·K each; the triangular system solved for values and
    keys, C·(K + V); the scores' product with the values, 2·C·V; three products with the state, 2·K·V each.
    Source: arXiv:2412.06464, section 3; DeltaNet in parallel over the sequence, arXiv:2406.06484.

    >>> into, out = Matrix("in_proj", 2048, 12352), Matrix("out_proj", 4096, 2048)
    >>> mixer = gated_delta([into], out, key_heads=16, value_heads=32, key_dim=128, value_dim=128, kernel=4)
    >>> chunk_flops(mixer), 32 * (5 * 64 * 128 + 3 * 64 * 128 + 6 * 128 * 128)
    (5242880, 5242880)
    """
    size = {symbol: int(value) for symbol, value, _ in mixer.symbols}
    return size["H"] * CHUNK * (5 * size["K"] + 3 * size["V"]) + 6 * mixer.state


def note_chunks(keys: Keys, mixer: Recurrence, *, chunk: int = CHUNK, flops: int | None = None) -> None:
    """Says that the scan is counted as a recurrence, and what an engine does that prefills in chunks.

    flops: matrix FLOPs of a token then; None: those of the delta rule.
    """
    text = (
        f"the scan is counted as a recurrence, {mixer.scan_flops:,} vector FLOPs a token and layer; engines that "
        f"prefill in chunks of {chunk:,} tokens do {flops or chunk_flops(mixer):,} matrix FLOPs in its place"
    )
    keys.note("scan", text)


class DeltaSizes:
    """The sizes of gated delta layers by the keys `linear_…`, with the class defaults of Qwen3-Next."""

    def __init__(self, keys: Keys) -> None:
        self.value_heads = keys.size("linear_num_value_heads", default=32)
        self.key_heads = keys.size("linear_num_key_heads", default=16)
        self.key_dim = keys.size("linear_key_head_dim", default=128)
        self.value_dim = keys.size("linear_value_head_dim", default=128)
        self.kernel = keys.size("linear_conv_kernel_dim", default=4)
        problem = f"must divide linear_num_value_heads, {self.value_heads}"
        keys.require(self.value_heads % self.key_heads == 0, "linear_num_key_heads", problem, self.key_heads)

    @property
    def keys(self) -> int:
        """Columns of all keys, and of all queries."""
        return self.key_heads * self.key_dim

    @property
    def values(self) -> int:
        """Columns of all values, and of all gates."""
        return self.value_heads * self.value_dim

    def mixer(self, projections: Sequence[Matrix], out: Matrix) -> Recurrence:
        return gated_delta(
            projections,
            out,
            key_heads=self.key_heads,
            value_heads=self.value_heads,
            key_dim=self.key_dim,
            value_dim=self.value_dim,
            kernel=self.kernel,
        )


def split_delta(keys: Keys, hidden_size: int) -> Recurrence:
    """Gated delta layers as Qwen3.5 has them: queries, keys and values in one product, gate, rate and decay apart."""
    sizes = DeltaSizes(keys)
    into = (
        Matrix("in_proj_qkv", hidden_size, 2 * sizes.keys + sizes.values),
        Matrix("in_proj_z", hidden_size, sizes.values),
        Matrix("in_proj_b", hidden_size, sizes.value_heads),
        Matrix("in_proj_a", hidden_size, sizes.value_heads),
    )
    mixer = sizes.mixer(into, Matrix("out_proj", sizes.values, hidden_size))
    note_chunks(keys, mixer)
    return mixer


def gated_attention(keys: Keys, hidden_size: int, *, kv_heads: int) -> Attention:
    """Qwen3-Next's attention, whose output is multiplied by the sigmoid of a gate, one for each of its elements.

    The gate's columns lie in the queries' projection, which is twice as wide. RMS norms on each head of queries and
    keys; a quarter of each head is rotated. Source: arXiv:2505.06708.
    """
    mixer = head_attention(
        keys,
        hidden_size,
        heads=16,
        kv_heads=kv_heads,
        head_dim=256,
        bias=quiet_flag(keys, "attention_bias", default=False),
        rotary=rotary_share(keys, default=0.25),
    )
    stated = quiet_flag(keys, "attn_output_gate", default=True)
    keys.require(stated, "attn_output_gate", "must be true: the class always gates the output of its attention", stated)
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    return mixer._replace(
        q_norm=q_norm, k_norm=k_norm, gate_size=mixer.heads * mixer.head_dim, gate_bias=mixer.qkv_bias
    )


def qwen_experts(keys: Keys, *, experts: int, top_k: int) -> MixtureOfExperts:
    """Qwen's mixture with the class defaults given: small experts, and one shared one behind a sigmoid gate [h, 1]."""
    return routed(
        keys,
        names=EXPERTS,
        experts=experts,
        top_k=top_k,
        expert=gated(keys.size("moe_intermediate_size", default=512)),
        shared_width=keys.size("shared_expert_intermediate_size", default=512),
        shared_gate=True,
    )


def interval_kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """The kind of each layer: from `layer_types`, else attention on every `full_attention_interval`-th."""
    name = "full_attention_interval"
    listed = keys.has("layer_types")
    each = keys.size(name, default=4, maximum=MOST_LAYERS) if keys.has(name) or not listed else 0
    by_interval = tuple(LINEAR if each and (index + 1) % each else FULL for index in range(layers))
    if not listed:
        return by_interval
    kinds = keys.texts("layer_types", length=layers, choices=(LINEAR, FULL))
    if each and kinds != by_interval and keys.is_sound("layer_types"):
        keys.note("ignored-key", f"{name} is left out: the class goes by layer_types, which says otherwise", "warning")
    return kinds
