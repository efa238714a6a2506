"""Any-resolution tiles as LLaVA-NeXT and LLaVA-OneVision have them, with LLaVA's perceptron behind them."""

from collections.abc import Sequence

from mansard.architectures.towers._reading import LARGEST_SIDE
from mansard.architectures.towers._vision import chosen, perceptron
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.perception import FixedImage
from mansard.inputs.tiles import ResolutionTiles, Tile

_MOST_CANVASES = 1000


def tiled(
    keys: Keys, tower: Encoder, hidden: int, canvases: Sequence[tuple[int, int]], *, layer: int = -2,
    strategy: str = "default", most: int | None = None, pools_video: bool = False,
) -> Encoder:  # fmt: skip
    """The tower over tiles of its own image size, with a perceptron and one vector [hidden] behind each row."""
    reads = tower.reads
    if not isinstance(reads, FixedImage):
        keys.fault("vision_config", "must be a tower of one image size: tiles have it")
        return tower
    given, width = chosen(keys, tower, layer=layer, strategy=strategy)
    tile = Tile(reads.size, reads.patch, reads.beside, given)
    if given != tile.side**2:
        problem = "must leave as many tokens as there are patches, which lie in rows"
        keys.require(False, "vision_feature_select_strategy", problem, keys.raw("vision_feature_select_strategy"))
    grids = _canvases(keys, canvases, reads.size)
    pooled = ((tile.side + 1) // 2) ** 2 if pools_video else None
    return tower._replace(
        back=perceptron(keys, width, hidden, given, tile.tokens),
        vectors=tower.vectors + hidden,
        reads=ResolutionTiles(tile, grids, most, pooled),
    )


def _canvases(keys: Keys, otherwise: Sequence[tuple[int, int]], size: int) -> tuple[tuple[int, int], ...]:
    """Height and width of each canvas of `image_grid_pinpoints`, in pixels: whole tiles."""
    name = "image_grid_pinpoints"
    stated = keys.raw(name)
    if stated is None:
        keys.note("class-default", f"{name} is absent: the default of the class, {len(otherwise)} canvases")
        stated = otherwise
    pairs = stated if isinstance(stated, (list, tuple)) else []
    found = [tuple(pair) for pair in pairs[:_MOST_CANVASES] if isinstance(pair, (list, tuple)) and len(pair) == 2]
    sound = [
        (one[0], one[1]) for one in found
        if all(isinstance(side, int) and size <= side <= LARGEST_SIDE and side % size == 0 for side in one)
    ]  # fmt: skip
    keys.require(
        bool(sound) and len(sound) == len(pairs), name, f"must list pairs of multiples of image_size {size}", stated
    )
    return tuple(sound) or ((size, size),)
