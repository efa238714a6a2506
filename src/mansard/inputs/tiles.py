"""Images that are cut into tiles of one size, each a sequence of its own: how many, by the published rules.

Each rule is a tuple of the sizes that the configuration states, with `reading(asked)` as in `inputs/perception.py`.
Beside the tiles runs a small copy of the whole image. `given` counts the encoder's tokens and the markers between them;
those that enclose a whole image are text of the prompt.
"""

from fractions import Fraction
from math import floor, sqrt
from typing import NamedTuple

from mansard.inputs.perception import Asked, Reading


class Tile(NamedTuple):
    """A square of `size` pixels in patches of `patch`, `beside` learned tokens with them; `given` go on from it."""

    size: int
    patch: int
    beside: int = 0
    given: int = 0

    @property
    def side(self) -> int:
        """Patches in a row."""
        return self.size // self.patch

    @property
    def tokens(self) -> int:
        """Tokens that run through the layers."""
        return self.side**2 + self.beside

    def read(self, tiles: int, given: int) -> Reading:
        """So many tiles as sequences, and what the decoder gets of them."""
        return Reading(tiles, self.tokens, given, (self.side, self.side))


class RatioTiles(NamedTuple):
    """Between `least` and `most` tiles in the grid whose shape is nearest to the image's, the image stretched onto it.

    Of grids equally near the one of more tiles is taken while their area is less than twice the image's. overview: a
    copy of the whole where there are several. A video's frames have one tile each. Source: InternVL 1.5,
    arXiv:2404.16821, 3.2, and its published preprocessor.
    """

    tile: Tile
    least: int
    most: int
    overview: bool = True

    @property
    def words(self) -> tuple[str, ...]:
        return ("images", "resolution", "frames")

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each tile.

        >>> RatioTiles(Tile(448, 14, 1, 256), 1, 12).reading(Asked(images=1, height=1080, width=1920))
        Reading(sequences=9, tokens=1025, given=2304, grid=(32, 32))
        """
        if not asked.images:
            return Reading()
        many = asked.images * asked.frames
        if asked.frames == 1:
            rows, columns = self._grid(asked.height, asked.width)
            several = self.overview and rows * columns > 1
            many *= rows * columns + (1 if several else 0)
        return self.tile.read(many, many * self.tile.given)

    def _grid(self, height: int, width: int) -> tuple[int, int]:
        most, area = range(1, self.most + 1), height * width
        grids = [(rows, columns) for columns in most for rows in most if self.least <= rows * columns <= self.most]
        best, nearest = (1, 1), float("inf")
        for rows, columns in sorted(grids, key=lambda grid: grid[0] * grid[1]):
            distance = abs(width / height - columns / rows)
            if distance < nearest or (distance == nearest and area > 0.5 * self.tile.size**2 * rows * columns):
                best, nearest = (rows, columns), distance
        return best


class CanvasTiles(NamedTuple):
    """No more than `most` tiles, in the grid onto which the image fits with the least scaling up, else down.

    Of equal ones the smallest. A copy of the whole where there are several, then one marker between two tiles of a row,
    one behind each row, and one before the copy. Source: the published preprocessor of Llama 4.
    """

    tile: Tile
    most: int

    @property
    def words(self) -> tuple[str, ...]:
        return ("images", "resolution", "frames")

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each tile.

        >>> CanvasTiles(Tile(336, 14, 1, 144), 16).reading(Asked(images=1, height=1080, width=1920))
        Reading(sequences=16, tokens=577, given=2320, grid=(24, 24))
        """
        many = asked.images * asked.frames
        if not many:
            return Reading()
        rows, columns = self._grid(asked.height, asked.width)
        tiles, markers = 1, 1
        if rows * columns > 1:
            tiles, markers = rows * columns + 1, rows * columns + 1
        return self.tile.read(many * tiles, many * (tiles * self.tile.given + markers))

    def _grid(self, height: int, width: int) -> tuple[int, int]:
        grids = [(rows, count // rows) for count in range(1, self.most + 1) for rows in range(1, count + 1)
                 if count % rows == 0]  # fmt: skip
        size = self.tile.size

        def scale(grid: tuple[int, int]) -> Fraction:
            return min(Fraction(grid[0] * size, height), Fraction(grid[1] * size, width))

        scales = [scale(grid) for grid in grids]
        up = [one for one in scales if one >= 1]
        wanted = min(up) if up else max(scales)
        fitting = [grid for grid, one in zip(grids, scales, strict=True) if one == wanted]
        return min(fitting, key=lambda grid: grid[0] * grid[1])


class ResolutionTiles(NamedTuple):
    """The canvas of `resolutions` that keeps most of the image's pixels, and of such the one that wastes least.

    Tokens of the padding are left out, and a learned one stands behind each row of patches; a copy of the whole comes
    first. most: tiles whose number of tokens is kept, larger images are scaled down to it. video: tokens of one frame,
    where frames are pooled; a learned one stands behind each video. Source: LLaVA-NeXT (2024); LLaVA-OneVision,
    arXiv:2408.03326, 3.2; their published preprocessors.
    """

    tile: Tile
    resolutions: tuple[tuple[int, int], ...]
    most: int | None = None
    video: int | None = None

    @property
    def words(self) -> tuple[str, ...]:
        return ("images", "resolution", "frames")

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each tile.

        >>> grids = ((336, 672), (672, 336), (672, 672), (1008, 336), (336, 1008))
        >>> ResolutionTiles(Tile(336, 14, 1, 576), grids).reading(Asked(images=1, height=1080, width=1920))
        Reading(sequences=5, tokens=577, given=1948, grid=(24, 24))
        """
        many = asked.images * asked.frames
        if not many:
            return Reading()
        if asked.frames > 1 and self.video is not None:
            return self.tile.read(many, many * self.video + asked.images)
        height, width = self._canvas(asked.height, asked.width)
        down, across = height // self.tile.size, width // self.tile.size
        rows, columns = self._unpadded(asked, down * self.tile.side, across * self.tile.side)
        if self.most is not None:
            ratio = sqrt(rows * columns / (self.most * self.tile.side**2))
            if ratio > 1.1:
                rows, columns = int(rows // ratio), int(columns // ratio)
        return self.tile.read(many * (down * across + 1), many * (self.tile.given + rows * (columns + 1)))

    def _canvas(self, height: int, width: int) -> tuple[int, int]:
        best, kept, wasted = self.resolutions[0], 0, 0
        for rows, columns in self.resolutions:
            scale = min(columns / width, rows / height)
            own = min(int(width * scale) * int(height * scale), height * width)
            if own > kept or (own == kept and rows * columns - own < wasted):
                best, kept, wasted = (rows, columns), own, rows * columns - own
        return best

    @staticmethod
    def _unpadded(asked: Asked, rows: int, columns: int) -> tuple[int, int]:
        if asked.width / asked.height > columns / rows:
            filled = floor(round(asked.height * (columns / asked.width), 7))
            return rows - (rows - filled) // 2 * 2, columns
        filled = floor(round(asked.width * (rows / asked.height), 7))
        return rows, columns - (columns - filled) // 2 * 2


class PaddedTiles(NamedTuple):
    """Always `most` tiles, empty ones among them, as one sequence; each tile's tokens are padded to a multiple of `to`.

    The padding goes no further than the layers. Source: the Llama 3 herd, arXiv:2407.21783, 7.1, and the published
    class of Llama 3.2 Vision, which masks empty tiles and computes them.
    """

    tile: Tile
    most: int
    to: int = 8

    @property
    def words(self) -> tuple[str, ...]:
        return ("images",)

    @property
    def tokens(self) -> int:
        """Tokens of one image."""
        return self.most * -(-self.tile.tokens // self.to) * self.to

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each image.

        >>> PaddedTiles(Tile(560, 14, 1), 4).reading(Asked(images=1))
        Reading(sequences=1, tokens=6432, given=6404, grid=(0, 0))
        """
        many = asked.images * asked.frames
        return Reading(many, self.tokens, many * self.most * self.tile.tokens) if many else Reading()
