"""Parts of configurations that many families share: attention by heads, norms, embedding and head."""

from collections.abc import Sequence

from mansard.inputs.keys import MOST_POSITIONS, Keys
from mansard.inputs.model import Attention, Embedding, Head, Layer, ModelConfig, Norm


def rms_pair(hidden_size: int) -> tuple[Norm, Norm]:
    """An RMS norm before the mixer and one before the feed-forward part."""
    norm = Norm(kind="rms", size=hidden_size)
    return (norm, norm)


def optional_flag(keys: Keys, name: str, otherwise: bool) -> bool:
    """A flag whose absence is ordinary, so that it is not worth a note."""
    return keys.flag(name) if keys.has(name) else otherwise


def grouped_attention(
    keys: Keys,
    hidden_size: int,
    *,
    heads: int,
    kv_heads: int | None = None,
    qkv_bias: bool = False,
    o_bias: bool = False,
) -> Attention:
    """Attention from the usual keys; `heads` is the class default, absent key/value heads mean as many as heads."""
    num_heads = keys.size("num_attention_heads", default=heads)
    num_kv_heads = keys.optional_size("num_key_value_heads") or kv_heads or num_heads
    head_dim = keys.optional_size("head_dim")
    if head_dim is None:
        keys.require(
            hidden_size % num_heads == 0,
            "num_attention_heads",
            f"must divide hidden_size {hidden_size} where head_dim is absent",
            num_heads,
        )
        head_dim = max(1, hidden_size // num_heads)
    keys.require(
        num_heads % num_kv_heads == 0,
        "num_key_value_heads",
        f"must divide num_attention_heads {num_heads}",
        num_kv_heads,
    )
    return Attention(
        heads=num_heads, kv_heads=num_kv_heads, head_dim=head_dim, qkv_bias=qkv_bias, o_bias=o_bias, rotary_dim=head_dim
    )


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
        max_position_embeddings=keys.optional_size("max_position_embeddings", maximum=MOST_POSITIONS),
    )
