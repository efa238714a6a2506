"""Mistral Small 3.1 and later: Pixtral's tower, 2×2 patches merged into one token, a norm and a perceptron.

Markers between the rows of tokens as in Pixtral.

Sources: the Mistral Small 3.1 announcement (2025); the class Mistral3ForConditionalGeneration of Hugging Face
transformers.
"""

from dataclasses import replace

from mansard.architectures._reading import quiet_flag
from mansard.architectures.towers._pixtral import pixtral
from mansard.architectures.towers._reading import part
from mansard.inputs.encoder import Applied
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("mistral3",)


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower, the merging of patches and the perceptron."""
    merge = keys.size("spatial_merge_size", default=2, maximum=64)
    own = part(keys, "vision_config")
    kind = own.text("model_type", default="pixtral")
    own.require(kind == "pixtral", "model_type", "must be pixtral, whose patches are merged", kind)
    tower = pixtral(own, merge=merge)
    layers = keys.raw("vision_feature_layer")
    keys.require(not isinstance(layers, list) or len(layers) == 1, "vision_feature_layer", "must be one layer", layers)
    hidden, out, each = tower.hidden_size, model.hidden_size, merge * merge
    bias = quiet_flag(keys, "multimodal_projector_bias", default=False)
    back = (
        Applied(Matrix("projector_merge", each * hidden, hidden), per=each, norm=Norm("rms", hidden, repeats=each)),
        Applied(Matrix("projector_in", hidden, out, bias), per=each),
        Applied(Matrix("projector_out", out, out, bias), per=each),
    )
    return replace(model, encoders=(tower._replace(back=back),))
