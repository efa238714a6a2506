"""LLaVA-OneVision: LLaVA-NeXT's tiles of a SigLIP tower, up to 36 of them, their tokens scaled down to those of nine.

`vision_aspect_ratio` "anyres_max_9" says of how many tiles tokens are kept. A video's frames are pooled to a quarter.

Sources: arXiv:2408.03326; the class LlavaOnevisionForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures.towers._anyres import tiled
from mansard.architectures.towers._vision import vision
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("llava_onevision",)
_CANVASES = tuple((384 * rows, 384 * columns) for rows in range(1, 7) for columns in range(1, 7))
_TOWER = {
    "hidden_size": 1152, "intermediate_size": 4304, "patch_size": 14, "image_size": 384, "num_hidden_layers": 26,
    "num_attention_heads": 16, "vision_use_head": False,
}  # fmt: skip


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower, its projector and the vector behind each row."""
    tower = vision(keys, "siglip_vision_model", **_TOWER)
    rule = keys.text("vision_aspect_ratio", default="anyres_max_9")
    number = rule.removeprefix("anyres_max_")
    keys.require(
        number.isdecimal() and 0 < int(number[:6]) < 10_000,
        "vision_aspect_ratio",
        "must be anyres_max_ and a number of tiles",
        rule,
    )
    most = max(1, int(number[:6])) if number.isdecimal() else 9
    found = tiled(keys, tower, model.hidden_size, _CANVASES, layer=-1, strategy="full", most=most, pools_video=True)
    return replace(model, encoders=(found,))
