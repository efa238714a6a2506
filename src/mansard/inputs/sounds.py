"""How many tokens a sound becomes where not all of a padded window goes on; see `inputs/perception.py`."""

from math import ceil, floor
from typing import NamedTuple

from mansard.inputs.perception import Asked, Reading


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


class WholeAudio(NamedTuple):
    """Sound as long as it is, one token for two spectral frames; the decoder gets the mean of each two tokens.

    Of F frames, `frames_per_s` a second, (F - 1) // 2 + 1 tokens n are left, and (n - 2) // 2 + 1 of these go on.
    Source: Qwen2.5-Omni, arXiv:2503.20215, 2.2, and its published processor.
    """

    frames_per_s: int = 100

    @property
    def words(self) -> tuple[str, ...]:
        return ("seconds",)

    def reading(self, asked: Asked) -> Reading:
        """One sequence.

        >>> WholeAudio().reading(Asked(seconds=45))
        Reading(sequences=1, tokens=2250, given=1125, grid=(0, 0))
        """
        frames = ceil(round(asked.seconds * self.frames_per_s, 6))
        if not frames:
            return Reading()
        tokens = (frames - 1) // 2 + 1
        return Reading(1, tokens, (tokens - 2) // 2 + 1)


class ChunkedAudio(NamedTuple):
    """Sound as long as it is, one token for every `frames` spectral frames; more than `most` tokens in chunks of these.

    A frame looks at `window_s` seconds and begins `step_s` after the one before it. A last chunk is padded in the
    layers and goes on without its padding. Source: Phi-4-Mini, arXiv:2503.01743, 2.2, and its feature extractor.
    """

    window_s: float
    step_s: float
    frames: int
    most: int

    @property
    def words(self) -> tuple[str, ...]:
        return ("seconds",)

    def reading(self, asked: Asked) -> Reading:
        """One sequence, or one for each chunk.

        >>> ChunkedAudio(0.025, 0.01, 8, 500).reading(Asked(seconds=60))
        Reading(sequences=2, tokens=500, given=750, grid=(0, 0))
        """
        if asked.seconds < self.window_s:
            return Reading()
        frames = floor(round((asked.seconds - self.window_s) / self.step_s, 6)) + 1
        tokens = ceil(frames / self.frames)
        chunks = ceil(tokens / self.most)
        return Reading(chunks, tokens if chunks == 1 else self.most, tokens)
