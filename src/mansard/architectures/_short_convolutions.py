"""Layers whose mixer is a gated short convolution, and the attention beside them, as LFM2 has both."""

from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Attention, Recurrence, ShortConvolution
from mansard.inputs.weights import Matrix


def gated_convolution(hidden_size: int, *, kernel: int, bias: bool) -> Recurrence:
    """LFM2's short convolution over h channels: y = C·conv(B·x), all of [h], with B, C and x of one product [h, 3·h].

    Vector FLOPs of a token: 2·h for the two gates; the convolution's own are counted with it. There is no state but the
    k inputs of each channel.

    Source: LFM2, arXiv:2511.23404; the class Lfm2ShortConv of Hugging Face transformers.

    >>> mixer = gated_convolution(2048, kernel=3, bias=False)
    >>> mixer.state, mixer.convolution_state, mixer.scan_flops
    (0, 6144, 4096)
    """
    return Recurrence(
        kind="gated_convolution",
        projections=(Matrix("in_proj", hidden_size, 3 * hidden_size, bias),),
        out=(Matrix("out_proj", hidden_size, hidden_size, bias),),
        state=0,
        scan_flops=2 * hidden_size,
        scan_formula="2·h",
        symbols=(("h", hidden_size, "channels"),),
        convolution=ShortConvolution(hidden_size, kernel, bias),
    )


def lfm2_convolution(keys: Keys, hidden_size: int) -> Recurrence:
    """The convolution layers' mixer by LFM2's keys."""
    for name in ("conv_dim", "conv_dim_out"):
        width = keys.optional_size(name)
        problem = f"must be hidden_size, {hidden_size}: the class has no other width of its convolutions"
        keys.require(width in (None, hidden_size), name, problem, width)
    bias = quiet_flag(keys, "conv_bias", default=False)
    return gated_convolution(hidden_size, kernel=keys.size("conv_L_cache", default=3), bias=bias)


def lfm2_attention(keys: Keys, hidden_size: int) -> Attention:
    """The attention layers' mixer by LFM2's keys: no biases, RMS norms on each head of queries and keys."""
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=8, floored=True)
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    return mixer._replace(q_norm=q_norm, k_norm=k_norm)


def lfm2_tied(keys: Keys) -> Keys:
    """The keys with LFM2's own word for a tied head, `tie_embedding`, which goes before the usual one."""
    if not keys.has("tie_embedding"):
        return keys
    return keys.over({**keys.document, "tie_word_embeddings": keys.flag("tie_embedding")})
