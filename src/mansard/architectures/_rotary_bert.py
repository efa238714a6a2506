"""BERT's stack with rotary positions and gated parts, as Nomic and GTE have it."""

from collections.abc import Mapping, Sequence

from mansard.architectures._encoder_heads import Widths, ends
from mansard.architectures._encoders import encoder_model, named_class, refuse_decoding
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Embedding, Layer
from mansard.inputs.model import ModelConfig


def rotary_encoder(
    keys: Keys,
    layer: Layer,
    hidden: int,
    classes: Mapping[str, Sequence[str]],
    base: str,
    *,
    vocab_size: int,
    token_types: int,
    positions: int | None,
    layers: tuple[str, ...] = (),
    has_bias_twice: bool = False,
    multiple: int = 1,
) -> ModelConfig:
    """The tables before such layers, and what the class has behind them.

    layers: other names of their number. multiple: of what the table's rows are rounded up to.
    """
    refuse_decoding(keys)
    vocabulary = -(-keys.size("vocab_size", default=vocab_size) // multiple) * multiple
    sizes = Widths(hidden, hidden, vocabulary, has_bias_twice)
    behind = ends(keys, sizes, classes[named_class(keys, classes, base)])
    encoder = Encoder(
        name="text",
        modality="text",
        hidden_size=hidden,
        layers=(layer,) * layer_count(keys, "num_hidden_layers", *layers, default=12),
        back=behind.back,
        norms=behind.norms,
        vectors=behind.vectors,
        embedding=Embedding(
            vocab_size=vocabulary,
            dim=hidden,
            norm=layer_norm(hidden),
            token_types=keys.size("type_vocab_size", default=token_types, minimum=0),
        ),
    )
    return encoder_model(keys, encoder, positions=positions)
