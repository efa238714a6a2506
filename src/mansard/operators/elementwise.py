"""Work of the vector units: norms, activations, rotary positions, residuals, embedding look-up, routing, sampling.

The counts per element are the arithmetic of each formula, an exponential or a tanh counted as one operation. They are a
convention; matrix work doesn't depend on them.
"""

from typing import TYPE_CHECKING

from mansard.inputs.mechanisms import Embedding, FeedForward, MixtureOfExperts, Streams
from mansard.inputs.mixers import Attention, LatentAttention
from mansard.inputs.weights import Norm
from mansard.operators.attention import SOFTCAP_FLOPS, SOFTMAX_FLOPS
from mansard.operators.cost import Op, Setting, form
from mansard.operators.step import ONE, SAMPLED, TOKENS, Basis
from mansard.precision import WeightFormat

if TYPE_CHECKING:
    from fractions import Fraction

# RMS: square, accumulate, scale, weight. Layer norm: mean, subtract, square, accumulate, scale, weight, bias.
NORM_FLOPS = {"rms": 4, "layer": 7, "layer-no-bias": 6, "none": 5}
# x·cos + rotated(x)·sin: two multiplications and an addition.
ROTARY_FLOPS = 3
ACTIVATION_FLOPS = {
    "relu": 1,
    "relu2": 2,
    "silu": 4,  # x / (1 + exp(-x))
    "swish": 4,
    "sigmoid": 4,
    "xielu": 8,
}
GELU_FLOPS = 8  # x/2·(1 + tanh(√(2/π)·(x + 0.044715·x³))): the exact form and its variants count the same
SAMPLING_FLOPS = SOFTMAX_FLOPS  # a softmax over the vocabulary


def norm(name: str, part: Norm, setting: Setting, *, group: str, residual: bool = False, basis: Basis = TOKENS) -> Op:
    """A normalisation of one vector per token (`repeats` of them per head); with the residual's sum if that is fused.

    Bytes: the weight once; in and out, with fused residual two of each, unless activations stay on the chip.
    Source: RMS norm, arXiv:1910.07467; layer norm, arXiv:1607.06450.

    >>> from mansard.operators.step import Step
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> norm("norm", Norm("rms", 4096), setting, group="norm").cost(Step(8, 1, 0)).vector_flops, 4 * 4096 * 8
    (131072, 131072)
    """
    width = part.size * part.repeats
    vectors = {"full": 0, "usual": 4 if residual else 2, "none": 2}[setting.fusion]
    return Op(
        name=name,
        kind="norm",
        group=group,
        dtype=setting.activation_dtype,
        symbols=(("h", width, "elements per token"),),
        vector_flops=form(NORM_FLOPS[part.kind] * width, basis, f"{NORM_FLOPS[part.kind]}·h"),
        weight_bytes=form(setting.vector_bytes(part.parameters), ONE, "h·w"),
        activation_bytes=form(setting.activation_bytes(vectors * width), basis, f"{vectors}·h·a"),
    )


def residual(hidden_size: int, setting: Setting) -> Op:
    """The sum with the residual stream; its traffic is the norm's where the two are fused."""
    vectors = 3 if setting.fusion == "none" else 0
    return Op(
        name="residual",
        kind="elementwise",
        group="residual",
        dtype=setting.activation_dtype,
        symbols=(("h", hidden_size, "hidden size"),),
        vector_flops=form(hidden_size, TOKENS, "h"),
        activation_bytes=form(setting.activation_bytes(vectors * hidden_size), TOKENS, f"{vectors}·h·a"),
    )


def rotary(mixer: Attention | LatentAttention, setting: Setting) -> Op:
    """Rotary positions on the rotated part of every query and key head. Source: RoFormer, arXiv:2104.09864."""
    if isinstance(mixer, Attention):
        turned = mixer.heads + (0 if mixer.shares_cache else mixer.kv_heads)  # shared keys are rotated already
        rotated, width = turned * mixer.rotary_dim, turned * mixer.head_dim
    else:  # one rotary key for all heads, and one for all index heads
        rotated = width = (mixer.heads + 1) * mixer.qk_rope_head_dim
        if mixer.indexer:
            rotated += (mixer.indexer.heads + 1) * mixer.indexer.rotary_dim
            width += (mixer.indexer.heads + 1) * mixer.indexer.head_dim
    vectors = {"full": 0, "usual": 2, "none": 2}[setting.fusion]
    return Op(
        name="rotary",
        kind="elementwise",
        group="attention",
        dtype=setting.activation_dtype,
        symbols=(("d", rotated, "rotated elements per token"),),
        vector_flops=form(ROTARY_FLOPS * rotated, TOKENS, f"{ROTARY_FLOPS}·d"),
        activation_bytes=form(setting.activation_bytes(vectors * width), TOKENS, f"{vectors}·(H + H_kv)·d_qk·a"),
    )


def activation(name: str, part: FeedForward, setting: Setting, *, group: str, per_token: int = 1) -> Op:
    """The non-linearity, and the product with the gate: one kernel unless nothing is fused.

    Source: gates, arXiv:2002.05202; SiLU and GELU, arXiv:1606.08415.

    >>> from mansard.operators.step import Step
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> op = activation("activation", FeedForward(14336, gated=True), setting, group="feed_forward")
    >>> op.cost(Step(1, 1, 0)).vector_flops, (4 + 1) * 14336
    (71680, 71680)
    """
    width = part.intermediate_size * per_token
    flops = ACTIVATION_FLOPS.get(part.activation, GELU_FLOPS) + (1 if part.gated else 0)
    vectors = {"full": 0, "usual": 3 if part.gated else 2, "none": 5 if part.gated else 2}[setting.fusion]
    return Op(
        name=name,
        kind="elementwise",
        group=group,
        dtype=setting.activation_dtype,
        symbols=(("f", width, "elements per token"),),
        vector_flops=form(flops * width, TOKENS, f"{flops}·f"),
        weight_bytes=form(setting.vector_bytes(part.activation_parameters), ONE, "w"),
        activation_bytes=form(setting.activation_bytes(vectors * width), TOKENS, f"{vectors}·f·a"),
    )


def routing(part: MixtureOfExperts, hidden_size: int, setting: Setting) -> Op:
    """Softmax over the experts' scores, and the weighted sum of what the chosen experts return."""
    chosen = part.num_experts_per_tok
    moved = 0 if setting.fusion == "full" else part.num_experts + (chosen + 1) * hidden_size
    return Op(
        name="routing",
        kind="elementwise",
        group="experts",
        dtype=setting.activation_dtype,
        symbols=(
            ("E", part.num_experts, "experts"),
            ("k", chosen, "experts per token"),
            ("h", hidden_size, "hidden size"),
        ),
        vector_flops=form(SOFTMAX_FLOPS * part.num_experts + 2 * chosen * hidden_size, TOKENS, "(3·E + 2·k·h)"),
        activation_bytes=form(setting.activation_bytes(moved), TOKENS, "(E + (k + 1)·h)·a"),
    )


def lookup(part: Embedding, table: WeightFormat, setting: Setting, *, bits: "int | Fraction") -> Op:
    """The embedding: T rows of the table read (and of learned positions, token types, per-layer inputs), not the table.

    No arithmetic but the sum of what is added to the token's own row. `table`: the format of the tokens' rows; `bits`:
    of an element of the others.
    """
    row, added = part.row_elements, part.position_dim + (part.dim if part.token_types else 0)
    moved = 0 if setting.fusion == "full" else part.dim + part.per_layer_dim
    return Op(
        name="embedding",
        kind="embedding",
        group="embedding",
        dtype=setting.activation_dtype,
        symbols=(
            ("h", row, "elements that are looked up for a token"),
            ("h_added", added, "elements of them that are added to the token's own row"),
        ),
        vector_flops=form(added, TOKENS, "h_added"),
        weight_bytes=form(table.matrix_bytes(part.dim, 1) + -(-(row - part.dim) * bits // 8), TOKENS, "h·w"),
        activation_bytes=form(setting.activation_bytes(moved), TOKENS, "h·a"),
    )


def output_gate(gate_size: int, width: int, setting: Setting) -> Op:
    """Attention's output times the sigmoid of a gate, one for each element or for each head."""
    moved = 0 if setting.fusion == "full" else gate_size + 2 * width
    flops = ACTIVATION_FLOPS["sigmoid"] * gate_size + width
    return Op(
        name="output_gate",
        kind="elementwise",
        group="attention",
        dtype=setting.activation_dtype,
        symbols=(("g", gate_size, "gates per token"), ("N", width, "outputs of the heads")),
        vector_flops=form(flops, TOKENS, "(4·g + N)"),
        activation_bytes=form(setting.activation_bytes(moved), TOKENS, "(g + 2·N)·a"),
    )


def learned_vectors(name: str, elements: int, setting: Setting, *, group: str) -> Op:
    """Learned scales and other vectors that are read with the weights: a multiplication an element and token."""
    return Op(
        name=name,
        kind="elementwise",
        group=group,
        dtype=setting.activation_dtype,
        symbols=(("N", elements, "elements"),),
        vector_flops=form(elements, TOKENS, "N"),
        weight_bytes=form(setting.vector_bytes(elements), ONE, "N·w"),
    )


def added_vectors(name: str, elements: int, width: int, setting: Setting) -> Op:
    """Learned positions and tokens that an encoder adds to what runs through it: all are read, each token's added.

    elements: of all of them. width: of a token. The front end does the sum unless nothing is fused.
    """
    vectors = 2 if setting.fusion == "none" else 0
    return Op(
        name=name,
        kind="elementwise",
        group="embedding",
        dtype=setting.activation_dtype,
        symbols=(("N", elements, "elements"), ("h", width, "hidden size")),
        vector_flops=form(width, TOKENS, "h"),
        weight_bytes=form(setting.vector_bytes(elements), ONE, "N·w"),
        activation_bytes=form(setting.activation_bytes(vectors * width), TOKENS, f"{vectors}·h·a"),
    )


def mixed_streams(part: Streams, hidden_size: int, setting: Setting) -> Op:
    """The layer's input made of A residual streams, and its output added to all of them; each read and written twice.

    Sources: AltUp, arXiv:2301.13310; hyper-connections, arXiv:2409.19606.
    """
    moved = 0 if setting.fusion == "full" else 4 * part.number * hidden_size
    return Op(
        name="streams",
        kind="elementwise",
        group="residual",
        dtype=setting.activation_dtype,
        symbols=(("A", part.number, "residual streams"), ("h", hidden_size, "hidden size")),
        vector_flops=form(part.vector_flops, TOKENS, part.formula),
        weight_bytes=form(setting.vector_bytes(part.vectors), ONE, "w"),
        activation_bytes=form(setting.activation_bytes(moved), TOKENS, "4·A·h·a"),
    )


def logits_out(vocabulary: int, setting: Setting, *, softcap: bool) -> Op:
    """Sampling: a softmax over the vocabulary for each sampled position.

    With full fusion the logits are written once, the step's result; otherwise the head has written them and they are
    read here.
    """
    flops = SAMPLING_FLOPS + (SOFTCAP_FLOPS if softcap else 0)
    return Op(
        name="sampling",
        kind="sampling",
        group="head",
        dtype=setting.activation_dtype,
        symbols=(("V", vocabulary, "vocabulary"),),
        vector_flops=form(flops * vocabulary, SAMPLED, f"{flops}·V"),
        activation_bytes=form(setting.activation_bytes(vocabulary), SAMPLED, "V·a"),
    )


def sinks(heads: int, setting: Setting) -> Op:
    """Attention sinks: one learned logit a head, read with the weights and added to the softmax's sum."""
    return Op(
        name="sinks",
        kind="norm",
        group="attention",
        dtype=setting.activation_dtype,
        symbols=(("H", heads, "query heads"),),
        vector_flops=form(heads, Basis("tokens"), "H"),
        weight_bytes=form(setting.vector_bytes(heads), ONE, "H·w"),
    )
