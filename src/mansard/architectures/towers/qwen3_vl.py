"""Qwen3-VL and Qwen3.5: patches with learned and rotary positions in plain layers; features of several depths go on.

Beside the merger behind the last layer there is one for each layer of `deepstack_visual_indexes`, with a norm over the
merged tokens; what it gives is added to the image's tokens in the first layers of the language model. A video's frames
are told apart by their times in the prompt's text. Qwen3.5 has the same tower, and no mergers but the last.

Sources: the Qwen3-VL technical report, arXiv:2511.21631; the classes Qwen3VLForConditionalGeneration,
Qwen3VLMoeForConditionalGeneration and Qwen3_5ForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count
from mansard.architectures.towers._native import bounded, merger, patched
from mansard.architectures.towers._reading import activation, note_unknown, part, require_width, seeing_layer
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen3_vl", "qwen3_vl_moe", "qwen3_5", "qwen3_5_moe")
_DEPTHS = (8, 16, 24)
_LAST_ONLY = ("qwen3_5", "qwen3_5_moe")


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and the mergers behind it."""
    return replace(model, encoders=(_tower(keys, model.hidden_size),))


def _tower(keys: Keys, decoder_size: int) -> Encoder:
    own = part(keys, "vision_config")
    hidden = own.size("hidden_size", default=1152)
    front, reads = patched(own, hidden, patch=16, bias=True)
    kind = activation(own, "hidden_act", default="gelu_pytorch_tanh")
    width = own.size("intermediate_size", default=4304)
    layer = seeing_layer(own, hidden, own.size("num_heads", default=16), width, kind=kind, rotated=True)
    count = layer_count(own, "depth", default=27)
    out = own.size("out_hidden_size", default=3584)
    require_width(own, "out_hidden_size", out, decoder_size)
    table = own.size("num_position_embeddings", default=2304)
    named = _depths(keys, own, count)
    tower = Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=(layer,) * count,
        front=(front,),
        back=(*_deep(hidden, out, reads.merge, len(named)), *merger(hidden, out, reads.merge)),
        norms=(layer_norm(hidden),),
        vectors=table * hidden,
        reads=bounded(keys, reads, 65536, 16777216, video=(4096, 25165824)),
    )
    note_unknown(own)
    return tower


def _depths(keys: Keys, own: Keys, count: int) -> tuple[int, ...]:
    """The layers behind which features go on, beside the last."""
    name = "deepstack_visual_indexes"
    if keys.raw("model_type") in _LAST_ONLY:
        own.require(not own.raw(name), name, "must be empty: the class has no mergers but the last", own.raw(name))
        return ()
    named = own.sizes(name, default=_DEPTHS, minimum=0, maximum=MOST_LAYERS)
    own.require(all(one < count for one in named), name, f"must be below depth, {count}", named)
    return named


def _deep(hidden: int, out: int, side: int, depths: int) -> tuple[Applied, ...]:
    norm = layer_norm(side * side * hidden)
    return tuple(one for _ in range(depths) for one in merger(hidden, out, side, norm, name="deepstack"))
