"""Images that are scaled first and then cut: into slices of any shape near one area, or into tiles of one size."""

from math import ceil, inf, log, sqrt
from typing import NamedTuple

from mansard.inputs.perception import Asked, Reading
from mansard.inputs.tiles import Tile


class SlicedImage(NamedTuple):
    """As many slices as the image has areas of `scale`² pixels, no more than `most`, in the grid nearest to its shape.

    Slices and the copy of the whole are scaled to about `scale`² pixels each, in whole patches; all run through the
    layers as long as the longest of them. Each part gives `given` tokens between two markers, and a line break stands
    between two rows of slices; `around`: further markers around them. Source: MiniCPM-V, arXiv:2408.01800, 3.2, and its
    published preprocessor.
    """

    scale: int
    patch: int
    most: int
    given: int
    around: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        return ("images", "resolution", "frames")

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each slice and for the whole.

        >>> SlicedImage(448, 14, 9, 64).reading(Asked(images=1, height=1080, width=1920))
        Reading(sequences=9, tokens=1032, given=595, grid=(0, 0))
        """
        many = asked.images * asked.frames
        if not many:
            return Reading()
        grid = self._grid(asked.height, asked.width)
        if grid is None:
            rows, columns = self._resized(asked.height, asked.width, up=True)
            return Reading(many, rows * columns, many * (self.given + 2))
        down, across = grid
        whole = self._resized(asked.height, asked.width, up=False)
        height, width = self._divided(asked.height, down) / down, self._divided(asked.width, across) / across
        slices = self._resized(height, width, up=True)
        parts = down * across + 1
        given = parts * (self.given + 2) + down - 1 + self.around
        return Reading(many * parts, max(whole[0] * whole[1], slices[0] * slices[1]), many * given)

    def _grid(self, height: int, width: int) -> tuple[int, int] | None:
        """Rows and columns of slices; None where the image is small enough to be left whole."""
        count = min(ceil(width * height / self.scale**2), self.most)
        if count <= 1:
            return None
        best, nearest = (1, 1), inf
        for slices in (count - 1, count, count + 1):
            if slices == 1 or slices > self.most:
                continue
            for columns in (one for one in range(1, slices + 1) if slices % one == 0):
                rows = slices // columns
                distance = abs(log(width / height) - log(columns / rows))
                if distance < nearest:
                    best, nearest = (rows, columns), distance
        return best

    def _resized(self, height: float, width: float, *, up: bool) -> tuple[int, int]:
        """Patches down and across, about `scale`² pixels of the same shape; smaller ones are scaled up if `up`."""
        if up or width * height > self.scale**2:
            shape = width / height
            height = int(self.scale / sqrt(shape))
            width = int(height * shape)
        return self._divided(height, self.patch) // self.patch, self._divided(width, self.patch) // self.patch

    @staticmethod
    def _divided(length: float, by: int) -> int:
        return max(round(length / by) * by, by)


class StretchedTiles(NamedTuple):
    """The longer side stretched to `longest` pixels, both then to whole tiles, and a copy of the whole after them.

    Two markers before each tile, a line break behind each row of them, two markers before the copy and one behind it. A
    video's frames are one tile each, without others. Source: Idefics3, arXiv:2408.12637, 3.2; SmolVLM,
    arXiv:2504.05299; their published preprocessors.
    """

    tile: Tile
    longest: int

    @property
    def words(self) -> tuple[str, ...]:
        return ("images", "resolution", "frames")

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each tile.

        >>> StretchedTiles(Tile(384, 14, 0, 81), 1536).reading(Asked(images=1, height=1080, width=1920))
        Reading(sequences=13, tokens=729, given=1083, grid=(27, 27))
        """
        many = asked.images * asked.frames
        if not many:
            return Reading()
        rows, columns = self._grid(asked.height, asked.width) if asked.frames == 1 else (0, 0)
        tiles = rows * columns
        given = (tiles + 1) * self.tile.given + 2 * tiles + rows + 3
        return self.tile.read(many * (tiles + 1), many * given)

    def _grid(self, height: int, width: int) -> tuple[int, int]:
        shape, size = width / height, self.tile.size
        if width >= height:
            rows, columns = int(self.longest / shape), self.longest
            rows += rows % 2
        else:
            rows, columns = self.longest, int(self.longest * shape)
            columns += columns % 2
        rows, columns = max(1, rows), max(1, columns)
        shape = columns / rows
        if columns >= rows:
            columns = -(-columns // size) * size
            rows = -(-int(columns / shape) // size) * size
        else:
            rows = -(-rows // size) * size
            columns = -(-int(rows * shape) // size) * size
        rows, columns = max(1, rows // size), max(1, columns // size)
        return (0, 0) if rows * columns == 1 else (rows, columns)
