"""Attention by heads as most configurations state it, its norms, and the part of each head that is rotated."""

from mansard.architectures._reading import nullable_size
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Attention
from mansard.inputs.weights import Norm


def head_attention(
    keys: Keys,
    hidden_size: int,
    *,
    heads: int,
    kv_heads: int | None,
    head_dim: int | None = None,
    bias: bool = False,
    o_bias: bool | None = None,
    rotary: float = 1.0,
    floored: bool = False,
) -> Attention:
    """Attention by heads with the class defaults given; null key/value heads mean as many as heads.

    `head_dim` None: hidden_size over heads, which must divide it unless the class rounds down (`floored`). `bias` is on
    q, k and v, and on the output unless `o_bias` says otherwise. `rotary` is the part of each head that is rotated.
    """
    num_heads = keys.size("num_attention_heads", default=heads)
    num_kv_heads = nullable_size(keys, "num_key_value_heads", default=kv_heads) or num_heads
    keys.require(
        num_heads % num_kv_heads == 0,
        "num_key_value_heads",
        f"must divide num_attention_heads {num_heads}",
        num_kv_heads,
    )
    size = nullable_size(keys, "head_dim", default=head_dim)
    if size is None:
        keys.require(
            floored or hidden_size % num_heads == 0 or not keys.is_sound("hidden_size"),
            "num_attention_heads",
            f"must divide hidden_size {hidden_size} where head_dim is absent",
            num_heads,
        )
        size = max(1, hidden_size // num_heads)
    return Attention(
        heads=num_heads,
        kv_heads=num_kv_heads,
        head_dim=size,
        qkv_bias=bias,
        o_bias=bias if o_bias is None else o_bias,
        rotary_dim=int(size * rotary),
    )


def rotary_share(keys: Keys, *, default: float) -> float:
    """The part of each head that is rotated: `partial_rotary_factor` of the rotary parameters, else of the config."""
    for name in ("rope_scaling", "rope_parameters"):
        inner = keys.nested(name) if isinstance(keys.document.get(name), dict) else None
        if inner is not None and inner.has("partial_rotary_factor"):
            return inner.number("partial_rotary_factor", minimum=0.0, maximum=1.0)
    return keys.number("partial_rotary_factor", default=default, minimum=0.0, maximum=1.0)


def head_norms(size: int, heads: int, kv_heads: int) -> tuple[Norm, Norm]:
    """RMS norms on each head of the queries and of the keys, one weight [head_dim] for all heads."""
    return Norm(kind="rms", size=size, repeats=heads), Norm(kind="rms", size=size, repeats=kv_heads)


def whole_norms(attention: Attention) -> tuple[Norm, Norm]:
    """RMS norms over all heads at once: weights [heads · head_dim] and [kv_heads · head_dim]."""
    return (
        Norm(kind="rms", size=attention.heads * attention.head_dim),
        Norm(kind="rms", size=attention.kv_heads * attention.head_dim),
    )
