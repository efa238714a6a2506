"""The OLMoE family: many small experts, none shared, and RMS norms over all heads of queries and of keys at once.

The norms' weights are [heads · head_dim] and [kv_heads · head_dim], not [head_dim]. Every layer is sparse; experts have
intermediate_size.

Sources: arXiv:2409.02060; the class OlmoeForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._heads import head_attention, whole_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("olmoe",)
ARCHITECTURES = ("OlmoeForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """An Olmoe-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    mixer = head_attention(
        keys, hidden_size, heads=16, kv_heads=None, bias=quiet_flag(keys, "attention_bias", default=False)
    )
    q_norm, k_norm = whole_norms(mixer)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    part = routed(
        keys,
        names=("num_experts", "num_local_experts"),
        experts=64,
        top_k=8,
        expert=gated(keys.size("intermediate_size", default=2048)),
    )
    layers = stack(layer_count(keys, default=16), mixer, rms_pair(hidden_size), part)
    return decoder(keys, hidden_size, layers, vocab_size=50304, tied=False)
