"""The Granite MoE family: Llama's attention, every layer sparse, no shared expert.

Experts have intermediate_size. The multipliers of embedding, residual, attention and logits have no parameters.

Sources: the class GraniteMoeForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("granitemoe",)
ARCHITECTURES = ("GraniteMoeForCausalLM",)
MODULES = {
    "router.router": "block_sparse_moe.router.layer", "expert.gate_proj": "block_sparse_moe.input_linear",
    "expert.up_proj": "block_sparse_moe.input_linear", "expert.down_proj": "block_sparse_moe.output_linear",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A GraniteMoe-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(
        keys, hidden_size, heads=32, kv_heads=None, bias=quiet_flag(keys, "attention_bias", default=False)
    )
    part = routed(
        keys,
        names=("num_local_experts", "num_experts"),
        experts=8,
        top_k=2,
        expert=gated(keys.size("intermediate_size", default=11008)),
    )
    layers = stack(layer_count(keys, default=32), mixer, rms_pair(hidden_size), part)
    return decoder(keys, hidden_size, layers, vocab_size=32000, tied=False)
