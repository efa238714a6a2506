"""The Mixtral family: Mistral's decoder with every feed-forward part replaced by a mixture of experts.

Grouped-query attention without biases; a router [hidden_size, num_local_experts] sends each token to
num_experts_per_tok experts of intermediate_size, gated (SwiGLU); no shared expert. A window only if the config says so.

Sources: arXiv:2401.04088; the class MixtralForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, nullable_size, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("mixtral",)
ARCHITECTURES = ("MixtralForCausalLM",)
MODULES = {
    "router.router": "block_sparse_moe.gate", "expert.gate_proj": "block_sparse_moe.experts.{expert}.w1",
    "expert.up_proj": "block_sparse_moe.experts.{expert}.w3",
    "expert.down_proj": "block_sparse_moe.experts.{expert}.w2",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Mixtral-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=8)
    mixer = mixer._replace(window=nullable_size(keys, "sliding_window", default=None))
    part = routed(
        keys,
        names=("num_local_experts", "num_experts"),
        experts=8,
        top_k=2,
        expert=gated(keys.size("intermediate_size", default=14336)),
    )
    layers = stack(layer_count(keys, default=32), mixer, rms_pair(hidden_size), part)
    return decoder(keys, hidden_size, layers, vocab_size=32000, tied=False)
