"""PaliGemma: SigLIP's patches, a token of the prompt each; image and prompt see each other both ways.

What is made after the prompt sees what came before it, as in other decoders. `use_bidirectional_attention` false under
text_config takes the first away.

Sources: arXiv:2407.07726, arXiv:2412.03555; the class PaliGemmaForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._reading import quiet_flag
from mansard.architectures.towers._vision import vision
from mansard.inputs.encoder import Applied
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import FixedImage
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("paligemma",)
_TOWER = {
    "hidden_size": 1152, "intermediate_size": 4096, "patch_size": 14, "image_size": 224, "num_hidden_layers": 27,
    "num_attention_heads": 16, "vision_use_head": False,
}  # fmt: skip


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and projector, and attention both ways within the prompt."""
    tower = vision(keys, "siglip_vision_model", **_TOWER)
    reads = tower.reads
    if not isinstance(reads, FixedImage):
        keys.fault("vision_config", "must be a tower of one image size")
        return model
    out = keys.size("projection_dim", default=2048)
    keys.require(out == model.hidden_size, "projection_dim", f"must be the language model's, {model.hidden_size}", out)
    project = Applied(Matrix("projector", tower.hidden_size, out, bias=True))
    reads = reads._replace(given=(reads.size // reads.patch) ** 2)
    model = replace(model, encoders=(tower._replace(back=(project,), reads=reads),))
    if not quiet_flag(keys.nested("text_config"), "use_bidirectional_attention", default=True):
        return model
    made = {id(layer): _seeing(layer) for layer, _ in model.distinct_layers}
    return replace(model, layers=tuple(made.get(id(layer)) or _seeing(layer) for layer in model.layers))


def _seeing(layer: Layer) -> Layer:
    """The layer with attention both ways in a prompt; windows are wider than its prompts."""
    mixer = layer.mixer
    return layer._replace(mixer=mixer._replace(prefix=True)) if isinstance(mixer, Attention) else layer
