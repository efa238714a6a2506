"""The Granite MoE family with a shared part of shared_intermediate_size beside the experts; none where that is 0.

Experts have intermediate_size. The multipliers of embedding, residual, attention and logits have no parameters.

Sources: the class GraniteMoeSharedForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("granitemoeshared",)
ARCHITECTURES = ("GraniteMoeSharedForCausalLM",)
MODULES = {
    "router.router": "block_sparse_moe.router.layer", "expert.gate_proj": "block_sparse_moe.input_linear",
    "expert.up_proj": "block_sparse_moe.input_linear", "expert.down_proj": "block_sparse_moe.output_linear",
    "shared_expert.gate_proj": "shared_mlp.input_linear", "shared_expert.up_proj": "shared_mlp.input_linear",
    "shared_expert.down_proj": "shared_mlp.output_linear",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A GraniteMoeShared-class configuration."""
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
        shared_width=keys.size("shared_intermediate_size", default=0, minimum=0),
    )
    layers = stack(layer_count(keys, default=32), mixer, rms_pair(hidden_size), part)
    return decoder(keys, hidden_size, layers, vocab_size=32000, tied=False)
