"""Encoder-decoders of BART's kind: layers with biases, layer norms and cross-attention, and tables of positions."""

from collections.abc import Sequence
from typing import NamedTuple

from mansard.architectures._encoders import activation
from mansard.architectures._plain import layer_norm, plain_attention
from mansard.architectures._reading import layer_count
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import CrossAttention
from mansard.inputs.weights import Norm


class StackDefaults(NamedTuple):
    """Sizes of a class where its configuration states none; both stacks alike. k_bias: whether keys have a bias."""

    layers: int = 12
    heads: int = 16
    width: int = 4096
    activation: str = "gelu"
    k_bias: bool = True


def encoder_layers(keys: Keys, hidden: int, usual: StackDefaults) -> tuple[Layer, ...]:
    """The encoder's layers, by `encoder_layers`, `encoder_attention_heads` and `encoder_ffn_dim`."""
    heads = keys.size("encoder_attention_heads", "num_attention_heads", default=usual.heads)
    mixer = plain_attention(keys, hidden, heads, bias=True)._replace(causal=False, k_bias=usual.k_bias)
    norm = layer_norm(hidden)
    layer = Layer(mixer=mixer, feed_forward=_part(keys, "encoder_ffn_dim", usual), norms=(norm, norm))
    return (layer,) * layer_count(keys, "encoder_layers", default=usual.layers)


def decoder_layers(keys: Keys, hidden: int, usual: StackDefaults) -> tuple[Layer, ...]:
    """The decoder's layers, by the same keys of its own: attention to itself, to the encoder's output, three norms."""
    heads = keys.size("decoder_attention_heads", default=usual.heads)
    mixer = plain_attention(keys, hidden, heads, bias=True)._replace(k_bias=usual.k_bias)
    across = CrossAttention(
        heads=heads, kv_heads=heads, head_dim=mixer.head_dim, q_bias=True, k_bias=usual.k_bias, v_bias=True, o_bias=True
    )
    part = _part(keys, "decoder_ffn_dim", usual)
    layer = Layer(mixer=mixer, feed_forward=part, norms=(layer_norm(hidden),) * 3, beside=(across,))
    return (layer,) * layer_count(keys, "decoder_layers", default=usual.layers)


def _part(keys: Keys, name: str, usual: StackDefaults) -> FeedForward:
    kind = activation(keys, "activation_function", default=usual.activation)
    return FeedForward(keys.size(name, default=usual.width), gated=False, activation=kind, bias=True)


def last_norms(hidden: int, *, normed: bool) -> tuple[Norm, ...]:
    """The norm behind a stack of pre-normed layers; none where norms come after each part."""
    return (layer_norm(hidden),) if normed else ()


def named(prefixes: Sequence[str], suffixes: Sequence[str]) -> tuple[str, ...]:
    """Names of classes."""
    return tuple(f"{prefix}{suffix}" for prefix in prefixes for suffix in suffixes)
