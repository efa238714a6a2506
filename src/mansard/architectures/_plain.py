"""Parts that the older decoders share: layer norms with biases, attention by equal heads, learned positions."""

from dataclasses import replace

from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm


def layer_norm(size: int) -> Norm:
    """A layer norm with a weight and a bias."""
    return Norm(kind="layer", size=size)


def layer_pair(size: int) -> tuple[Norm, Norm]:
    """A layer norm before the mixer and one before the feed-forward part."""
    return (layer_norm(size), layer_norm(size))


def plain_attention(
    keys: Keys,
    hidden_size: int,
    heads: int,
    *,
    kv_heads: int | None = None,
    bias: bool = False,
    o_bias: bool | None = None,
    rotary_dim: int = 0,
) -> Attention:
    """Attention whose heads divide the hidden size evenly; `bias` is on the output too unless `o_bias` differs."""
    keys.require(hidden_size % heads == 0, "num_attention_heads", f"must divide the hidden size {hidden_size}", heads)
    head_dim = max(1, hidden_size // heads)
    of_keys = kv_heads or heads
    keys.require(heads % of_keys == 0, "num_kv_heads", f"must divide the {heads} query heads", of_keys)
    return Attention(
        heads=heads,
        kv_heads=of_keys,
        head_dim=head_dim,
        qkv_bias=bias,
        o_bias=bias if o_bias is None else o_bias,
        rotary_dim=min(rotary_dim, head_dim),
    )


def with_positions(model: ModelConfig, positions: int) -> ModelConfig:
    """The model with a table of learned positions, [positions, hidden]."""
    if model.embedding is None:
        return model
    embedding = model.embedding._replace(positions=positions, position_dim=model.hidden_size)
    return replace(model, embedding=embedding, max_position_embeddings=model.max_position_embeddings or positions)
