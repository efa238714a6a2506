"""A pipeline that makes images or videos: a denoiser, an autoencoder and text encoders."""

from dataclasses import dataclass

from mansard.inputs.component import Component, Recipe
from mansard.inputs.model import ModelConfig
from mansard.inputs.notes import Note


@dataclass(frozen=True, kw_only=True)
class TextEncoder:
    """A language model or an encoder of text whose states condition the denoiser; it reads `tokens` of each prompt."""

    name: str
    model: ModelConfig
    tokens: int


@dataclass(frozen=True, kw_only=True)
class Pipeline:
    """The components of a pipeline. A single component is a pipeline of its own.

    second: a denoiser of the same size that takes over at some step, in the memory beside the first.
    evaluations: how often a step of the solver runs the denoiser, the last one once. `each_token_has_its_time`: the
    timestep is given for every latent token.
    """

    name: str
    source: str
    class_name: str
    recipe: Recipe
    denoiser: Component | None = None
    second: Component | None = None
    autoencoder: Component | None = None
    controlnet: Component | None = None
    texts: tuple[TextEncoder, ...] = ()
    evaluations: int = 1
    is_distilled: bool = False
    each_token_has_its_time: bool = False
    notes: tuple[Note, ...] = ()

    @property
    def components(self) -> tuple[Component, ...]:
        """All that is counted beside the text encoders, in the order in which it runs."""
        found = (self.denoiser, self.second, self.controlnet, self.autoencoder)
        return tuple(part for part in found if part is not None)

    @property
    def parameters(self) -> int:
        """Those of all components."""
        texts = sum(text.model.parameters for text in self.texts)
        return texts + sum(part.parameters for part in self.components)

    @property
    def spatial(self) -> int:
        """Pixels a side of one latent."""
        part = self.autoencoder or self.denoiser
        return part.spatial if part else 1

    @property
    def temporal(self) -> int:
        """Frames of one latent frame, but for the first."""
        part = self.autoencoder or self.denoiser
        return part.temporal if part else 1
