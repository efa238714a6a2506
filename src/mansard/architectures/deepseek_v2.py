"""The DeepSeek-V2 family: latent attention (MLA), then experts beside shared ones; no correction of the router.

The cache keeps kv_lora_rank + qk_rope_head_dim elements per token and layer. A null q_lora_rank (V2-Lite) projects
queries directly; an absent one takes the default of the class. `mlp_bias` is on dense and shared parts, not on experts.

Sources: arXiv:2405.04434; the class DeepseekV2ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import dense_first, gated, latent_attention, routed, shared_width, stack
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("deepseek_v2",)
ARCHITECTURES = ("DeepseekV2ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A DeepseekV2-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = latent_attention(
        keys,
        heads=32,
        q_rank=1536,
        kv_rank=512,
        nope=128,
        rope=64,
        value=128,
        bias=quiet_flag(keys, "attention_bias", default=False),
    )
    bias = quiet_flag(keys, "mlp_bias", default=False)
    width = keys.size("moe_intermediate_size", default=1407)
    sparse = routed(
        keys,
        names=("n_routed_experts", "num_experts", "num_local_experts"),
        experts=64,
        top_k=None,
        expert=gated(width),
        shared_bias=bias,
        shared_width=shared_width(keys, "n_shared_experts", width, default=2),
    )
    dense = gated(keys.size("intermediate_size", default=11008), bias=bias)
    count = layer_count(keys, default=32)
    is_sparse = dense_first(keys, count, name="first_k_dense_replace", default=0)
    layers = stack(count, mixer, rms_pair(hidden_size), sparse, dense=dense, is_sparse=is_sparse)
    return decoder(keys, hidden_size, layers, vocab_size=102400, tied=False)
