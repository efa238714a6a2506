"""The DINOv3 family of ViTs: rotary positions instead of a table, registers, a learned scale behind each part.

Biases have a flag each: keys have none by default. The rotation is of every square's heads, not of the class token and
the registers; it is counted for all. A learned token of masks is stored and not used.

Sources: arXiv:2508.10104; the class DINOv3ViTModel of Hugging Face transformers.
"""

from mansard.architectures._encoder_heads import Ends
from mansard.architectures._encoders import activation, both_ways, encoder_model, named_class
from mansard.architectures._images import patches
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import quiet_flag
from mansard.architectures._vit import tower
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("dinov3_vit",)
ARCHITECTURES = ("DINOv3ViTModel",)


def read(keys: Keys) -> ModelConfig:
    """A DINOv3-ViT-class configuration."""
    named_class(keys, ARCHITECTURES, "DINOv3ViTModel")
    hidden = keys.size("hidden_size", default=384)
    registers = keys.size("num_register_tokens", default=0, minimum=0)
    squares = patches(keys, hidden, image_size=224, patch_size=16, beside=1 + registers)
    part = FeedForward(
        intermediate_size=keys.size("intermediate_size", default=1536),
        gated=quiet_flag(keys, "use_gated_mlp", default=False),
        activation=activation(keys, "hidden_act"),
        bias=quiet_flag(keys, "mlp_bias", default=True),
    )
    norm = layer_norm(hidden)
    layer = Layer(mixer=_attention(keys, hidden), feed_forward=part, norms=(norm, norm), vectors=2 * hidden)
    return encoder_model(keys, tower(keys, hidden, layer, squares, Ends(), vectors=(2 + registers) * hidden))


def _attention(keys: Keys, hidden: int) -> Attention:
    bias = quiet_flag(keys, "query_bias", default=True)
    keys.require(quiet_flag(keys, "value_bias", default=True) == bias, "query_bias", "differs from value_bias", bias)
    heads = keys.size("num_attention_heads", default=6)
    mixer = both_ways(keys, hidden, heads, bias=bias, o_bias=quiet_flag(keys, "proj_bias", default=True))
    return mixer._replace(k_bias=quiet_flag(keys, "key_bias", default=False), rotary_dim=mixer.head_dim)
