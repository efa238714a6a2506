"""What vision towers share: squares of an image as tokens, and learned tokens beside them."""

from typing import NamedTuple

from mansard.inputs.encoder import Applied
from mansard.inputs.keys import Keys
from mansard.inputs.perception import FixedImage
from mansard.inputs.weights import Matrix

_LARGEST_SIDE = 1 << 16


class Patches(NamedTuple):
    """How an image becomes tokens: `squares`, and `beside` learned ones. front: the product that makes the squares'.

    The convolution steps by its own width, so that it is a product of each square's numbers.
    """

    front: tuple[Applied, ...]
    squares: int
    beside: int
    reads: FixedImage

    @property
    def tokens(self) -> int:
        return self.squares + self.beside


def patches(
    keys: Keys,
    hidden_size: int,
    *,
    image_size: int,
    patch_size: int,
    bias: bool = True,
    beside: int = 0,
) -> Patches:
    """Squares of `patch_size` of an image of `image_size` and `num_channels`, by the usual keys and given defaults."""
    side = keys.size("image_size", default=image_size, maximum=_LARGEST_SIDE)
    patch = keys.size("patch_size", default=patch_size, maximum=_LARGEST_SIDE)
    channels = keys.size("num_channels", default=3, maximum=1024)
    fits = patch <= side or not keys.is_sound("image_size")
    keys.require(fits, "patch_size", f"is more than image_size {side}", patch)
    count = max(1, side // patch) ** 2
    product = Matrix("patch_embedding", channels * patch * patch, hidden_size, bias)
    # All tokens run through the layers, and only the squares come out of the convolution.
    front = Applied(product, times=count, per=count + beside, kind="convolution")
    return Patches((front,), count, beside, FixedImage(max(side, patch), patch, beside=beside))
