"""The OpenELM family: layers that grow with depth, each with head counts and a width of its own.

Layer i has `num_query_heads[i]` heads; without that list the width of its queries is model_dim times a multiplier, and
the multipliers go in even steps, rounded to two digits, from the first of `qkv_multipliers` to its second. Key/value
heads are a `num_gqa_groups`-th of them. The feed-forward width is model_dim times a multiplier of `ffn_multipliers`.
Widths are rounded to a multiple: of head_dim · num_gqa_groups, and of `ffn_dim_divisor`. RMS norms per head with
`normalize_qk_projections`; the head is the embedding with `share_input_output_layers`.

Sources: arXiv:2404.14619; the published remote code of apple/OpenELM.
"""

from collections.abc import Sequence
from dataclasses import replace

from mansard.architectures._heads import head_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import MOST_POSITIONS, WIDEST, Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("openelm",)
ARCHITECTURES = ("OpenELMForCausalLM",)
MODULES = {
    "layer": "transformer.layers.{layer}", "embedding": "transformer.token_embeddings",
    "mixer.q_proj": "attn.qkv_proj", "mixer.k_proj": "attn.qkv_proj", "mixer.v_proj": "attn.qkv_proj",
    "mixer.o_proj": "attn.out_proj", "feed_forward.gate_proj": "ffn.proj_1", "feed_forward.up_proj": "ffn.proj_1",
    "feed_forward.down_proj": "ffn.proj_2",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """An OpenELM configuration."""
    hidden_size = keys.size("model_dim", "hidden_size", default=2048)
    count = layer_count(keys, "num_transformer_layers", "num_hidden_layers", default=12)
    size = keys.size("head_dim", default=128)
    is_gated = quiet_flag(keys, "ffn_with_glu", default=True)
    layers = [
        Layer(
            mixer=mixer,
            feed_forward=FeedForward(intermediate_size=width, gated=is_gated, activation="silu"),
            norms=rms_pair(hidden_size),
        )
        for mixer, width in zip(_mixers(keys, hidden_size, count, size), _widths(keys, hidden_size, count), strict=True)
    ]
    keys.text("normalization_layer_name", default="rms_norm", choices=("rms_norm",))
    if keys.has("activation_fn_name"):
        keys.text("activation_fn_name", choices=("swish", "silu"))
    model = decoder(keys, hidden_size, layers, vocab_size=32000, tied=True)
    tied = quiet_flag(keys, "share_input_output_layers", default=True)
    positions = keys.size("max_context_length", "max_position_embeddings", default=2048, maximum=MOST_POSITIONS)
    head = model.head._replace(tied=tied) if model.head else None
    return replace(model, head=head, max_position_embeddings=positions)


def _mixers(keys: Keys, hidden_size: int, layers: int, size: int) -> list[Attention]:
    groups = keys.optional_size("num_gqa_groups") or 1
    heads = _heads(keys, hidden_size, layers, size, groups)
    normed = quiet_flag(keys, "normalize_qk_projections", default=False)
    found = []
    for own in heads:
        keys.require(own % groups == 0, "num_query_heads", f"must be multiples of num_gqa_groups {groups}", own)
        mixer = Attention(heads=own, kv_heads=max(1, own // groups), head_dim=size, rotary_dim=size)
        q_norm, k_norm = head_norms(size, mixer.heads, mixer.kv_heads)
        found.append(mixer._replace(q_norm=q_norm, k_norm=k_norm) if normed else mixer)
    if keys.has("num_kv_heads"):
        stated = keys.sizes("num_kv_heads", length=layers)
        computed = tuple(mixer.kv_heads for mixer in found)
        keys.require(stated == computed, "num_kv_heads", "must be num_query_heads over num_gqa_groups", stated)
    return found


def _heads(keys: Keys, hidden_size: int, layers: int, size: int, groups: int) -> tuple[int, ...]:
    if isinstance(keys.raw("num_query_heads"), list):
        return keys.sizes("num_query_heads", length=layers)
    multiple = size * (groups if keys.has("num_gqa_groups") else 2)
    steps = _multipliers(keys, "qkv_multipliers", layers, default=1.0)
    return tuple(_divisible(hidden_size * step, multiple) // size for step in steps)


def _widths(keys: Keys, hidden_size: int, layers: int) -> tuple[int, ...]:
    divisor = keys.size("ffn_dim_divisor", default=256)
    steps = _multipliers(keys, "ffn_multipliers", layers, default=4.0)
    return tuple(_divisible(hidden_size * step, divisor) for step in steps)


def _multipliers(keys: Keys, name: str, layers: int, *, default: float) -> Sequence[float]:
    """One multiplier for each layer: a number for all, first and last of even steps, or all of them."""
    stated = keys.raw(name)
    if not isinstance(stated, list):
        return (keys.number(name, default=default, minimum=0.0, maximum=1024.0),) * layers
    are_numbers = all(isinstance(one, (int, float)) and not isinstance(one, bool) for one in stated)
    if not are_numbers or len(stated) not in (2, layers) or not all(0 < one <= 1024 for one in stated):
        keys.fault(name, f"must be a number, two, or {layers} of them, above 0", stated)
        return (1.0,) * layers
    if len(stated) == layers:
        return stated
    first, last = stated
    return [round(first + (last - first) * index / max(1, layers - 1), 2) for index in range(layers)]


def _divisible(width: float, multiple: int) -> int:
    """The nearest multiple, not under the multiple itself nor a tenth under the width.

    >>> _divisible(1280 * 0.5, 256), _divisible(1280 * 4.0, 256), _divisible(100, 256)
    (768, 5120, 256)
    """
    found = max(multiple, int(width + multiple / 2) // multiple * multiple)
    return min(found + multiple if found < 0.9 * width else found, WIDEST)
