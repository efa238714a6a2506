"""The DeepSeek-V3.2 family: DeepSeek-V3's layers with sparse attention (DSA).

An indexer in each layer scores every earlier token and chooses `index_topk` of them, which the heads then see. Its
queries come from the narrow queries [q_lora_rank → index_n_heads · index_head_dim], its one key a token from the hidden
state [hidden → index_head_dim] with a layer norm, its weights [hidden → index_n_heads]. The cache keeps
kv_lora_rank + qk_rope_head_dim + index_head_dim elements per token and layer: 61·(512 + 64 + 128) = 42,944 for V3.2.

A decode that attends a tokens: index scores 2·H_i·d_i·a and attention 2·H·(2·r + d_rope)·min(a, index_topk) FLOPs a
layer. Dense and sparse layers as for DeepSeek-V3, or as `mlp_layer_types` lists.

Sources: DeepSeek-AI, "DeepSeek-V3.2-Exp" (2025); the class DeepseekV32ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import (
    gated,
    latent_attention,
    routed,
    shared_width,
    sparse_layers,
    stack,
)
from mansard.architectures._indexers import indexed, require_indexed
from mansard.architectures._prediction import predicting
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("deepseek_v32",)
ARCHITECTURES = ("DeepseekV32ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A DeepSeek-V3.2-class configuration."""
    hidden_size = keys.size("hidden_size", default=7168)
    latents = latent_attention(
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
        names=("n_routed_experts", "num_local_experts", "num_experts"),
        experts=256,
        top_k=8,
        buffered=True,
        expert=gated(width),
        shared_width=shared_width(keys, "n_shared_experts", width, default=1),
    )
    dense = gated(keys.size("intermediate_size", default=18432))
    count = layer_count(keys, default=61)
    require_indexed(keys, count)
    layers = stack(
        count,
        indexed(keys, latents, heads=64),
        rms_pair(hidden_size),
        sparse,
        dense=dense,
        is_sparse=sparse_layers(keys, count, dense=keys.size("first_k_dense_replace", default=3, minimum=0)),
    )
    block = Layer(mixer=layers[0].mixer, feed_forward=sparse, norms=rms_pair(hidden_size))
    return predicting(keys, decoder(keys, hidden_size, layers, vocab_size=129280, tied=False), block)
