"""The ViT family: squares of an image as tokens behind a learned class token, learned positions, pre-normed layers.

ViTModel has a pooler on the class token, to `pooler_output_size`; ViTForImageClassification a product to the labels
instead. The published class reads images of `image_size` alone.

Sources: arXiv:2010.11929; the class ViTModel of Hugging Face transformers.
"""

from mansard.architectures._encoder_heads import Ends, pooled
from mansard.architectures._encoders import encoder_model, labels, named_class
from mansard.architectures._images import patches
from mansard.architectures._vit import tower, vit_layer
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("vit",)
ARCHITECTURES = ("ViTModel", "ViTForImageClassification")


def read(keys: Keys) -> ModelConfig:
    """A ViT-class configuration."""
    hidden = keys.size("hidden_size", default=768)
    squares = patches(keys, hidden, image_size=224, patch_size=16, beside=1)
    layer = vit_layer(keys, hidden)
    behind = _behind(keys, hidden, named_class(keys, ARCHITECTURES, "ViTModel"))
    positions = squares.tokens * hidden
    return encoder_model(keys, tower(keys, hidden, layer, squares, behind, vectors=hidden + positions))


def _behind(keys: Keys, hidden: int, name: str) -> Ends:
    if name == "ViTModel":
        return pooled("pooler", hidden, keys.optional_size("pooler_output_size") or hidden)
    return pooled("classifier", hidden, labels(keys))
