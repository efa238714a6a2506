"""Phi-4-multimodal's sound encoder, a Conformer: convolutions that take eight frames to one, then layers with one more.

A layer has a gated part, attention without a mask and with a table of relative positions, a gated convolution over
`kernel_size` tokens of each channel, and another gated part. Depthwise convolutions are products of their kernel's
elements with one output each. The front end is counted for whole tokens.

Sources: arXiv:2005.08100, arXiv:2503.01743; the class Phi4MultimodalAudioModel of Hugging Face transformers.
"""

from mansard.architectures._plain import layer_norm, plain_attention
from mansard.architectures._reading import layer_count
from mansard.architectures.towers._reading import activation
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.sounds import ChunkedAudio
from mansard.inputs.weights import Matrix

_SIDE = 3  # of the front end's convolutions
_MOST_TOKENS = 500
_WINDOW_S, _STEP_S = 0.025, 0.01


def conformer(keys: Keys, table: int) -> Encoder:
    """The encoder by the library's keys or those of the published class. table: the reach of relative positions."""
    hidden = keys.size("hidden_size", "attention_dim", default=1024)
    heads = keys.size("num_attention_heads", "attention_heads", default=16)
    layers = _layers(keys, hidden, heads)
    reduced = keys.size("time_reduction", default=8, maximum=1024)
    keys.require(reduced & (reduced - 1) == 0, "time_reduction", "must be a power of two", reduced)
    if keys.has("chunk_size"):
        whole = keys.raw("chunk_size")
        keys.require(whole == -1, "chunk_size", "must be -1: attention in chunks is not counted", whole)
    return Encoder(
        name="audio",
        modality="audio",
        hidden_size=hidden,
        layers=layers * layer_count(keys, "num_blocks", default=24),
        front=_front(keys, hidden, reduced.bit_length() - 1),
        vectors=2 * table * heads,
        reads=ChunkedAudio(_WINDOW_S, _STEP_S, reduced, _MOST_TOKENS),
    )


def _layers(keys: Keys, hidden: int, heads: int) -> tuple[Layer, Layer]:
    """One layer as two: the first gated part, then all that follows."""
    width = keys.size("intermediate_size", "linear_units", default=1536)
    part = FeedForward(width, gated=True, activation=activation(keys, "activation", default="swish"), bias=True)
    mixer = plain_attention(keys, hidden, heads, bias=True)._replace(causal=False)
    out = keys.size("ext_pw_out_channel", default=1024)
    apart = keys.size("depthwise_separable_out_channel", "depthwise_seperable_out_channel", default=1024)
    wide = hidden * keys.size("depthwise_multiplier", default=1, maximum=64)
    kernel = keys.size("kernel_size", default=3, maximum=1024)
    keys.require(
        out == apart == hidden, "ext_pw_out_channel", f"must be the hidden size, {hidden}, as its neighbours", out
    )
    convolution = (
        Matrix("conv_glu", hidden, 2 * out, bias=True),
        Matrix("conv_depthwise", kernel, wide, bias=True),
        Matrix("conv_pointwise", wide, apart, bias=True),
        Matrix("conv_out", hidden, out, bias=True),
    )
    norm = layer_norm(hidden)
    first = Layer(mixer=None, feed_forward=part, norms=(norm,))
    return first, Layer(mixer=mixer, feed_forward=part, norms=(norm,) * 4, extras=convolution, vectors=2 * out)


def _front(keys: Keys, hidden: int, halvings: int) -> tuple[Applied, ...]:
    settings = keys.nested("nemo_conv_settings")
    channels = settings.size("conv_channels") if settings.has("conv_channels") else 0
    channels = channels or keys.size("nemo_conv_channels", default=1024)
    bins, times = keys.size("input_size", default=80, maximum=1 << 16), 1 << halvings
    kernel = Matrix("front_conv", _SIDE * _SIDE, channels, bias=True)
    found = []
    for index in range(halvings):
        bins, times = -(-bins // 2), times // 2
        found.append(Applied(kernel, times=times * bins, kind="convolution"))
        if index:
            mixed = Matrix("front_pointwise", channels, channels, bias=True)
            found.append(Applied(mixed, times=times * bins, kind="convolution"))
    return (*found, Applied(Matrix("front_out", channels * bins, hidden, bias=True)))
