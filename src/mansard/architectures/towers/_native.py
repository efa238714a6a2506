"""What the towers of Qwen-VL, GLM-V and Kimi share: patches of images near their own size, merged by squares behind."""

from mansard.architectures.towers._reading import LARGEST_SIDE
from mansard.inputs.encoder import Applied
from mansard.inputs.keys import Keys
from mansard.inputs.perception import NativeImage
from mansard.inputs.weights import Matrix, Norm


def patched(keys: Keys, hidden: int, *, patch: int, merge: int = 2, bias: bool = False) -> tuple[Applied, NativeImage]:
    """The product that makes a token of a patch of some frames, and how images are read, without bounds of pixels."""
    side = keys.size("patch_size", default=patch, maximum=LARGEST_SIDE)
    frames = keys.size("temporal_patch_size", default=2, maximum=1024)
    squares = keys.size("spatial_merge_size", default=merge, maximum=1024)
    channels = keys.size("in_channels", default=3, maximum=1024) if keys.has("in_channels") else 3
    if keys.has("in_chans"):  # an older name, which the classes do not read
        keys.require(keys.size("in_chans") == channels, "in_chans", f"must be {channels}, as the class has it")
    if keys.has("spatial_patch_size"):
        keys.require(keys.size("spatial_patch_size") == side, "spatial_patch_size", f"must be patch_size, {side}")
    product = Matrix("patch_embedding", channels * frames * side * side, hidden, bias)
    return Applied(product, kind="convolution"), NativeImage(side, squares, 1, 1, frames)


def bounded(keys: Keys, reads: NativeImage, least: int, most: int, video: tuple[int, int] | None = None) -> NativeImage:
    """The reading with bounds of pixels, which stand in the published preprocessors and not in the configuration."""
    keys.note("image-bounds", f"images are scaled to {least:,} to {most:,} pixels, as the published preprocessor does")
    return reads._replace(min_pixels=least, max_pixels=most, video=video)


def merger(hidden: int, out: int, side: int, norm: Norm | None = None, name: str = "merger") -> tuple[Applied, Applied]:
    """side² neighbouring tokens side by side through two layers, [side²·hidden]² and [side²·hidden, out]."""
    wide = side * side * hidden
    into = Applied(Matrix(f"{name}_in", wide, wide, bias=True), per=side * side, norm=norm)
    return into, Applied(Matrix(f"{name}_out", wide, out, bias=True), per=side * side)
