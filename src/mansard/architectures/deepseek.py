"""The first DeepSeek-MoE: Llama's attention, many small experts beside shared ones, a few dense layers first.

Layer i is sparse if i >= `first_k_dense_replace`, and `moe_layer_freq` must be 1 (every such layer); else dense with
intermediate_size. The shared part is one of n_shared_experts · moe_intermediate_size; it and the router have no bias.

Sources: arXiv:2401.06066; the class DeepseekForCausalLM published beside deepseek-ai/deepseek-moe-16b-base.
"""

from mansard.architectures._experts import dense_first, gated, routed, shared_width, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("deepseek",)
ARCHITECTURES = ("DeepseekForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Deepseek-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(
        keys, hidden_size, heads=32, kv_heads=None, bias=quiet_flag(keys, "attention_bias", default=False)
    )
    width = keys.size("moe_intermediate_size", default=1407)
    sparse = routed(
        keys,
        names=("n_routed_experts",),
        experts=None,
        top_k=None,
        expert=gated(width),
        shared_width=shared_width(keys, "n_shared_experts", width, default=None),
    )
    dense = gated(keys.size("intermediate_size", default=11008))
    count = layer_count(keys, default=30)
    is_sparse = dense_first(keys, count, name="first_k_dense_replace", default=0)
    layers = stack(count, mixer, rms_pair(hidden_size), sparse, dense=dense, is_sparse=is_sparse)
    return decoder(keys, hidden_size, layers, vocab_size=102400, tied=False)
