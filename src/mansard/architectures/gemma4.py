"""The Gemma 4 family's language model: heads of two sizes, caches that later layers share, experts beside a dense part.

All layers but every sixth see `sliding_window` keys, with heads of `head_dim`; the others see everything, with heads of
`global_head_dim` and, where `attention_k_eq_v` says that their keys serve as values, `num_global_key_value_heads`. The
last layer always sees everything. `per_layer_config` says sizes of single layers instead. The last
`num_kv_shared_layers` layers have no keys and values: they attend to those of the last earlier layer of their kind, and
are twice as wide inside with `use_double_wide_mlp`. With `hidden_size_per_layer_input` a second table has a row of
inputs for every layer. With `enable_moe_block` routed experts of moe_intermediate_size stand beside the dense part,
which is counted as what all tokens share; the router has a scale [hidden] and one [num_experts].

The cache of a token in gemma-4-26B-A4B: 25 · 2·8·256 + 5 · 2·2·512 = 112,640 elements.

Sources: Google DeepMind, Gemma 4 (2026); the class Gemma4ForCausalLM of Hugging Face transformers.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from mansard.architectures._experts import require_nested, routed
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.architectures._shared_caches import (
    following,
    layer_inputs,
    normed_heads,
    sharing_layers,
    with_layer_inputs,
)
from mansard.architectures._windows import windowed_layers
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer, MixtureOfExperts
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("gemma4_text", "gemma4")
ARCHITECTURES = ("Gemma4ForCausalLM", "Gemma4ForConditionalGeneration")
MODULES = {
    "extras.per_layer_input_gate": "per_layer_input_gate", "extras.per_layer_projection": "per_layer_projection",
    "router.router": "router.proj",
    "expert.gate_proj": "experts.gate_up_proj experts.{expert}.gate_proj",
    "expert.up_proj": "experts.gate_up_proj experts.{expert}.up_proj",
    "expert.down_proj": "experts.down_proj experts.{expert}.down_proj",
    "shared_expert.gate_proj": "mlp.gate_proj", "shared_expert.up_proj": "mlp.up_proj",
    "shared_expert.down_proj": "mlp.down_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Gemma-4-class configuration of the language model."""
    require_nested(keys, "gemma4")
    if keys.has("use_bidirectional_attention"):
        keys.text("use_bidirectional_attention", choices=("vision",))  # images only; "all" is an embedding model's
    hidden_size = keys.size("hidden_size", default=2304)
    count = layer_count(keys, default=30)
    windowed = _windowed(keys, count)
    shares = sharing_layers(keys, windowed, default=0)
    width = keys.size("hidden_size_per_layer_input", default=256, minimum=0)
    norms = rms_pair(hidden_size) * 2 + (Norm(kind="rms", size=hidden_size),) * bool(width)
    parts = _parts(keys, hidden_size)
    mixers = _mixers(keys, hidden_size, windowed)
    inputs = layer_inputs(hidden_size, width)
    layers = [
        Layer(
            mixer=following(mixer) if shared else mixer,
            last_only=shared,
            feed_forward=parts[shared],
            norms=norms + (norms[:1] * 3 if isinstance(parts[shared], MixtureOfExperts) else ()),
            extras=inputs,
        )
        for mixer, shared in zip(mixers, shares, strict=True)
    ]
    model = with_layer_inputs(keys, decoder(keys, hidden_size, layers, vocab_size=262144, tied=True), width)
    capped = keys.has("final_logit_softcapping")
    return replace(model, head=model.head._replace(softcap=capped)) if model.head else model


def _windowed(keys: Keys, layers: int) -> tuple[bool, ...]:
    kinds = windowed_layers(keys, layers, otherwise=lambda index: (index + 1) % 6 != 0)
    if kinds[-1]:
        keys.note("last-layer", "the last layer sees everything, whatever layer_types says: the class has it so")
    return (*kinds[:-1], False)


def _mixers(keys: Keys, hidden_size: int, windowed: Sequence[bool]) -> Iterator[Attention]:
    bias = quiet_flag(keys, "attention_bias", default=False)
    local = head_attention(keys, hidden_size, heads=8, kv_heads=4, head_dim=256, bias=bias)
    local = local._replace(window=keys.size("sliding_window", default=512), rotary_dim=local.head_dim)
    keys_are_values = quiet_flag(keys, "attention_k_eq_v", default=False)
    whole = local._replace(window=None, has_values=not keys_are_values)
    sizes = _own_sizes(keys, windowed)
    if sizes is None:
        own = keys.optional_size("num_global_key_value_heads") if keys_are_values else None
        whole_size = (keys.size("global_head_dim", default=512), own)
        sizes = [(None, None) if kind else whole_size for kind in windowed]
    share = _rotated_share(keys)
    for kind, (size, kv_heads) in zip(windowed, sizes, strict=True):
        mixer = local if kind else whole
        mixer = mixer._replace(head_dim=size or mixer.head_dim, kv_heads=kv_heads or mixer.kv_heads)
        keys.require(
            mixer.heads % mixer.kv_heads == 0,
            "num_global_key_value_heads",
            f"must divide num_attention_heads {mixer.heads}",
            mixer.kv_heads,
        )
        yield normed_heads(mixer._replace(rotary_dim=mixer.head_dim if kind else int(mixer.head_dim * share)))


def _own_sizes(keys: Keys, windowed: Sequence[bool]) -> list[tuple[int | None, int | None]] | None:
    """Size of a head and key/value heads of single layers, by `per_layer_config`; None where it is absent."""
    if not keys.has("per_layer_config"):
        return None
    found: list[tuple[int | None, int | None]] = [(None, None)] * len(windowed)
    every = keys.nested("per_layer_config")
    for index in range(len(windowed)):
        if every.has(str(index)):
            own = every.nested(str(index))
            found[index] = own.optional_size("head_dim"), own.optional_size("num_key_value_heads")
            for name in sorted(set(own.document) - {"head_dim", "num_key_value_heads"})[:8]:
                own.fault(name[:100], "of a single layer is not understood")
    for name in sorted(set(every.document) - set(map(str, range(len(windowed)))))[:8]:
        every.fault(name[:100], "is no layer's number")
    for kind in (True, False):
        alike = {own for own, one in zip(found, windowed, strict=True) if one is kind}
        keys.require(len(alike) <= 1, "per_layer_config", "must have layers of one kind alike, as the class does")
    return found


def _rotated_share(keys: Keys) -> float:
    """The part of a head that layers which see everything rotate."""
    if not keys.has("rope_parameters"):
        return 0.25
    inner = keys.nested("rope_parameters").nested("full_attention")
    return inner.number("partial_rotary_factor", minimum=0.0, maximum=1.0) if inner.has("partial_rotary_factor") else 1


def _parts(keys: Keys, hidden_size: int) -> tuple[FeedForward | MixtureOfExperts, FeedForward | MixtureOfExperts]:
    """What feeds forward in a layer with a cache of its own, and in one that shares another's."""
    width = keys.size("intermediate_size", default=9216)
    doubled = 2 * width if quiet_flag(keys, "use_double_wide_mlp", default=False) else width
    dense, wide = (FeedForward(intermediate_size=one, gated=True, activation="gelu") for one in (width, doubled))
    if not quiet_flag(keys, "enable_moe_block", default=False):
        if keys.has("num_experts"):
            keys.note("ignored-key", "num_experts is left out: enable_moe_block is not true", "warning")
        return dense, wide
    expert = dense._replace(intermediate_size=keys.size("moe_intermediate_size"))
    part = routed(keys, experts=None, top_k=None, expert=expert, top_names=("top_k_experts",))
    part = part._replace(router_vectors=hidden_size + part.num_experts)
    return part._replace(shared=dense), part._replace(shared=wide)
