"""The Jamba family: Mamba-1 layers with norms inside, attention every `attn_layer_period`, experts every second layer.

Layer i has attention where i modulo `attn_layer_period` is `attn_layer_offset`, and experts where i modulo
`expert_layer_period` is `expert_layer_offset`; the other layers have one feed-forward part of the experts' width. Heads
are not rotated. One expert means none.

Sources: arXiv:2403.19887; the class JambaForCausalLM of Hugging Face transformers.
"""

from collections.abc import Callable

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.architectures._state_space import HYBRID_MODULES, mamba1_part, scanned
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mixers import Mixer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("jamba",)
ARCHITECTURES = ("JambaForCausalLM",)
MODULES = HYBRID_MODULES | {
    **{f"feed_forward.{name}": f"feed_forward.{name}" for name in ("gate_proj", "up_proj", "down_proj")},
    **{f"expert.{name}": f"feed_forward.experts.{{expert}}.{name}" for name in ("gate_proj", "up_proj", "down_proj")},
    "router.router": "feed_forward.router",
}
_EXPERTS = ("num_experts", "num_local_experts")


def read(keys: Keys) -> ModelConfig:
    """A Jamba-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    attention = head_attention(keys, hidden_size, heads=32, kv_heads=8, rotary=0.0, floored=True)
    mixer = mamba1_part(keys, hidden_size, normed=True)
    has_attention = _every(keys, "attn_layer", period=8, offset=4)
    has_experts = _every(keys, "expert_layer", period=2, offset=1)
    dense = gated(keys.size("intermediate_size", default=14336))
    single = keys.size(*_EXPERTS, default=16) == 1
    sparse = dense if single else routed(keys, names=_EXPERTS, experts=16, top_k=2, expert=dense)

    def kind(index: int) -> Mixer:
        return attention if has_attention(index) else mixer

    count = layer_count(keys, default=32)
    layers = stack(count, kind, rms_pair(hidden_size), sparse, dense=dense, is_sparse=has_experts)
    return scanned(keys, decoder(keys, hidden_size, layers, vocab_size=65536, tied=False))


def _every(keys: Keys, name: str, *, period: int, offset: int) -> Callable[[int], bool]:
    """Whether a layer's place modulo the period is the offset."""
    each = keys.size(f"{name}_period", default=period, maximum=MOST_LAYERS)
    first = keys.size(f"{name}_offset", default=offset, minimum=0, maximum=MOST_LAYERS)
    keys.require(first < each, f"{name}_offset", f"must be smaller than {name}_period, {each}", first)
    return lambda index: index % each == first
