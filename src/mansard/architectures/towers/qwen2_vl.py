"""Qwen2-VL: patches of two frames in layers with whole attention over one image, four merged into one token.

`hidden_size` of its vision_config is the language model's, `embed_dim` the tower's. Text says where an image begins and
ends with a token each, which are the prompt's.

Sources: arXiv:2409.12191; the class Qwen2VLForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count
from mansard.architectures.towers._native import bounded, merger, patched
from mansard.architectures.towers._reading import activation, note_unknown, part, require_width, seeing_layer
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen2_vl",)


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and the merger behind it."""
    own = part(keys, "vision_config")
    hidden = own.size("embed_dim", default=1280)
    front, reads = patched(own, hidden, patch=14)
    heads = own.size("num_heads", default=16)
    width = int(hidden * own.number("mlp_ratio", default=4, minimum=0.01, maximum=1000))
    kind = activation(own, "hidden_act", default="quick_gelu")
    layer = seeing_layer(own, hidden, heads, max(1, width), kind=kind, rotated=True)
    out = own.size("hidden_size", default=3584)
    require_width(own, "hidden_size", out, model.hidden_size)
    tower = Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=(layer,) * layer_count(own, "depth", default=32),
        front=(front,),
        back=merger(hidden, out, reads.merge),
        norms=(layer_norm(hidden),),
        reads=bounded(keys, reads, 56 * 56, 28 * 28 * 16384),
    )
    note_unknown(own)
    return replace(model, encoders=(tower,))
