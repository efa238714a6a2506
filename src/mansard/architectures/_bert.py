"""BERT's stack, which several families have under other names, with the differences that their keys state."""

from collections.abc import Mapping, Sequence

from mansard.architectures._encoder_heads import Widths, ends
from mansard.architectures._encoders import (
    activation,
    both_ways,
    encoder_model,
    named_class,
    only,
    plain_layer,
    refuse_decoding,
)
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import MOST_POSITIONS, WIDEST, Keys
from mansard.inputs.mechanisms import Embedding, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix


def text_encoder(
    keys: Keys,
    classes: Mapping[str, Sequence[str]],
    base: str,
    *,
    vocab_size: int,
    hidden_size: int = 768,
    heads: int = 12,
    intermediate_size: int = 3072,
    layers: int = 12,
    positions: int = 512,
    token_types: int | None = 2,
    reserved: int = 0,
    embedding_size: int | None = None,
    tables: int = 0,
    has_bias_twice: bool = True,
) -> ModelConfig:
    """A stack of BERT's layers by its usual keys and the class defaults given.

    token_types None: there is no table of them. reserved: positions that no token has. embedding_size: default of the
    width of the tables, where that may differ from the layers' and a product leads from one to the other. tables:
    elements of tables of relative positions beside the layers. has_bias_twice: see `Widths`.
    """
    hidden = keys.size("hidden_size", default=hidden_size)
    mixer = both_ways(keys, hidden, keys.size("num_attention_heads", default=heads))
    width = keys.size("intermediate_size", default=intermediate_size)
    layer = plain_layer(mixer, hidden, width, activation(keys, "hidden_act"))
    return around(
        keys, (layer,) * layer_count(keys, default=layers), hidden, classes, base, vocab_size=vocab_size,
        positions=positions, token_types=token_types, reserved=reserved, embedding_size=embedding_size, tables=tables,
        has_bias_twice=has_bias_twice,
    )  # fmt: skip


def around(
    keys: Keys,
    layers: Sequence[Layer],
    hidden: int,
    classes: Mapping[str, Sequence[str]],
    base: str,
    *,
    vocab_size: int,
    positions: int,
    token_types: int | None,
    reserved: int = 0,
    embedding_size: int | None = None,
    always_projected: bool = False,
    tables: int = 0,
    has_bias_twice: bool = True,
) -> ModelConfig:
    """The tables before such layers, and what the class has behind them."""
    refuse_decoding(keys)
    only(keys, "position_embedding_type", "absolute", why="is another kind of positions than this family has")
    dim = hidden if embedding_size is None else keys.size("embedding_size", default=embedding_size)
    places = keys.size("max_position_embeddings", default=positions, minimum=reserved + 1, maximum=MOST_POSITIONS)
    keys.require(places <= WIDEST, "max_position_embeddings", "is more than a table of positions can have", places)
    vocabulary = keys.size("vocab_size", default=vocab_size)
    types = 0 if token_types is None else keys.size("type_vocab_size", default=token_types, minimum=0)
    sizes = Widths(hidden, dim, vocabulary, has_bias_twice)
    behind = ends(keys, sizes, classes[named_class(keys, classes, base)])
    encoder = Encoder(
        name="text",
        modality="text",
        hidden_size=hidden,
        layers=tuple(layers),
        back=behind.back,
        norms=behind.norms,
        vectors=behind.vectors + tables,
        embedding=Embedding(
            vocab_size=vocabulary,
            dim=dim,
            positions=places,
            position_dim=dim,
            norm=layer_norm(dim),
            project_in=Matrix("project_in", dim, hidden, bias=True) if always_projected or dim != hidden else None,
            token_types=types,
        ),
    )
    return encoder_model(keys, encoder, positions=places - reserved)
