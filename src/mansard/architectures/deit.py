"""The DeiT family: ViT with a second learned token, from which it was distilled.

Classifiers see the class token; DeiTForImageClassificationWithTeacher has a product for each of the two tokens.

Sources: arXiv:2012.12877; the class DeiTModel of Hugging Face transformers.
"""

from mansard.architectures._encoder_heads import Ends, pooled
from mansard.architectures._encoders import encoder_model, labels, named_class
from mansard.architectures._images import patches
from mansard.architectures._vit import tower, vit_layer
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("deit",)
ARCHITECTURES = ("DeiTModel", "DeiTForImageClassification", "DeiTForImageClassificationWithTeacher")


def read(keys: Keys) -> ModelConfig:
    """A DeiT-class configuration."""
    hidden = keys.size("hidden_size", default=768)
    squares = patches(keys, hidden, image_size=224, patch_size=16, beside=2)
    behind = _behind(keys, hidden, named_class(keys, ARCHITECTURES, "DeiTModel"))
    vectors = (2 + squares.tokens) * hidden
    return encoder_model(keys, tower(keys, hidden, vit_layer(keys, hidden), squares, behind, vectors=vectors))


def _behind(keys: Keys, hidden: int, name: str) -> Ends:
    if name == "DeiTModel":
        return pooled("pooler", hidden, keys.optional_size("pooler_output_size") or hidden)
    once = pooled("classifier", hidden, labels(keys)).back
    return Ends(back=once * (2 if name.endswith("WithTeacher") else 1))
