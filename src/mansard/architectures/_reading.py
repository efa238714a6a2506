"""Keys that many families share, and the model around a list of layers: embedding, final norm and head."""

from collections.abc import Sequence
from dataclasses import replace

from mansard.inputs.keys import MOST_LAYERS, MOST_POSITIONS, Keys
from mansard.inputs.mechanisms import Embedding, Head, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

_POSITIONS = ("max_position_embeddings", "model_max_length")


def is_null(keys: Keys, name: str) -> bool:
    """Whether the key is there and says null: "none", where absence means the default of the class."""
    return not keys.has(name) and name in keys.document


def nullable_size(keys: Keys, name: str, *, default: int | None, minimum: int = 1) -> int | None:
    """A whole number; None where the key says null, the class default where it is absent."""
    if is_null(keys, name):
        return None
    return (
        keys.optional_size(name, minimum=minimum)
        if default is None
        else keys.size(name, default=default, minimum=minimum)
    )


def layer_count(keys: Keys, *names: str, default: int) -> int:
    """The number of layers."""
    return keys.size(*(names or ("num_hidden_layers",)), default=default, maximum=MOST_LAYERS)


def quiet_flag(keys: Keys, name: str, *, default: bool) -> bool:
    """A flag that few configs state: its absence is not worth a note."""
    return keys.flag(name) if keys.has(name) else default


def rms_pair(hidden_size: int) -> tuple[Norm, Norm]:
    """An RMS norm before the mixer and one before the feed-forward part."""
    norm = Norm(kind="rms", size=hidden_size)
    return (norm, norm)


def decoder(
    keys: Keys,
    hidden_size: int,
    layers: Sequence[Layer],
    *,
    vocab_size: int,
    tied: bool,
    final_norm: Norm | None = None,
    head_bias: bool = False,
) -> ModelConfig:
    """The model around a list of layers: embedding, final norm and head, by the usual keys and given class defaults."""
    vocabulary = keys.size("vocab_size", default=vocab_size)
    is_tied = keys.flag("tie_word_embeddings") if keys.has("tie_word_embeddings") else tied
    return ModelConfig(
        name="",
        source=keys.source,
        model_type="",
        architecture="",
        hidden_size=hidden_size,
        layers=tuple(layers),
        embedding=Embedding(vocab_size=vocabulary, dim=hidden_size),
        head=Head(dim=hidden_size, vocab_size=vocabulary, tied=is_tied, bias=head_bias),
        final_norm=final_norm or Norm(kind="rms", size=hidden_size),
        dtype=keys.dtype(),
        max_position_embeddings=keys.optional_size(*_POSITIONS, maximum=MOST_POSITIONS),
    )


def untied(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with a head of its own, for a class that never ties it; a note where the configuration asks for it."""
    if model.head is None or not model.head.tied:
        return model
    text = "tie_word_embeddings is left out: the class keeps a head of its own whatever it says"
    keys.note("ignored-key", text, "warning")
    return replace(model, head=model.head._replace(tied=False))
