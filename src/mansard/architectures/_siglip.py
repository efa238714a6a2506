"""The model around SigLIP's towers, of which the second generation reads images in another way."""

from collections.abc import Callable

from mansard.architectures._clip import dual_layers, text_tower
from mansard.architectures._encoder_heads import pooled
from mansard.architectures._encoders import encoder_model, labels, named_class, nested_or_default
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import quiet_flag
from mansard.inputs.encoder import Applied, Encoder, Pooling
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix

_KIND = "gelu_pytorch_tanh"


def classes(prefix: str) -> tuple[str, ...]:
    """The classes of a generation."""
    return tuple(f"{prefix}{name}" for name in ("Model", "TextModel", "VisionModel", "ForImageClassification"))


def read_towers(keys: Keys, prefix: str, vision: Callable[[Keys], Encoder]) -> ModelConfig:
    """A configuration of both towers or of one; a scale and a shift are beside both."""
    both, text_only, vision_only, classifier = classes(prefix)
    kind = str(keys.raw("model_type"))
    base = {"siglip_text_model": text_only, "siglip_vision_model": vision_only, "siglip2_text_model": text_only,
            "siglip2_vision_model": vision_only}.get(kind, both)  # fmt: skip
    name = named_class(keys, classes(prefix), base)
    if name == text_only:
        encoder, positions = text(keys.nested("text_config") if keys.has("text_config") else keys)
        return encoder_model(keys, encoder, positions=positions)
    if name == vision_only:
        return encoder_model(keys, vision(keys.nested("vision_config") if keys.has("vision_config") else keys))
    seen = vision(nested_or_default(keys, "vision_config"))
    if name == classifier:
        return encoder_model(keys, _classifying(keys, seen))
    encoder, positions = text(nested_or_default(keys, "text_config"))
    return encoder_model(keys, encoder, seen._replace(vectors=seen.vectors + 2), positions=positions)


def text(keys: Keys) -> tuple[Encoder, int]:
    """The tower for text: sees both ways, and projects its last token."""
    hidden = keys.size("hidden_size", default=768)
    layers = dual_layers(keys, hidden, heads=12, width=3072, kind=_KIND)
    encoder, positions = text_tower(keys, hidden, layers, vocab_size=32000, positions=64)
    width = keys.optional_size("projection_size") or hidden
    return encoder._replace(back=pooled("text_head", hidden, width).back), positions


def with_pooling(keys: Keys, encoder: Encoder) -> Encoder:
    """The tower with its head, unless `vision_use_head` is false: one learned query attends to all tokens.

    Keys and values are made of every token, query and output of one; a norm and a feed-forward part follow.
    """
    if not quiet_flag(keys, "vision_use_head", default=True):
        return encoder
    hidden = encoder.hidden_size
    mixer, part = encoder.layers[0].mixer, encoder.layers[0].feed_forward
    if not isinstance(mixer, Attention) or not isinstance(part, FeedForward):
        return encoder
    one = [Matrix(f"pool_{name}", hidden, hidden, bias=True) for name in ("q_proj", "k_proj", "v_proj", "o_proj")]
    query, key, value, out = one
    behind = (query, out, *(matrix._replace(name=f"pool_{matrix.name}") for matrix in part.matrices(hidden)))
    return encoder._replace(
        back=(Applied(key), Applied(value), *(Applied(matrix, per=0) for matrix in behind)),
        norms=(*encoder.norms, layer_norm(hidden)),
        vectors=encoder.vectors + hidden,
        pooling=Pooling(heads=mixer.heads, head_dim=mixer.head_dim),
    )


def vision_layers(keys: Keys, hidden: int) -> Encoder:
    """The layers of the tower for images with the norm behind them."""
    layers = dual_layers(keys, hidden, heads=12, width=3072, kind=_KIND)
    return Encoder("vision", "image", hidden, layers, norms=(layer_norm(hidden),))


def _classifying(keys: Keys, seen: Encoder) -> Encoder:
    """The classifier takes the mean of the tokens; the class runs the head all the same."""
    return seen._replace(back=(*seen.back, *pooled("classifier", seen.hidden_size, labels(keys)).back))
