"""Llama 3.2 Vision: tiles of an image as one sequence, to whose features some layers of the language model attend.

`num_hidden_layers` plain layers, then `num_global_layers` with a gate on each branch. Features of the layers of
`intermediate_layers_indices` lie beside the last ones, so that `vision_output_dim` is hidden_size once more than there
are of them. Tables tell where a tile and a patch lie, [shapes of images + 1] rows for all tiles of an image each.

Sources: arXiv:2407.21783, 7; the class MllamaForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count
from mansard.architectures.towers._reading import LARGEST_SIDE, activation, note_unknown, part, seeing_layer
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.tiles import PaddedTiles, Tile
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("mllama",)
_SHAPES = 8  # grids of one to four tiles
_DEPTHS = (3, 7, 15, 23, 30)


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and projector."""
    own = part(keys, "vision_config")
    hidden = own.size("hidden_size", default=1280)
    reads = _reads(own)
    tokens, squares = reads.tile.tokens, reads.tile.side**2
    channels = own.size("num_channels", default=3, maximum=1024)
    patches = Matrix("patch_embedding", channels * reads.tile.patch**2, hidden)
    project = Matrix("projector", _width(own, hidden), model.hidden_size, bias=True)
    of_shape = reads.most * (tokens + 2) * hidden
    tower = Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=_layers(own, hidden),
        front=(Applied(patches, reads.most * squares, reads.tokens, kind="convolution"),),
        back=(Applied(project, reads.most * tokens, reads.tokens),),
        norms=(layer_norm(hidden), layer_norm(hidden)),
        vectors=hidden + tokens * hidden + of_shape + 3,
        unused=_shapes(own) * of_shape,  # of the tables' rows an image of one shape takes one
        reads=reads,
    )
    text = "without an image the class skips the layers that attend to one; they are counted with it"
    keys.note("cross-attention", text)
    note_unknown(own)
    return replace(model, encoders=(tower,))


def _reads(own: Keys) -> PaddedTiles:
    size = own.size("image_size", default=448, maximum=LARGEST_SIDE)
    patch = own.size("patch_size", default=14, maximum=LARGEST_SIDE)
    own.require(patch <= size, "patch_size", f"is more than image_size {size}", patch)
    return PaddedTiles(Tile(max(size, patch), patch, 1), own.size("max_num_tiles", default=4, maximum=64))


def _layers(own: Keys, hidden: int) -> tuple[Layer, ...]:
    heads, width = own.size("attention_heads", default=16), own.size("intermediate_size", default=5120)
    kind = activation(own, "hidden_act", default="gelu")
    layer = seeing_layer(own, hidden, heads, width, kind=kind, bias=False, part_bias=True)
    plain = layer_count(own, default=32)
    return (layer,) * plain + (layer._replace(vectors=2),) * own.size(
        "num_global_layers", default=8, minimum=0, maximum=MOST_LAYERS
    )


def _width(own: Keys, hidden: int) -> int:
    depths = own.sizes("intermediate_layers_indices", default=_DEPTHS, minimum=0, maximum=MOST_LAYERS)
    width = own.size("vision_output_dim", default=7680)
    wanted = hidden * (len(depths) + 1)
    own.require(
        width == wanted, "vision_output_dim", f"must be hidden_size of {len(depths) + 1} layers, {wanted}", width
    )
    return width


def _shapes(own: Keys) -> int:
    stated = own.raw("supported_aspect_ratios")
    if stated is None:
        own.note("class-default", f"supported_aspect_ratios is absent: the default of the class, {_SHAPES} of them")
        return _SHAPES
    own.require(
        isinstance(stated, list) and 0 < len(stated) < 4096, "supported_aspect_ratios", "must be a list", stated
    )
    return len(stated) if isinstance(stated, list) else _SHAPES
