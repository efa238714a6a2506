"""A diffusion component: a denoiser or an autoencoder, whose parts depend on the size of what it makes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal, NamedTuple

from mansard.inputs.notes import Note
from mansard.inputs.parts import Part, Sample

_SMALLEST = 8  # latents whose parts are looked through for parameters, which no size changes


class Recipe(NamedTuple):
    """What a pipeline of the class does unless it is told otherwise: pixels, frames, steps, guidance.

    Source: the defaults of the pipelines' calls in diffusers 0.42.
    """

    height: int
    width: int
    frames: int = 1
    steps: int = 50
    guidance: float = 1.0


@dataclass(frozen=True, kw_only=True)
class Component:
    """What counting needs of a component; `parts` gives its work for one item of a size.

    A denoiser runs in every step; its `text_tokens` are what its pipeline pads a prompt to, `prompt_tokens` those that
    the text encoder sees where they are others, and `patch` the latents (frames, height, width) that become one token.
    `is_distilled`: guidance is an input or not needed, so that one pass is enough.
    `channels` are those of the latents, `outputs` those of what comes out.
    An autoencoder has `parts` that decode latents, and `encoder`; it shrinks by `spatial` and `temporal`.
    frames_at_once: latent frames that it decodes together, which decides what it keeps; None for all.
    """

    name: str
    source: str
    class_name: str
    role: Literal["denoiser", "autoencoder"]
    parts: Callable[[Sample], tuple[Part, ...]]
    encoder: Callable[[Sample], tuple[Part, ...]] | None = None
    channels: int
    outputs: int
    patch: tuple[int, int, int] = (1, 1, 1)
    text_tokens: int = 0
    prompt_tokens: int = 0
    is_distilled: bool = False
    recipe: Recipe | None = None
    spatial: int
    temporal: int = 1
    frames_at_once: int | None = None
    dtype: str = "bf16"
    notes: tuple[Note, ...] = ()

    @cached_property
    def stored(self) -> tuple[Part, ...]:
        """Parts with all weights, at a small size; of an autoencoder those of its encoder too."""
        frames, height, width = self.patch
        size = Sample(height=_SMALLEST * height, width=_SMALLEST * width, frames=frames, text=1)
        return (*self.parts(size), *(self.encoder(size) if self.encoder else ()))

    @property
    def parameters(self) -> int:
        """All parameters."""
        return sum(part.count * part.parameters for part in self.stored)

    def tokens(self, sample: Sample) -> int:
        """Latent tokens of an item."""
        frames, height, width = self.patch
        return -(-sample.frames // frames) * (sample.height // height) * (sample.width // width)
