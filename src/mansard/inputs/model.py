"""A model's shape: a list of layers, each with mixers and a feed-forward part, between embedding and head."""

import os
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TypeAlias

from mansard.inputs.encoder import Encoder
from mansard.inputs.mechanisms import Embedding, FeedForward, Head, Layer, MixtureOfExperts, Quantization, Streams
from mansard.inputs.mixers import CrossAttention, Recurrence
from mansard.inputs.notes import Note
from mansard.inputs.stored import StoredWeights
from mansard.inputs.weights import Matrix, Norm
from mansard.precision import WeightFormat


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelConfig:
    """Everything about a model that counting needs; built by a family from its own configuration.

    For a model given as a parameter count alone `layers` is empty and `opaque_parameters` is the count. A model that is
    nothing but an encoder has no layers of its own. `start_tokens`: those that the decoder of an encoder-decoder begins
    with. `generates` False: its class has no head over the vocabulary, as those that embed or classify, so that one
    pass over the prompt is all of it unless more is asked for. `state_dtype`: in which recurrent layers keep their
    state. `stored`: what the model's files hold, where they were read.
    `prediction_layers`: further layers of the checkpoint that draft tokens, in no count unless it says so.
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
    encoders: tuple[Encoder, ...] = ()
    prediction_layers: tuple[Layer, ...] = ()
    start_tokens: int = 0
    generates: bool = True
    dtype: str = "bf16"
    state_dtype: str = "fp32"
    quantization: Quantization | None = None
    max_position_embeddings: int | None = None
    opaque_parameters: int = 0
    opaque_format: WeightFormat | None = None
    stored: StoredWeights | None = None
    notes: tuple[Note, ...] = ()
    # The different layers in order of first appearance, each with how many there are.
    distinct_layers: tuple[tuple[Layer, int], ...] = field(init=False, repr=False, compare=False)

    @property
    def parameters(self) -> int:
        """Unique parameters, after tying and sharing."""
        layers = stack_parameters(self.distinct_layers, self.hidden_size)
        return _outer_parameters(self) + layers + sum(encoder_parameters(encoder) for encoder in self.encoders)

    @property
    def prediction_parameters(self) -> int:
        """Parameters of the layers that draft tokens, which are in no other count."""
        return sum(layer_parameters(layer, self.hidden_size) for layer in self.prediction_layers)

    @property
    def parameters_active(self) -> int:
        """Parameters that one token uses, embeddings and head included: all but the experts it is not sent to."""
        return self.parameters - sum(
            count * _idle_parameters(layer, self.hidden_size) for layer, count in self.distinct_layers
        )

    @property
    def parameters_active_no_embedding(self) -> int:
        """The same without the token embedding, which is a look-up; the head stays, tied or not."""
        looked_up = sum(encoder.looked_up_parameters for encoder in self.encoders)
        if self.embedding is not None:
            looked_up += self.embedding.per_layer_vocab * self.embedding.per_layer_dim
            if self.head is None or not self.head.tied:
                looked_up += self.embedding.token_parameters
        return self.parameters_active - looked_up

    @property
    def cache_elements_per_token(self) -> int:
        """Cache elements that one more token adds while no window is full, summed over the layers."""
        return sum(
            count * mixer.cache_elements_per_token for layer, count in self.distinct_layers for mixer in layer.mixers
        )

    @property
    def state_elements(self) -> int:
        """Elements of recurrent state of one sequence, summed over the layers, without those of short convolutions."""
        return sum(count * mixer.state for mixer, count in self._recurrences())

    @property
    def convolution_state_elements(self) -> int:
        """Elements of earlier tokens' inputs that are kept of one sequence, summed over the layers."""
        return sum(count * mixer.convolution_state for mixer, count in self._recurrences())

    @property
    def source_elements_per_token(self) -> int:
        """Keys and values that cross-attention keeps of one token of an encoder, summed over the layers."""
        return sum(
            count * mixer.source_elements_per_token
            for layer, count in self.distinct_layers
            for mixer in layer.mixers
            if isinstance(mixer, CrossAttention)
        )

    @property
    def has_decoder(self) -> bool:
        """Whether it makes tokens: it has layers of its own, or is known by its parameters alone."""
        return bool(self.layers) or self.opaque_parameters > 0

    @property
    def has_cross_attention(self) -> bool:
        """Whether its layers attend to what an encoder gives, instead of finding it in the prompt."""
        return any(isinstance(mixer, CrossAttention) for layer, _ in self.distinct_layers for mixer in layer.mixers)

    def _recurrences(self) -> Iterable[tuple[Recurrence, int]]:
        for layer, count in self.distinct_layers:
            for mixer in layer.mixers:
                if isinstance(mixer, Recurrence):
                    yield mixer, count

    def __post_init__(self) -> None:
        # Worked out once: comparing a hundred layers costs more than counting them.
        object.__setattr__(self, "distinct_layers", distinct(self.layers))


def distinct(layers: tuple[Layer, ...]) -> tuple[tuple[Layer, int], ...]:
    """The different layers in order of first appearance, each with how many there are."""
    # Families repeat one object for alike layers: identity finds most of them without comparing.
    by_identity: dict[int, tuple[Layer, int]] = {}
    for layer in layers:
        by_identity[id(layer)] = (layer, by_identity.get(id(layer), (layer, 0))[1] + 1)
    counts: dict[Layer, int] = {}
    for layer, count in by_identity.values():
        counts[layer] = counts.get(layer, 0) + count
    return tuple(counts.items())


def stack_parameters(layers: tuple[tuple[Layer, int], ...], hidden_size: int) -> int:
    """All parameters of a stack: layers of one name in `shared` have one set of weights."""
    return sum((1 if layer.shared else count) * layer_parameters(layer, hidden_size) for layer, count in layers)


def layer_parameters(layer: Layer, hidden_size: int) -> int:
    """All parameters of one layer: every expert, every bias and norm."""
    mixers = sum(_parameters(mixer.matrices(hidden_size)) + mixer.vector_parameters for mixer in layer.mixers)
    around = sum(norm.parameters for norm in layer.norms) + _parameters(layer.extras) + layer.vectors
    around += _streams_parameters(layer.streams)
    part = layer.feed_forward
    if part is None:
        return mixers + around
    if isinstance(part, FeedForward):
        return mixers + around + _parameters(part.matrices(hidden_size)) + part.activation_parameters
    return mixers + around + _mixture_parameters(part, hidden_size)


def encoder_parameters(encoder: Encoder) -> int:
    """All parameters of an encoder with what goes before and after its layers."""
    return (
        stack_parameters(distinct(encoder.layers), encoder.hidden_size)
        + sum(applied.parameters for applied in (*encoder.front, *encoder.back))
        + sum(norm.parameters for norm in encoder.norms)
        + encoder.vectors
        + encoder.unused
        + (embedding_parameters(encoder.embedding) if encoder.embedding else 0)
    )


def embedding_parameters(embedding: Embedding) -> int:
    """All parameters of an embedding: its tables, norms and projections."""
    around = (embedding.project_in, embedding.project_out, *embedding.extras, *embedding.extras_out)
    matrices = (matrix for matrix in around if matrix)
    norms = (norm for norm in (embedding.norm, *embedding.extra_norms) if norm)
    return sum(embedding.table_parameters) + _parameters(matrices) + sum(norm.parameters for norm in norms)


def _parameters(matrices: Iterable[Matrix]) -> int:
    return sum(matrix.parameters for matrix in matrices)


def _streams_parameters(streams: Streams | None) -> int:
    if streams is None:
        return 0
    norms = sum(norm.parameters for norm in streams.norms)
    return _parameters(matrix for matrix, _ in streams.matrices) + norms + streams.vectors


def _mixture_parameters(part: MixtureOfExperts, hidden_size: int) -> int:
    experts = part.num_experts * _parameters(part.expert_matrices(hidden_size))
    beside = _parameters((*part.shared_matrices(hidden_size), *part.latent_matrices(hidden_size)))
    return experts + beside + part.router(hidden_size).parameters + part.router_vectors


def _idle_parameters(layer: Layer, hidden_size: int) -> int:
    part = layer.feed_forward
    if not isinstance(part, MixtureOfExperts):
        return 0
    return (part.num_experts - part.num_experts_per_tok) * _parameters(part.expert_matrices(hidden_size))


def _outer_parameters(model: ModelConfig) -> int:
    total = model.opaque_parameters
    if model.final_norm is not None:
        total += model.final_norm.parameters
    if model.head is not None:
        total += model.head.stored_parameters
    return total + (embedding_parameters(model.embedding) if model.embedding else 0)


# How a model is given to a verb: a name, a path, or the model itself.
ModelLike: TypeAlias = str | os.PathLike[str] | ModelConfig
