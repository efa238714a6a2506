"""What encoders share: the class that a configuration names, layers that see both ways, and the model around them."""

from collections.abc import Collection, Mapping
from typing import Any

from mansard.architectures._contradictions import ACTIVATIONS, activation_kind
from mansard.architectures._plain import layer_norm, plain_attention
from mansard.errors import did_you_mean
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

_MOST_LABELS = 10_000_000


def named_class(keys: Keys, known: Collection[str], base: str) -> str:
    """The class that `architectures` names first, which decides on poolers and heads.

    Without one the base class is taken, with a note. One that is not known is a fault: what it has is not guessed at.
    """
    listed = keys.raw("architectures")
    if not isinstance(listed, list) or not listed or not isinstance(listed[0], str):
        keys.note("class-default", f"architectures names no class: {base} is counted")
        return base
    if listed[0] in known:
        return listed[0]
    hint = did_you_mean(listed[0], sorted(known)) or f"without architectures {base} is counted"
    keys.fault("architectures", "names a class whose parts are not known", listed[0], hint)
    return base


def activation(keys: Keys, *names: str, default: str = "gelu") -> str:
    """The kind of an activation, under the name that the family's class has for the key."""
    stated = keys.text(*names, default=default)
    if stated not in ACTIVATIONS:
        name = next(name for name in names if keys.has(name))
        hint = did_you_mean(stated, ACTIVATIONS) or "for example silu, gelu, relu"
        keys.require(False, name, "is no activation that is known", stated, hint)
    return activation_kind(stated)


def labels(keys: Keys, *, default: int = 2) -> int:
    """How many classes a classifier tells apart: the entries of `id2label`, else `num_labels`, else the class's own."""
    named = keys.raw("id2label")
    if named is None:
        return keys.size("num_labels", default=default, maximum=_MOST_LABELS)
    if not isinstance(named, Mapping) or not named:
        keys.fault("id2label", "must be an object with an entry for each label", named)
        return default
    return len(named)


def refuse_decoding(keys: Keys) -> None:
    """A fault for each key that makes a decoder of an encoder's class."""
    for name in ("is_decoder", "add_cross_attention", "is_encoder_decoder"):
        if keys.raw(name) is True:
            hint = "encoders of this family are counted, which see both ways and cache nothing"
            keys.fault(name, "makes a decoder of the class, which is not counted", True, hint)
    refuse_pruning(keys)


def refuse_pruning(keys: Keys) -> None:
    """A fault where heads were taken out of some layers, or two stacks have one set of weights."""
    if keys.raw("tie_encoder_decoder") is True:
        keys.fault("tie_encoder_decoder", "gives both stacks the same weights, which is not counted", True)
    pruned = keys.raw("pruned_heads")
    if pruned:
        keys.fault("pruned_heads", "takes heads out of layers, which is not counted", pruned)


def both_ways(keys: Keys, hidden_size: int, heads: int, *, bias: bool = True, o_bias: bool | None = None) -> Attention:
    """Attention of equal heads in which every query sees every key."""
    return plain_attention(keys, hidden_size, heads, bias=bias, o_bias=o_bias)._replace(causal=False)


def plain_layer(mixer: Attention, hidden_size: int, width: int, kind: str, *, bias: bool = True) -> Layer:
    """A layer of attention and a part without a gate, with two layer norms; before or after counts the same."""
    part = FeedForward(intermediate_size=width, gated=False, activation=kind, bias=bias)
    norm = layer_norm(hidden_size)
    return Layer(mixer=mixer, feed_forward=part, norms=(norm, norm))


def encoder_model(keys: Keys, *encoders: Encoder, positions: int | None = None) -> ModelConfig:
    """A model that is nothing but encoders. positions: how many tokens its text may have."""
    return ModelConfig(
        name="", source=keys.source, model_type="", architecture="", hidden_size=encoders[0].hidden_size, layers=(),
        embedding=None, head=None, final_norm=None, encoders=encoders, dtype=keys.dtype(),
        max_position_embeddings=positions,
    )  # fmt: skip


def only(keys: Keys, name: str, *allowed: Any, why: str) -> None:
    """A fault where a key says something else than what is understood; absence and null are the first of these."""
    value = keys.raw(name)
    if value is not None and value not in allowed:
        keys.fault(name, why, value)


def nested_or_default(keys: Keys, name: str) -> Keys:
    """The keys of a tower; where the configuration has none the class's defaults count, with one note for all."""
    if keys.has(name):
        return keys.nested(name)
    keys.note("class-default", f"{name} is absent: the defaults of the class", "warning")
    return Keys({}, keys.source, f"{keys.prefix}{name}.", faults=keys.faults, notes=[], asked=keys.asked)
