"""The SigLIP family: two towers that see both ways, the one for images with a head of attention.

Squares of an image have no class token beside them; a learned query attends to all of them behind the layers (see
`with_pooling`), and a feed-forward part follows. The text tower projects its last token. SiglipModel has both towers, a
scale and a shift; SiglipTextModel and SiglipVisionModel have one.

Sources: arXiv:2303.15343; the class SiglipModel of Hugging Face transformers.
"""

from mansard.architectures._images import patches
from mansard.architectures._siglip import classes, read_towers, vision_layers, with_pooling
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("siglip", "siglip_text_model", "siglip_vision_model")
ARCHITECTURES = classes("Siglip")
READS_PARTS = True


def read(keys: Keys) -> ModelConfig:
    """A configuration of both towers or of one."""
    return read_towers(keys, "Siglip", vision)


def vision(keys: Keys) -> Encoder:
    """The tower for images, as models of images and text have it too."""
    hidden = keys.size("hidden_size", default=768)
    squares = patches(keys, hidden, image_size=224, patch_size=16)
    encoder = vision_layers(keys, hidden)
    encoder = encoder._replace(front=squares.front, vectors=squares.tokens * hidden, reads=squares.reads)
    return with_pooling(keys, encoder)
