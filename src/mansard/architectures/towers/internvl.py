"""InternVL: InternViT over tiles of the image, four patches of a tile merged into one token by a perceptron.

OpenGVLab's own configurations (internvl_chat) say how many tiles there may be; those of Hugging Face's class (internvl)
leave it to the preprocessor, whose defaults are the same. `downsample_ratio` 0.5 merges 2×2 patches.

Sources: arXiv:2404.16821; the published InternVLChatModel of OpenGVLab; the class InternVLForConditionalGeneration of
Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import quiet_flag
from mansard.architectures.towers._internvit import Squares, internvit
from mansard.architectures.towers._reading import part
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.tiles import RatioTiles, Tile
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("internvl", "internvl_chat")


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and the perceptron behind it."""
    hub = keys.raw("model_type") == "internvl_chat"
    found = internvit(part(keys, "vision_config"), hub=hub)
    if hub:
        for name in ("use_backbone_lora", "use_llm_lora"):
            rank = keys.size(name, default=0, minimum=0) if keys.has(name) else 0
            keys.require(rank == 0, name, "adds low-rank matrices, which are not counted", rank)
        if keys.has("force_image_size"):
            forced = keys.size("force_image_size")
            keys.require(forced == found.size, "force_image_size", f"must be image_size, {found.size}", forced)
        many = (
            keys.size("min_dynamic_patch", default=1, maximum=64),
            keys.size("max_dynamic_patch", default=6, maximum=64),
        )
        overview = quiet_flag(keys, "use_thumbnail", default=False)
        if not quiet_flag(keys, "dynamic_image_size", default=False):
            many = (1, 1)
    else:
        many, overview = (1, 12), True
        keys.note("tiles", "images are cut into up to 12 tiles, as the published preprocessor does")
    return replace(model, encoders=(_merged(keys, found, model.hidden_size, many, overview=overview),))


def _merged(keys: Keys, found: Squares, hidden: int, many: tuple[int, int], *, overview: bool) -> Encoder:
    ratio = keys.number("downsample_ratio", default=0.5, minimum=0.01, maximum=1)
    merge = max(1, int(1 / ratio))
    side = found.size // found.patch
    keys.require(side % merge == 0, "downsample_ratio", f"must divide the {side} patches of a row evenly", ratio)
    given = max(1, side // merge) ** 2
    tile = Tile(found.size, found.patch, 1, given)
    wide = merge * merge * found.tower.hidden_size
    back = (
        Applied(Matrix("merger_in", wide, hidden, bias=True), given, tile.tokens, norm=layer_norm(wide)),
        Applied(Matrix("merger_out", hidden, hidden, bias=True), given, tile.tokens),
    )
    least, most = many
    keys.require(least <= most, "min_dynamic_patch", f"must be at most max_dynamic_patch, {most}", least)
    return found.tower._replace(back=back, reads=RatioTiles(tile, least, max(least, most), overview))
