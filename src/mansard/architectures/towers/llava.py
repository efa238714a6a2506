"""LLaVA 1.5, and Pixtral in LLaVA's class: a vision tower's tokens through a perceptron into the prompt, one for one.

The features are those of layer `vision_feature_layer` (-2: the last but one), or of several side by side; the class
runs all layers all the same. `vision_feature_select_strategy` "default" leaves the first token out (CLIP's class
token), "full" keeps all.

Sources: arXiv:2310.03744, arXiv:2410.07073; the class LlavaForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures.towers._clip import CLIP_LARGE
from mansard.architectures.towers._vision import chosen, perceptron, vision
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import FixedImage

MODEL_TYPES = ("llava",)


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and its projector."""
    tower = vision(keys, "clip_vision_model", **CLIP_LARGE)
    given, width = chosen(keys, tower)
    reads = tower.reads
    if not isinstance(reads, FixedImage):  # Pixtral: all tokens, however many
        return replace(model, encoders=(tower._replace(back=perceptron(keys, width, model.hidden_size)),))
    tokens = (reads.size // reads.patch) ** 2 + reads.beside
    back = perceptron(keys, width, model.hidden_size, given, tokens)
    return replace(model, encoders=(tower._replace(back=back, reads=reads._replace(given=given)),))
