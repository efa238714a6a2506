"""ViT's stack, which several families have with other tokens beside the squares, or other ends."""

from mansard.architectures._encoder_heads import Ends
from mansard.architectures._encoders import activation, both_ways, plain_layer
from mansard.architectures._images import Patches
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count, quiet_flag
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer


def vit_layer(keys: Keys, hidden_size: int) -> Layer:
    """A layer by ViT's keys and defaults; `qkv_bias` false takes the biases of queries, keys and values away."""
    bias = quiet_flag(keys, "qkv_bias", default=True)
    mixer = both_ways(keys, hidden_size, keys.size("num_attention_heads", default=12), bias=bias, o_bias=True)
    width = keys.size("intermediate_size", default=3072)
    return plain_layer(mixer, hidden_size, width, activation(keys, "hidden_act"))


def tower(keys: Keys, hidden_size: int, layer: Layer, squares: Patches, behind: Ends, *, vectors: int) -> Encoder:
    """Twelve such layers, unless the configuration says otherwise, and a last norm."""
    return Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden_size,
        layers=(layer,) * layer_count(keys, default=12),
        front=squares.front,
        back=behind.back,
        norms=(layer_norm(hidden_size), *behind.norms),
        vectors=vectors + behind.vectors,
        reads=squares.reads,
    )
