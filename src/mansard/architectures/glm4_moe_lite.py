"""The GLM-4 MoE Lite family (GLM-4.7-Flash): DeepSeek-V3's layer with its own list of dense and sparse layers.

Latent attention: the cache keeps kv_lora_rank + qk_rope_head_dim elements per token and layer. `mlp_layer_types` says
which layers are dense; without it the first is. The router's correction [n_routed_experts] is a buffer.

Sources: the class Glm4MoeLiteForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import (
    gated,
    latent_attention,
    routed,
    shared_width,
    sparse_layers,
    stack,
)
from mansard.architectures._prediction import predicting
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("glm4_moe_lite",)
ARCHITECTURES = ("Glm4MoeLiteForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Glm4MoeLite-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    mixer = latent_attention(
        keys,
        heads=20,
        q_rank=768,
        kv_rank=512,
        nope=192,
        rope=64,
        value=256,
        bias=quiet_flag(keys, "attention_bias", default=False),
    )
    width = keys.size("moe_intermediate_size", default=1536)
    sparse = routed(
        keys,
        names=("n_routed_experts", "num_local_experts"),
        experts=64,
        top_k=4,
        buffered=True,
        expert=gated(width),
        shared_width=shared_width(keys, "n_shared_experts", width, default=1),
    )
    dense = gated(keys.size("intermediate_size", default=10240))
    count = layer_count(keys, default=47)
    layers = stack(
        count, mixer, rms_pair(hidden_size), sparse, dense=dense, is_sparse=sparse_layers(keys, count, dense=1)
    )
    block = Layer(mixer=mixer, feed_forward=sparse, norms=rms_pair(hidden_size))
    return predicting(keys, decoder(keys, hidden_size, layers, vocab_size=154880, tied=False), block)
