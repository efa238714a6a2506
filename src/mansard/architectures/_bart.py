"""The model around BART's two stacks, which several families have with other positions and norms."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from mansard.architectures._encoders import labels, named_class, refuse_pruning
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import quiet_flag
from mansard.architectures._seq2seq import StackDefaults, decoder_layers, encoder_layers, last_norms
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import WIDEST, Keys
from mansard.inputs.mechanisms import Embedding, Head
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix


class Variant(NamedTuple):
    """In what families differ: norms behind the embeddings and behind the stacks, and tables of positions.

    reserved: rows of a table that no token has. own_tables: the two sides may have tables of tokens of their own.
    labels: of a classifier that names none.
    """

    embedding_norm: bool
    last_norm: bool
    reserved: int = 2
    has_tables: bool = True
    own_tables: bool = False
    activation: str = "gelu"
    labels: int = 2


def text_to_text(keys: Keys, classes: Sequence[str], variant: Variant, *, vocab_size: int) -> ModelConfig:
    """A configuration by BART's keys. The decoder begins with one token."""
    name = named_class(keys, classes, classes[0])
    refuse_pruning(keys)
    _refuse_untied(keys)
    hidden = keys.size("d_model", "hidden_size", default=1024)
    usual = StackDefaults(activation=variant.activation)
    positions = keys.size("max_position_embeddings", default=1024, maximum=WIDEST)
    table = _embedding(keys.size("vocab_size", default=vocab_size), hidden, positions, variant)
    apart = variant.own_tables and not quiet_flag(keys, "share_encoder_decoder_embeddings", default=True)
    own = table._replace(vocab_size=keys.size("decoder_vocab_size", default=table.vocab_size)) if apart else table
    encoder = Encoder(
        name="text",
        modality="text",
        hidden_size=hidden,
        layers=encoder_layers(keys, hidden, usual),
        norms=last_norms(hidden, normed=variant.last_norm),
        embedding=table if apart else table._replace(vocab_size=0),
        shares_embedding=not apart,
    )
    model = ModelConfig(
        name="",
        source=keys.source,
        model_type="",
        architecture="",
        hidden_size=hidden,
        layers=decoder_layers(keys, hidden, usual),
        embedding=own,
        head=Head(dim=hidden, vocab_size=own.vocab_size, tied=True),
        final_norm=layer_norm(hidden) if variant.last_norm else None,
        encoders=(encoder,),
        start_tokens=1,
        dtype=keys.dtype(),
        max_position_embeddings=positions,
    )
    return _ended(keys, model, name, variant)


def _embedding(vocabulary: int, hidden: int, positions: int, variant: Variant) -> Embedding:
    return Embedding(
        vocab_size=vocabulary,
        dim=hidden,
        positions=positions + variant.reserved if variant.has_tables else 0,
        position_dim=hidden if variant.has_tables else 0,
        norm=layer_norm(hidden) if variant.embedding_norm else None,
    )


def _ended(keys: Keys, model: ModelConfig, name: str, variant: Variant) -> ModelConfig:
    """The model with what its class has behind the decoder: a head, nothing, or a classifier on one token of it."""
    if name.endswith("Model") and not name.endswith("MTModel"):
        return replace(model, head=None, generates=False)
    if not name.endswith("ForSequenceClassification") or model.embedding is None:
        return model
    hidden = model.hidden_size
    dense = Matrix("head_dense", hidden, hidden, bias=True)
    return replace(
        model,
        embedding=model.embedding._replace(project_out=dense),
        head=Head(dim=hidden, vocab_size=labels(keys, default=variant.labels), tied=False, bias=True),
        generates=False,
    )


def _refuse_untied(keys: Keys) -> None:
    if not quiet_flag(keys, "tie_word_embeddings", default=True):
        problem = "false: releases of the class differ in which of the tables of tokens are then apart"
        keys.fault("tie_word_embeddings", problem, False, "set it to true if they are one")
