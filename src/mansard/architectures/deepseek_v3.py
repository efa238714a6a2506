"""The DeepSeek-V3 family: latent attention (MLA), a few dense layers first, then many small experts beside shared ones.

DeepSeek V3, R1, V3.1 and Kimi K2. The cache keeps kv_lora_rank + qk_rope_head_dim elements per token and layer. The
first `first_k_dense_replace` layers are dense with intermediate_size; the others have n_routed_experts of
moe_intermediate_size and one shared part of n_shared_experts · moe_intermediate_size. The router's correction
[n_routed_experts] is a buffer, no parameter. Extra prediction layers are noted and not counted.

Sources: arXiv:2412.19437, arXiv:2405.04434; the class DeepseekV3ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import (
    dense_first,
    gated,
    latent_attention,
    routed,
    shared_width,
    stack,
)
from mansard.architectures._prediction import predicting
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("deepseek_v3", "kimi_k2")
ARCHITECTURES = ("DeepseekV3ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A DeepSeek-V3-class configuration."""
    hidden_size = keys.size("hidden_size", default=7168)
    mixer = latent_attention(
        keys,
        heads=128,
        q_rank=1536,
        kv_rank=512,
        nope=128,
        rope=64,
        value=128,
        bias=quiet_flag(keys, "attention_bias", default=False),
    )
    width = keys.size("moe_intermediate_size", default=2048)
    sparse = routed(
        keys,
        names=("n_routed_experts", "num_local_experts"),
        experts=256,
        top_k=8,
        buffered=True,
        expert=gated(width),
        shared_width=shared_width(keys, "n_shared_experts", width, default=1),
    )
    dense = gated(keys.size("intermediate_size", default=18432))
    count = layer_count(keys, default=61)
    is_sparse = dense_first(keys, count, name="first_k_dense_replace", default=3)
    layers = stack(count, mixer, rms_pair(hidden_size), sparse, dense=dense, is_sparse=is_sparse)
    block = Layer(mixer=mixer, feed_forward=sparse, norms=rms_pair(hidden_size))
    return predicting(keys, decoder(keys, hidden_size, layers, vocab_size=129280, tied=False), block)
