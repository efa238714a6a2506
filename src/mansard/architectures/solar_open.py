"""The Solar Open family: DeepSeek-V3's mixture on plain grouped-query attention, every layer sparse.

No norms of queries and keys; `attention_bias` is on queries, keys and values only. The router's correction
[n_routed_experts] is a buffer.

Sources: the class SolarOpenForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, shared_width, stack
from mansard.architectures._heads import head_attention, rotary_share
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("solar_open",)
ARCHITECTURES = ("SolarOpenForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A SolarOpen-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(
        keys,
        hidden_size,
        heads=64,
        kv_heads=8,
        head_dim=128,
        o_bias=False,
        bias=quiet_flag(keys, "attention_bias", default=False),
        rotary=rotary_share(keys, default=1.0),
    )
    width = keys.size("moe_intermediate_size", default=1280)
    part = routed(
        keys,
        names=("n_routed_experts", "num_local_experts"),
        experts=128,
        top_k=8,
        buffered=True,
        expert=gated(width),
        shared_width=shared_width(keys, "n_shared_experts", width, default=1),
    )
    layers = stack(layer_count(keys, default=48), mixer, rms_pair(hidden_size), part)
    return decoder(keys, hidden_size, layers, vocab_size=196608, tied=False)
