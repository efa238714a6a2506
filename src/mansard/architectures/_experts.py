"""Parts that families with experts or latent attention share: routed and shared parts, dense-first layers, latents."""

from collections.abc import Callable, Sequence

from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.model import Attention, FeedForward, LatentAttention, Layer, Mixer, MixtureOfExperts, Norm

Part = FeedForward | MixtureOfExperts


def is_null(keys: Keys, name: str) -> bool:
    """Whether the key is there and says null: "none", where absence means the default of the class."""
    return name in keys.document and keys.document[name] is None


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
            floored or hidden_size % num_heads == 0,
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
    """The part of each head that is rotated, from `partial_rotary_factor` here or among the rotary parameters."""
    nested = keys.document.get("rope_parameters")
    inner = keys.nested("rope_parameters") if isinstance(nested, dict) else keys
    for place in (keys, inner):
        if place.has("partial_rotary_factor"):
            return place.number("partial_rotary_factor", minimum=0.0, maximum=1.0)
    return default


def head_norms(size: int, heads: int, kv_heads: int) -> tuple[Norm, Norm]:
    """RMS norms on each head of the queries and of the keys, one weight [head_dim] for all heads."""
    return Norm(kind="rms", size=size, repeats=heads), Norm(kind="rms", size=size, repeats=kv_heads)


def whole_norms(attention: Attention) -> tuple[Norm, Norm]:
    """RMS norms over all heads at once: weights [heads · head_dim] and [kv_heads · head_dim]."""
    return (
        Norm(kind="rms", size=attention.heads * attention.head_dim),
        Norm(kind="rms", size=attention.kv_heads * attention.head_dim),
    )


def gated(width: int, *, bias: bool = False) -> FeedForward:
    """A gated feed-forward part (SwiGLU)."""
    return FeedForward(intermediate_size=width, gated=True, bias=bias)


def routed(
    keys: Keys,
    *,
    experts: int | None,
    top_k: int | None,
    expert: FeedForward,
    shared_width: int = 0,
    shared_gate: bool = False,
    shared_bias: bool = False,
    names: Sequence[str] = ("num_experts",),
    top_names: Sequence[str] = ("num_experts_per_tok",),
    router_bias: bool = False,
    buffered: bool = False,
) -> MixtureOfExperts:
    """A mixture from its counts; a count whose class default is None is required.

    `shared_width` is the width of all shared experts as one; `buffered`: the router keeps a correction [num_experts].
    """
    count = keys.size(*names, default=experts)
    chosen = keys.size(*top_names, default=top_k)
    stated = next((name for name in top_names if keys.has(name)), top_names[0])
    keys.require(chosen <= count, stated, f"must be at most the number of experts, {count}", chosen)
    return MixtureOfExperts(
        num_experts=count,
        num_experts_per_tok=min(chosen, count),
        expert=expert,
        shared=gated(shared_width, bias=shared_bias) if shared_width else None,
        shared_gate=shared_gate and shared_width > 0,
        router_bias=router_bias,
        correction_buffer=count if buffered else 0,
    )


def shared_width(keys: Keys, name: str, width: int, *, default: int | None) -> int:
    """The width of n shared experts as one part, n · width; 0 where there are none."""
    return (nullable_size(keys, name, default=default, minimum=0) or 0) * width


def dense_first(keys: Keys, layers: int, *, name: str, default: int) -> Callable[[int], bool]:
    """Which layers are sparse where the first n are dense."""
    dense = keys.size(name, default=default, minimum=0)
    keys.require(dense <= layers, name, f"must be at most the number of layers, {layers}", dense)
    if keys.has("moe_layer_freq"):
        keys.require(
            keys.size("moe_layer_freq") == 1,
            "moe_layer_freq",
            "must be 1",
            keys.raw("moe_layer_freq"),
            "the class knows no other value",
        )
    return lambda index: index >= dense


def stepped(keys: Keys) -> Callable[[int], bool]:
    """Which layers are sparse by `decoder_sparse_step` (each n-th) and `mlp_only_layers` (these are dense)."""
    step = keys.size("decoder_sparse_step", default=1) if keys.has("decoder_sparse_step") else 1
    only = frozenset(keys.sizes("mlp_only_layers", minimum=0) if keys.has("mlp_only_layers") else ())
    return lambda index: index not in only and (index + 1) % step == 0


def stack(
    layers: int,
    mixer: Mixer | Callable[[int], Mixer],
    norms: tuple[Norm, ...],
    part: Part,
    *,
    dense: FeedForward | None = None,
    is_sparse: Callable[[int], bool] | None = None,
) -> tuple[Layer, ...]:
    """The layers: the mixer (the same, or by layer), the norms, and `part`, or `dense` where a layer is not sparse."""

    def one(index: int) -> Layer:
        own_part = part if dense is None or is_sparse is None or is_sparse(index) else dense
        own = mixer(index) if callable(mixer) else mixer
        return Layer(mixer=own, feed_forward=own_part, norms=norms)

    return tuple(one(index) for index in range(layers))


def latent_attention(
    keys: Keys,
    *,
    heads: int,
    q_rank: int | None,
    kv_rank: int,
    nope: int,
    rope: int,
    value: int,
    bias: bool = False,
) -> LatentAttention:
    """Latent attention from the usual keys with the class defaults given; a null q_lora_rank: queries come directly."""
    return LatentAttention(
        heads=keys.size("num_attention_heads", default=heads),
        q_lora_rank=nullable_size(keys, "q_lora_rank", default=q_rank),
        kv_lora_rank=keys.size("kv_lora_rank", default=kv_rank),
        qk_nope_head_dim=keys.size("qk_nope_head_dim", default=nope, minimum=0),
        qk_rope_head_dim=keys.size("qk_rope_head_dim", default=rope),
        v_head_dim=keys.size("v_head_dim", default=value),
        bias=bias,
    )


def note_prediction_layers(keys: Keys) -> None:
    """Says that extra prediction layers of the checkpoint are not counted."""
    count = keys.optional_size("num_nextn_predict_layers", "num_mtp_modules", minimum=0, maximum=MOST_LAYERS) or 0
    if count:
        keys.note("prediction-layers", f"{count} extra prediction layer(s) (MTP) are in the checkpoint and not counted")


def windowed_layers(keys: Keys, layers: int, *, otherwise: Callable[[int], bool]) -> tuple[bool, ...]:
    """Which layers see a window only: from `layer_types`, else by the rule of the class."""
    if not keys.has("layer_types"):
        return tuple(otherwise(index) for index in range(layers))
    kinds = keys.texts("layer_types", length=layers, choices=("full_attention", "sliding_attention"))
    return tuple(kind == "sliding_attention" for kind in kinds)


def sparse_layers(keys: Keys, layers: int, *, dense: int) -> Callable[[int], bool]:
    """Which layers are sparse: from `mlp_layer_types`, else all but the first `dense`."""
    if not keys.has("mlp_layer_types"):
        return lambda index: index >= dense
    kinds = keys.texts("mlp_layer_types", length=layers, choices=("dense", "sparse"))
    return lambda index: kinds[index] == "sparse"


def text_part(keys: Keys, *composite: str) -> Keys:
    """The text model's keys of a config that nests them; what stands beside them is noted as not counted.

    The composite classes ignore keys beside `text_config`, so that its absence there is a fault.
    """
    if not keys.has("text_config"):
        keys.require(keys.document.get("model_type") not in composite, "text_config", "is required but absent")
        return keys
    inner = keys.nested("text_config")
    dtypes = (
        {}
        if inner.has("torch_dtype", "dtype")
        else {name: keys.document[name] for name in ("torch_dtype", "dtype") if keys.has(name)}
    )
    keys.note("text-only", "the text model alone is counted, not the vision part beside it")
    return Keys({**dtypes, **inner.document}, keys.source, inner.prefix, keys.faults, keys.notes)
