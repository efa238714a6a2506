"""Gemma 3: SigLIP over images of 896 pixels, 16 neighbouring patches averaged into one of 256 tokens an image.

Behind it a norm and one matrix. Tokens of an image see each other both ways in the language model; they are counted
under its causal mask.

Sources: arXiv:2503.19786; the class Gemma3ForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace
from math import isqrt

from mansard.architectures.towers._vision import vision
from mansard.inputs.encoder import Applied
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import FixedImage
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("gemma3",)


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and its projector."""
    tower = vision(keys, "siglip_vision_model")
    reads = tower.reads
    if not isinstance(reads, FixedImage):
        keys.fault("vision_config", "must be a tower of one image size")
        return model
    given, side = keys.size("mm_tokens_per_image", default=256), reads.size // reads.patch
    row = isqrt(given)
    keys.require(
        not keys.has("vision_config") or (row * row == given and side % row == 0),
        "mm_tokens_per_image",
        f"must be a square whose side divides the {side} patches of a row",
        given,
    )
    hidden = tower.hidden_size
    project = Applied(Matrix("projector", hidden, model.hidden_size), given, side * side, norm=Norm("rms", hidden))
    text = (
        "attention between the tokens of one image is counted as causal; the class lets them see each other both ways"
    )
    keys.note("image-attention", text)
    return replace(model, encoders=(tower._replace(back=(project,), reads=reads._replace(given=given)),))
