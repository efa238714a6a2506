"""A model's shape: a list of layers, each a sequence mixer and a feed-forward part, between embedding and head."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from mansard.inputs.mechanisms import (
    Embedding,
    FeedForward,
    Head,
    Layer,
    Matrix,
    Norm,
    Quantization,
)  # fmt: skip
from mansard.inputs.notes import Note
from mansard.precision import WeightFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """Everything about a model that counting needs; built by a family from its own configuration.

    For a model given as a parameter count alone `layers` is empty and `opaque_parameters` is the count.
    """

    name: str
    source: str
    model_type: str
    architecture: str
    hidden_size: int
    layers: tuple[Layer, ...]
    embedding: Embedding | None
    head: Head | None
    final_norm: Norm | None
    dtype: str = "bf16"
    quantization: Quantization | None = None
    max_position_embeddings: int | None = None
    opaque_parameters: int = 0
    opaque_format: WeightFormat | None = None
    notes: tuple[Note, ...] = ()
    # The different layers in order of first appearance, each with how many there are.
    distinct_layers: tuple[tuple[Layer, int], ...] = field(init=False, repr=False, compare=False)

    @property
    def parameters(self) -> int:
        """Unique parameters, after tying."""
        return _outer_parameters(self) + sum(
            count * layer_parameters(layer, self.hidden_size) for layer, count in self.distinct_layers
        )

    @property
    def parameters_active(self) -> int:
        """Parameters that one token uses, embeddings and head included: all but the experts it is not sent to."""
        return self.parameters - sum(
            count * _idle_parameters(layer, self.hidden_size) for layer, count in self.distinct_layers
        )

    @property
    def parameters_active_no_embedding(self) -> int:
        """The same without the token embedding, which is a look-up; the head stays, tied or not."""
        if self.embedding is None or (self.head is not None and self.head.tied):
            return self.parameters_active
        return self.parameters_active - self.embedding.token_parameters

    @property
    def cache_elements_per_token(self) -> int:
        """Cache elements that one more token adds while no window is full, summed over the layers."""
        return sum(count * layer.mixer.cache_elements_per_token for layer, count in self.distinct_layers)

    def __post_init__(self) -> None:
        # Worked out once: comparing a hundred layers costs more than counting them.
        object.__setattr__(self, "distinct_layers", _distinct(self.layers))


def _distinct(layers: tuple[Layer, ...]) -> tuple[tuple[Layer, int], ...]:
    # Families repeat one object for alike layers: identity finds most of them without comparing.
    by_identity: dict[int, tuple[Layer, int]] = {}
    for layer in layers:
        by_identity[id(layer)] = (layer, by_identity.get(id(layer), (layer, 0))[1] + 1)
    counts: dict[Layer, int] = {}
    for layer, count in by_identity.values():
        counts[layer] = counts.get(layer, 0) + count
    return tuple(counts.items())


def _parameters(matrices: Iterable[Matrix]) -> int:
    return sum(matrix.parameters for matrix in matrices)


def layer_parameters(layer: Layer, hidden_size: int) -> int:
    """All parameters of one layer: every expert, every bias and norm."""
    mixer = _parameters(layer.mixer.matrices(hidden_size)) + layer.mixer.vector_parameters
    norms = sum(norm.parameters for norm in layer.norms)
    part = layer.feed_forward
    if isinstance(part, FeedForward):
        return mixer + norms + _parameters(part.matrices(hidden_size)) + part.activation_parameters
    experts = part.num_experts * _parameters(part.expert.matrices(hidden_size))
    shared = _parameters(part.shared_matrices(hidden_size))
    return mixer + norms + experts + shared + part.router(hidden_size).parameters


def _idle_parameters(layer: Layer, hidden_size: int) -> int:
    part = layer.feed_forward
    if isinstance(part, FeedForward):
        return 0
    return (part.num_experts - part.num_experts_per_tok) * _parameters(part.expert.matrices(hidden_size))


def _outer_parameters(model: ModelConfig) -> int:
    total = model.opaque_parameters
    if model.final_norm is not None:
        total += model.final_norm.parameters
    if model.head is not None:
        total += model.head.stored_parameters
    if model.embedding is not None:
        embedding = model.embedding
        total += embedding.token_parameters + embedding.positions * embedding.position_dim
        total += embedding.norm.parameters if embedding.norm else 0
        total += _parameters(matrix for matrix in (embedding.project_in, embedding.project_out) if matrix)
    return total


# How a model is given to a verb: a name, a path, or the model itself.
ModelLike: TypeAlias = str | os.PathLike[str] | ModelConfig
