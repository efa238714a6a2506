"""A diffusion component: a denoiser or an autoencoder, whose parts depend on the size of what it makes."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from mansard.inputs.mechanisms import Quantization
from mansard.inputs.notes import Note
from mansard.inputs.parts import Part, Sample

_SMALLEST = 8  # latents whose parts are looked through for parameters, which no size changes


@dataclass(frozen=True, kw_only=True)
class Component:
    """What counting needs of a component; `parts` gives its work for one item of a size.

    A denoiser runs in every step; its `text_tokens` are what its pipeline pads a prompt to, and `patch` the latents
    (frames, height, width) that become one token. `is_distilled`: guidance is an input, so that one pass is enough.
    `channels` are those of the latents, `outputs` those of what comes out.
    An autoencoder has `parts` that decode latents, and `encoder`; it shrinks by `spatial` and `temporal`.
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
    is_distilled: bool = False
    spatial: int
    temporal: int = 1
    dtype: str = "bf16"
    quantization: Quantization | None = None
    notes: tuple[Note, ...] = ()

    @cached_property
    def parameters(self) -> int:
        """All parameters; of an autoencoder those of its encoder too."""
        size = Sample(height=_SMALLEST * self.patch[1], width=_SMALLEST * self.patch[2], frames=self.patch[0], text=1)
        both = (*self.parts(size), *(self.encoder(size) if self.encoder else ()))
        return sum(part.count * part.parameters for part in both)

    def tokens(self, sample: Sample) -> int:
        """Latent tokens of an item."""
        frames, height, width = self.patch
        return -(-sample.frames // frames) * (sample.height // height) * (sample.width // width)
