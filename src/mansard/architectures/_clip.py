"""The stack that CLIP and SigLIP share: pre-normed layers by one set of keys, for text and for images."""

from mansard.architectures._encoders import activation, both_ways, plain_layer
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import WIDEST, Keys
from mansard.inputs.mechanisms import Embedding, Layer


def dual_layers(
    keys: Keys, hidden: int, *, heads: int, width: int, kind: str, causal: bool = False
) -> tuple[Layer, ...]:
    """The layers of a tower, with the class defaults given. A causal one keeps nothing all the same."""
    mixer = both_ways(keys, hidden, keys.size("num_attention_heads", default=heads))
    mixer = mixer._replace(causal=causal, is_cached=False)
    part = keys.size("intermediate_size", default=width)
    layer = plain_layer(mixer, hidden, part, activation(keys, "hidden_act", default=kind))
    return (layer,) * layer_count(keys, default=12)


def text_tower(
    keys: Keys, hidden: int, layers: tuple[Layer, ...], *, vocab_size: int, positions: int
) -> tuple[Encoder, int]:
    """A tower for text with learned positions and a last norm; and how many tokens it reads."""
    places = keys.size("max_position_embeddings", default=positions, maximum=WIDEST)
    table = Embedding(
        vocab_size=keys.size("vocab_size", default=vocab_size), dim=hidden, positions=places, position_dim=hidden
    )
    norms = (layer_norm(hidden),)
    return Encoder("text", "text", hidden, layers, norms=norms, embedding=table), places
