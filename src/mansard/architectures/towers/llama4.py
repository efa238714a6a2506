"""Llama 4: a vision transformer over tiles of the image, four patches merged into one token by two matrices.

A class token behind the patches, learned and rotary positions, norms before and behind the layers.
`pixel_shuffle_ratio` 0.5 merges 2×2 patches, so that intermediate_size is the width of what is merged; a matrix without
a bias leads to the language model.

Sources: Meta, "The Llama 4 herd" (2025); the class Llama4ForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count
from mansard.architectures.towers._reading import LARGEST_SIDE, activation, note_unknown, part, seeing_layer
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.tiles import CanvasTiles, Tile
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("llama4",)
_MOST_TILES = 16


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower, the adapter and the projector."""
    own = part(keys, "vision_config")
    hidden = own.size("hidden_size", default=768)
    size = own.size("image_size", default=448, maximum=LARGEST_SIDE)
    patch = own.size("patch_size", default=14, maximum=LARGEST_SIDE)
    own.require(patch <= size, "patch_size", f"is more than image_size {size}", patch)
    channels, width = own.size("num_channels", default=3, maximum=1024), own.size("intermediate_size", default=5632)
    kind = activation(own, "hidden_act", default="gelu")
    layer = seeing_layer(own, hidden, own.size("num_attention_heads", default=16), width, kind=kind, rotated=True)
    squares = max(1, size // patch) ** 2
    tile = Tile(max(size, patch), patch, 1, _given(own, hidden, width, squares))
    tower = Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=(layer,) * layer_count(own, default=34),
        front=(Applied(Matrix("patch_embedding", channels * patch * patch, hidden), squares, squares + 1),),
        back=_behind(own, tile, width, model.hidden_size),
        norms=(layer_norm(hidden), layer_norm(hidden)),
        vectors=hidden + (squares + 1) * hidden,
        reads=CanvasTiles(tile, _MOST_TILES),
    )
    keys.note("tiles", f"images are cut into up to {_MOST_TILES} tiles, as the published preprocessor does")
    note_unknown(own)
    return replace(model, encoders=(tower,))


def _given(own: Keys, hidden: int, width: int, squares: int) -> int:
    """Tokens of a tile that are left after merging, which must be as wide as the adapter's input."""
    ratio = own.number("pixel_shuffle_ratio", default=0.5, minimum=0.01, maximum=1)
    wide = round(hidden / ratio**2)
    if own.document:  # the class's own defaults do not fit together
        problem = f"must be hidden_size over pixel_shuffle_ratio squared, {wide}"
        own.require(wide == width, "intermediate_size", problem, width)
    return max(1, round(squares * ratio * ratio))


def _behind(own: Keys, tile: Tile, width: int, out: int) -> tuple[Applied, ...]:
    into = own.size("projector_input_dim", default=4096)
    on = own.size("projector_output_dim", default=4096)
    own.require(into == on, "projector_output_dim", f"must be projector_input_dim, {into}", on)
    seen = own.size("vision_output_dim", default=7680)
    return tuple(
        Applied(matrix, tile.given, tile.tokens)
        for matrix in (
            Matrix("adapter_in", width, into),
            Matrix("adapter_out", on, on),
            Matrix("projector", seen, out),
        )
    )
