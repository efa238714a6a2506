"""SigLIP 2 of any proportions (NaFlex): SigLIP's towers, with squares that a linear layer makes of the processor's.

Images keep their proportions, are cut into at most `num_patches` squares and padded to as many; the table of positions
[num_patches, hidden] is stretched to each. SigLIP 2 of fixed sizes is of the type `siglip`.

Sources: arXiv:2502.14786; the class Siglip2Model of Hugging Face transformers.
"""

from mansard.architectures._siglip import classes, read_towers, vision_layers, with_pooling
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import PaddedImage
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("siglip2", "siglip2_text_model", "siglip2_vision_model")
ARCHITECTURES = classes("Siglip2")
READS_PARTS = True
_LARGEST_PATCH = 1 << 12


def read(keys: Keys) -> ModelConfig:
    """A configuration of both towers or of one."""
    return read_towers(keys, "Siglip2", vision)


def vision(keys: Keys) -> Encoder:
    """The tower for images."""
    hidden = keys.size("hidden_size", default=768)
    patch = keys.size("patch_size", default=16, maximum=_LARGEST_PATCH)
    channels = keys.size("num_channels", default=3, maximum=1024)
    squares = keys.size("num_patches", default=256)
    product = Matrix("patch_embedding", channels * patch * patch, hidden, bias=True)
    encoder = vision_layers(keys, hidden)
    encoder = encoder._replace(front=(Applied(product),), vectors=squares * hidden, reads=PaddedImage(squares))
    return with_pooling(keys, encoder)
