"""The GLM-4.5 MoE family: DeepSeek-V3's mixture on grouped-query attention with partial rotary positions.

GLM-4.5, 4.6 and, as the text model of GLM-4.5V, glm4v_moe. The first `first_k_dense_replace` layers are dense. Biases
on queries, keys and values with `attention_bias`; RMS norms on each head with `use_qk_norm`, which the text model of
glm4v_moe never has. The router's correction [n_routed_experts] is a buffer. Half of each head is rotated by default.

Sources: arXiv:2508.06471; the classes Glm4MoeForCausalLM and Glm4vMoeTextModel of Hugging Face transformers.
"""

from mansard.architectures._experts import (
    dense_first,
    gated,
    require_nested,
    routed,
    shared_width,
    stack,
)
from mansard.architectures._heads import head_attention, head_norms, rotary_share
from mansard.architectures._prediction import predicting
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("glm4_moe", "glm4v_moe", "glm4v_moe_text")
ARCHITECTURES = ("Glm4MoeForCausalLM", "Glm4vMoeForConditionalGeneration")


def read(keys: Keys) -> ModelConfig:
    """A GLM-4-MoE-class configuration, or the text part of a GLM-4V-MoE one."""
    vision = keys.raw("model_type") == "glm4v_moe_text"
    require_nested(keys, "glm4v_moe")
    hidden_size = keys.size("hidden_size", default=4096)
    width = keys.size("moe_intermediate_size", default=1408)
    sparse = routed(
        keys,
        names=("n_routed_experts", "num_local_experts"),
        experts=128,
        top_k=8,
        buffered=True,
        expert=gated(width),
        shared_width=shared_width(keys, "n_shared_experts", width, default=1),
    )
    dense = gated(keys.size("intermediate_size", default=10944))
    count = layer_count(keys, default=46)
    is_sparse = dense_first(keys, count, name="first_k_dense_replace", default=1)
    layers = stack(
        count,
        _attention(keys, hidden_size, vision=vision),
        rms_pair(hidden_size),
        sparse,
        dense=dense,
        is_sparse=is_sparse,
    )
    block = Layer(mixer=layers[0].mixer, feed_forward=sparse, norms=rms_pair(hidden_size))
    return predicting(
        keys, decoder(keys, hidden_size, layers, vocab_size=151424 if vision else 151552, tied=False), block
    )


def _attention(keys: Keys, hidden_size: int, *, vision: bool) -> Attention:
    mixer = head_attention(
        keys,
        hidden_size,
        heads=96,
        kv_heads=8,
        o_bias=False,
        floored=True,
        bias=quiet_flag(keys, "attention_bias", default=vision),
        rotary=rotary_share(keys, default=0.5),
    )
    if vision or not quiet_flag(keys, "use_qk_norm", default=False):
        return mixer
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    return mixer._replace(q_norm=q_norm, k_norm=k_norm)
