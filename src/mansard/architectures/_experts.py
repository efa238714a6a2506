"""Parts of families with experts or latent attention: routed and shared parts, dense-first layers, latents."""

from collections.abc import Callable, Sequence

from mansard.architectures._reading import nullable_size
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer, MixtureOfExperts
from mansard.inputs.mixers import LatentAttention, Mixer
from mansard.inputs.weights import Norm

Part = FeedForward | MixtureOfExperts


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
    if all(keys.is_sound(name) for name in names):
        hint = "are the two counts swapped?"
        keys.require(chosen <= count, stated, f"must be at most the number of experts, {count}", chosen, hint)
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


def sparse_layers(keys: Keys, layers: int, *, dense: int) -> Callable[[int], bool]:
    """Which layers are sparse: from `mlp_layer_types`, else all but the first `dense`."""
    if not keys.has("mlp_layer_types"):
        return lambda index: index >= dense
    kinds = keys.texts("mlp_layer_types", length=layers, choices=("dense", "sparse"))
    return lambda index: kinds[index] == "sparse"


def require_nested(keys: Keys, composite: str) -> None:
    """A fault where a composite class's own configuration is flat: it ignores keys beside `text_config`.

    The loader hands a family the nested part, so that a composite's name is met here only if there is none.
    """
    keys.require(keys.raw("model_type") != composite, "text_config", "is required but absent")
