"""Qwen2.5-VL: Qwen2-VL's patches in gated layers with RMS norms, most of which see a window of the image only.

A window is a square of `window_size` pixels, cut off at the image's edges; the layers of `fullatt_block_indexes` see
the whole image. `hidden_size` is the tower's, `out_hidden_size` the language model's.

Sources: arXiv:2502.13923; the class Qwen2_5_VLForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._reading import layer_count
from mansard.architectures.towers._native import bounded, merger, patched
from mansard.architectures.towers._reading import activation, note_unknown, part, require_width, seeing_layer
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("qwen2_5_vl",)


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and the merger behind it."""
    return replace(model, encoders=(windowed_tower(keys, model.hidden_size),))


def windowed_tower(keys: Keys, decoder_size: int) -> Encoder:
    """The tower of `vision_config`, its merger included."""
    own = part(keys, "vision_config")
    hidden = own.size("hidden_size", default=3584)
    front, reads = patched(own, hidden, patch=14)
    kind = activation(own, "hidden_act", default="silu")
    width = own.size("intermediate_size", default=3420)
    heads = own.size("num_heads", default=16)
    whole = seeing_layer(own, hidden, heads, width, kind=kind, norm="rms", gated=True, rotated=True)
    out = own.size("out_hidden_size", default=3584)
    require_width(own, "out_hidden_size", out, decoder_size)
    tower = Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=_layers(own, whole, _square(own, reads.patch, reads.merge)),
        front=(front,),
        back=merger(hidden, out, reads.merge),
        norms=(Norm("rms", hidden),),
        reads=bounded(keys, reads, 56 * 56, 28 * 28 * 16384),
    )
    note_unknown(own)
    return tower


def _square(own: Keys, patch: int, merge: int) -> int:
    """Rows of patches of a window: whole squares that are merged, as many as fit into `window_size`."""
    pixels = own.size("window_size", default=112)
    squares = pixels // merge // patch
    own.require(squares > 0, "window_size", f"must be at least {merge * patch}, the pixels that are merged", pixels)
    return max(1, squares) * merge


def _layers(own: Keys, whole: Layer, square: int) -> tuple[Layer, ...]:
    count = layer_count(own, "depth", default=32)
    named = own.sizes("fullatt_block_indexes", default=(7, 15, 23, 31), minimum=0, maximum=MOST_LAYERS)
    mixer = whole.mixer
    windowed = whole._replace(mixer=mixer._replace(square=square)) if isinstance(mixer, Attention) else whole
    return tuple(whole if index in named else windowed for index in range(count))
