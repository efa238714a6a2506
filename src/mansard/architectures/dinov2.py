"""The DINOv2 family, with and without registers: ViT with a learned scale behind each part, at patches of 14.

The part is `mlp_ratio` times as wide as the model; with `use_swiglu_ffn` (giant) it is gated and two thirds of that,
rounded up to eights. Registers are learned tokens beside the class token, without positions. A learned token of masks
is stored and not used. Classifiers see the class token and the mean of the others. The configuration's `image_size` is
that of the table of positions; processors scale images to another, often 224.

Sources: arXiv:2304.07193, arXiv:2309.16588; the class Dinov2Model of Hugging Face transformers.
"""

from mansard.architectures._encoder_heads import Ends, pooled
from mansard.architectures._encoders import activation, both_ways, encoder_model, labels, named_class
from mansard.architectures._images import patches
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import quiet_flag
from mansard.architectures._vit import tower
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("dinov2", "dinov2_with_registers")
_REGISTERED = "Dinov2WithRegisters"
ARCHITECTURES = (
    "Dinov2Model", "Dinov2ForImageClassification", f"{_REGISTERED}Model", f"{_REGISTERED}ForImageClassification",
)  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A DINOv2-class configuration."""
    has_registers = keys.raw("model_type") == MODEL_TYPES[1] or _REGISTERED in str(keys.raw("architectures"))
    name = named_class(keys, ARCHITECTURES, f"{_REGISTERED if has_registers else 'Dinov2'}Model")
    hidden = keys.size("hidden_size", default=768)
    registers = keys.size("num_register_tokens", default=4, minimum=0) if has_registers else 0
    patch = 16 if has_registers else 14
    squares = patches(keys, hidden, image_size=224, patch_size=patch, beside=1 + registers)
    has_mask = has_registers or quiet_flag(keys, "use_mask_token", default=True)
    vectors = (1 + has_mask + registers + squares.squares + 1) * hidden
    behind = Ends() if name.endswith("Model") else pooled("classifier", 2 * hidden, labels(keys))
    text = "images are counted at image_size; a processor that scales them to another size changes the work"
    keys.note("image-size", text)
    return encoder_model(keys, tower(keys, hidden, _layer(keys, hidden), squares, behind, vectors=vectors))


def _layer(keys: Keys, hidden: int) -> Layer:
    bias = quiet_flag(keys, "qkv_bias", default=True)
    mixer = both_ways(keys, hidden, keys.size("num_attention_heads", default=12), bias=bias, o_bias=True)
    norm = layer_norm(hidden)
    return Layer(mixer=mixer, feed_forward=_part(keys, hidden), norms=(norm, norm), vectors=2 * hidden)


def _part(keys: Keys, hidden: int) -> FeedForward:
    width = int(hidden * keys.number("mlp_ratio", default=4, minimum=1 / 64, maximum=1024))
    kind = activation(keys, "hidden_act")
    if quiet_flag(keys, "use_swiglu_ffn", default=False):
        return FeedForward((width * 2 // 3 + 7) // 8 * 8, gated=True, activation="silu", bias=True)
    return FeedForward(width, gated=False, activation=kind, bias=True)
