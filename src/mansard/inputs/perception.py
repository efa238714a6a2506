"""What an encoder reads of a request: how many sequences of how many tokens an image, a sound or a text becomes.

Each way of reading is a tuple of the sizes that the configuration states, with `reading(asked)`: exact token counts by
the rule of the published preprocessor. Tokens are those that run through the encoder's layers; `given` are those that
the language model gets afterwards.
"""

from math import ceil, floor, sqrt
from typing import NamedTuple, Protocol


class Asked(NamedTuple):
    """What a request brings: text tokens, images (or videos, of `frames` frames each) of one size, seconds of sound."""

    prompt: int = 0
    images: int = 0
    height: int = 0
    width: int = 0
    frames: int = 1
    seconds: float = 0.0


class Reading(NamedTuple):
    """One request's part of an encoder's step: `sequences` that do not see each other, of `tokens` each.

    grid: rows and columns of patches of one sequence, where windows are two-dimensional. given: tokens that the decoder
    gets, or attends to, all sequences together.
    """

    sequences: int = 0
    tokens: int = 0
    given: int = 0
    grid: tuple[int, int] = (0, 0)


class Perception(Protocol):
    """A way of reading. `words`: the words of the workload that it takes, for the notes."""

    @property
    def words(self) -> tuple[str, ...]: ...

    def reading(self, asked: Asked) -> Reading:
        """The sequences and tokens of one request; no sequences where it brings nothing to read."""


class Text(NamedTuple):
    """The prompt as one sequence."""

    @property
    def words(self) -> tuple[str, ...]:
        return ("prompt",)

    def reading(self, asked: Asked) -> Reading:
        """One sequence of the prompt's tokens."""
        return Reading(sequences=1, tokens=asked.prompt, given=asked.prompt)


class FixedImage(NamedTuple):
    """Images scaled to `size` × `size` whatever they were: (size / patch)² tokens, and `beside` learned ones (a class).

    given: tokens of one image that the decoder gets. Source: arXiv:2010.11929, 3.1.
    """

    size: int
    patch: int
    beside: int = 0
    given: int = 0

    @property
    def words(self) -> tuple[str, ...]:
        return ("images",)

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each image, or for each frame of a video.

        >>> FixedImage(224, 16, beside=1).reading(Asked(images=2))
        Reading(sequences=2, tokens=197, given=0, grid=(14, 14))
        """
        side, many = self.size // self.patch, asked.images * asked.frames
        return Reading(many, side * side + self.beside, many * self.given, (side, side))


class PaddedImage(NamedTuple):
    """Images near their own proportions, cut into at most `tokens` squares and padded to as many.

    Source: SigLIP 2, arXiv:2502.14786, 2.4.3 (NaFlex), and its published preprocessor.
    """

    tokens: int

    @property
    def words(self) -> tuple[str, ...]:
        return ("images",)

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each image, or for each frame of a video.

        >>> PaddedImage(256).reading(Asked(images=2))
        Reading(sequences=2, tokens=256, given=0, grid=(0, 0))
        """
        return Reading(asked.images * asked.frames, self.tokens)


class NativeImage(NamedTuple):
    """Images near their own size: sides rounded to whole squares of `merge` × `merge` patches, within bounds of pixels.

    `frames_per_patch` frames of a video are one patch in time; each of these is a sequence of its own. The decoder gets
    one token for each square. Source: Qwen2-VL, arXiv:2409.12191, 2.1, and its published preprocessor (smart_resize).
    """

    patch: int
    merge: int
    min_pixels: int
    max_pixels: int
    frames_per_patch: int = 2

    @property
    def words(self) -> tuple[str, ...]:
        return ("images", "resolution", "frames")

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each image, or for each patch in time of a video.

        >>> NativeImage(14, 2, 3136, 12845056).reading(Asked(images=1, height=1080, width=1920))
        Reading(sequences=1, tokens=10764, given=2691, grid=(78, 138))
        """
        if not asked.images:
            return Reading()
        height, width = self._resized(asked.height, asked.width)
        rows, columns = height // self.patch, width // self.patch
        many = asked.images * ceil(asked.frames / self.frames_per_patch)
        return Reading(many, rows * columns, many * rows * columns // self.merge**2, (rows, columns))

    def _resized(self, height: int, width: int) -> tuple[int, int]:
        square = self.patch * self.merge
        rows, columns = max(square, round(height / square) * square), max(square, round(width / square) * square)
        if rows * columns > self.max_pixels:
            scale = sqrt(height * width / self.max_pixels)
            return _floored(height / scale, square), _floored(width / scale, square)
        if rows * columns < self.min_pixels:
            scale = sqrt(self.min_pixels / (height * width))
            return ceil(height * scale / square) * square, ceil(width * scale / square) * square
        return rows, columns


class PaddedAudio(NamedTuple):
    """Sound in windows of `window_s` seconds, the last one padded, each of `tokens` tokens whatever it holds.

    given: tokens of one window that the decoder gets or attends to. Source: Whisper, arXiv:2212.04356, 2.2.
    """

    window_s: float
    tokens: int
    given: int

    @property
    def words(self) -> tuple[str, ...]:
        return ("seconds",)

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each window.

        >>> PaddedAudio(30, 1500, 1500).reading(Asked(seconds=45))
        Reading(sequences=2, tokens=1500, given=3000, grid=(0, 0))
        """
        windows = ceil(asked.seconds / self.window_s)
        return Reading(windows, self.tokens, windows * self.given)


def _floored(length: float, square: int) -> int:
    return max(square, floor(length / square) * square)
