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
    one token for each square. video: bounds of the pixels of all frames of a video together, where it has its own.
    Source: Qwen2-VL, arXiv:2409.12191, 2.1, and its published preprocessor (smart_resize); Qwen3-VL's of videos.
    """

    patch: int
    merge: int
    min_pixels: int
    max_pixels: int
    frames_per_patch: int = 2
    video: tuple[int, int] | None = None

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
        height, width = self._resized(asked.height, asked.width, asked.frames)
        rows, columns = height // self.patch, width // self.patch
        many = asked.images * ceil(asked.frames / self.frames_per_patch)
        return Reading(many, rows * columns, many * rows * columns // self.merge**2, (rows, columns))

    def _resized(self, height: int, width: int, frames: int) -> tuple[int, int]:
        square, together = self.patch * self.merge, 1
        least, most = self.min_pixels, self.max_pixels
        if self.video is not None and frames > 1:
            (least, most), together = self.video, frames
            if min(height, width) < square:
                height, width = (int(side * square / min(height, width)) for side in (height, width))
        rows, columns = max(square, round(height / square) * square), max(square, round(width / square) * square)
        # Frames that fill no whole patch in time are counted as the preprocessor rounds them.
        in_time = round(together / self.frames_per_patch) * self.frames_per_patch if together > 1 else 1
        if in_time * rows * columns > most:
            scale = sqrt(together * height * width / most)
            return _floored(height / scale, square), _floored(width / scale, square)
        if in_time * rows * columns < least:
            scale = sqrt(least / (together * height * width))
            return ceil(height * scale / square) * square, ceil(width * scale / square) * square
        return rows, columns


class RowedImage(NamedTuple):
    """Images near their own size, scaled down to `longest` pixels a side, rounded up to squares of `merge`² patches.

    The decoder gets one token for each square and one behind each row, which breaks it or ends the image. Source:
    Pixtral, arXiv:2410.07073, 2.2, and its published preprocessor.
    """

    longest: int
    patch: int
    merge: int = 1

    @property
    def words(self) -> tuple[str, ...]:
        return ("images", "resolution", "frames")

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each image, or for each frame.

        >>> RowedImage(1540, 14, 2).reading(Asked(images=1, height=1080, width=1920))
        Reading(sequences=1, tokens=6820, given=1736, grid=(62, 110))
        """
        many = asked.images * asked.frames
        if not many:
            return Reading()
        ratio = max(asked.height / self.longest, asked.width / self.longest, 1)
        square = self.patch * self.merge
        rows, columns = ceil(floor(asked.height / ratio) / square), ceil(floor(asked.width / ratio) / square)
        rows, columns = max(1, rows), max(1, columns)
        tokens = rows * columns * self.merge**2
        return Reading(many, tokens, many * rows * (columns + 1), (rows * self.merge, columns * self.merge))


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


class TrimmedAudio(NamedTuple):
    """Sound in windows of `window_s` seconds, each of `tokens` tokens; the decoder gets those that hold sound.

    Of F spectral frames, `frames_per_s` a second, a window's convolution leaves (F - 1) // 2 + 1 and the mean of each
    two after it ((F - 1) // 2 - 1) // 2 + 1. Source: Qwen2-Audio, arXiv:2407.10759, and its published processor, which
    reads one window; longer sound is counted as several.
    """

    window_s: float
    tokens: int
    frames_per_s: int = 100

    @property
    def words(self) -> tuple[str, ...]:
        return ("seconds",)

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each window.

        >>> TrimmedAudio(30, 1500).reading(Asked(seconds=10))
        Reading(sequences=1, tokens=1500, given=250, grid=(0, 0))
        """
        whole, rest = divmod(asked.seconds, self.window_s)
        given = int(whole) * self._given(self.window_s)
        given += self._given(rest) if rest else 0
        return Reading(int(whole) + (1 if rest else 0), self.tokens, given)

    def _given(self, seconds: float) -> int:
        frames = ceil(round(seconds * self.frames_per_s, 6))
        return max(0, ((frames - 1) // 2 - 1) // 2 + 1)


class BoundedImage(NamedTuple):
    """Images near their own size: scaled down to so many patches, and so many a side, then padded to whole squares.

    A video's frames run through the layers in clips of `clip` frames that see each other, and are averaged behind them,
    so that a clip gives as many tokens as a frame; a last clip that is not full is counted as a full one. Source:
    MoonViT, arXiv:2504.07491; Kimi K2.5, arXiv:2602.02276, and its published preprocessor.
    """

    patch: int
    merge: int
    most: int
    most_side: int
    most_video: int = 0
    clip: int = 1

    @property
    def words(self) -> tuple[str, ...]:
        return ("images", "resolution", "frames")

    def reading(self, asked: Asked) -> Reading:
        """One sequence for each image, or for each clip of a video.

        >>> BoundedImage(14, 2, 16384, 512).reading(Asked(images=1, height=1080, width=1920))
        Reading(sequences=1, tokens=10764, given=2691, grid=(78, 138))
        """
        if not asked.images:
            return Reading()
        is_video = asked.frames > 1 and self.most_video > 0
        rows, columns = self._grid(asked.height, asked.width, self.most_video if is_video else self.most)
        clip = self.clip if is_video else 1
        many = asked.images * ceil(asked.frames / clip)
        return Reading(many, clip * rows * columns, many * rows * columns // self.merge**2, (rows, columns))

    def _grid(self, height: int, width: int, most: int) -> tuple[int, int]:
        patches = max(1, height // self.patch) * max(1, width // self.patch)
        longest = self.most_side * self.patch
        scale = min(1.0, sqrt(most / patches), longest / height, longest / width)
        square = self.merge * self.patch
        rows, columns = (-(-min(longest, max(1, int(side * scale))) // square) for side in (height, width))
        return rows * self.merge, columns * self.merge


def _floored(length: float, square: int) -> int:
    return max(square, floor(length / square) * square)
