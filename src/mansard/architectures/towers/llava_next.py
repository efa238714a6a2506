"""LLaVA-NeXT (LLaVA 1.6): LLaVA's tower and perceptron over the tiles of a canvas near the image's shape.

`image_grid_pinpoints` lists the canvases in pixels. One learned vector [hidden] stands behind each row of patches.

Sources: the LLaVA-NeXT page (2024); the class LlavaNextForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures.towers._anyres import tiled
from mansard.architectures.towers._clip import CLIP_LARGE
from mansard.architectures.towers._vision import vision
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("llava_next",)
_CANVASES = ((336, 672), (672, 336), (672, 672), (1008, 336), (336, 1008))


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower, its projector and the vector behind each row."""
    tower = vision(keys, "clip_vision_model", **CLIP_LARGE)
    return replace(model, encoders=(tiled(keys, tower, model.hidden_size, _CANVASES),))
