"""Idefics3 and SmolVLM: SigLIP over tiles of a stretched image, `scale_factor`² patches merged into one token.

One matrix without a bias leads to the language model. What the preprocessor stretches images to stands in the
vision_config of newer configurations (`size`); else four tiles a side are taken, as published ones have.

Sources: arXiv:2408.12637, arXiv:2504.05299; the classes Idefics3ForConditionalGeneration and
SmolVLMForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures.towers._clip import siglip
from mansard.architectures.towers._reading import LARGEST_SIDE, part
from mansard.inputs.encoder import Applied
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import FixedImage
from mansard.inputs.slices import StretchedTiles
from mansard.inputs.tiles import Tile
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("idefics3", "smolvlm")
_TOWER = {
    "hidden_size": 1152, "intermediate_size": 3072, "patch_size": 32, "image_size": 224, "num_hidden_layers": 12,
    "num_attention_heads": 16, "vision_use_head": False,
}  # fmt: skip
_TILES = 4


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and the matrix behind it."""
    own = part(keys, "vision_config")
    longest = _longest(own, "size")
    _longest(own, "max_image_size")
    own.has("use_base_siglip")
    tower = siglip(own, **_TOWER)
    reads = tower.reads
    if not isinstance(reads, FixedImage):
        return model
    merge, side = keys.size("scale_factor", default=2, maximum=1024), reads.size // reads.patch
    keys.require(side % merge == 0, "scale_factor", f"must divide the {side} patches of a row", merge)
    given = max(1, side // merge) ** 2
    tile = Tile(reads.size, reads.patch, 0, given)
    if longest is None:
        longest = _TILES * reads.size
        keys.note(
            "tiles", f"images are stretched to {_TILES} tiles of {reads.size}, as the published preprocessor does"
        )
    back = Applied(Matrix("projector", merge * merge * tower.hidden_size, model.hidden_size), given, tile.tokens)
    return replace(model, encoders=(tower._replace(back=(back,), reads=StretchedTiles(tile, longest)),))


def _longest(own: Keys, name: str) -> int | None:
    inner = own.nested(name)
    return inner.optional_size("longest_edge", maximum=LARGEST_SIDE) if own.has(name) else None
