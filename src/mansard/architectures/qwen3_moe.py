"""The Qwen3-MoE family: Qwen3's decoder with mixtures of experts, no shared expert.

RMS norms on each head of queries and keys, a head_dim of its own. Layer i (from 0) is sparse if it is not in
`mlp_only_layers` and (i + 1) is a multiple of `decoder_sparse_step`; else dense with intermediate_size. Experts have
moe_intermediate_size. A window only with `use_sliding_window`, and then on every layer.

Sources: arXiv:2505.09388; the class Qwen3MoeForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, stack, stepped
from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, layer_count, nullable_size, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen3_moe",)
ARCHITECTURES = ("Qwen3MoeForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Qwen3-MoE-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    mixer = head_attention(
        keys, hidden_size, heads=32, kv_heads=4, bias=quiet_flag(keys, "attention_bias", default=False)
    )
    window = None
    if quiet_flag(keys, "use_sliding_window", default=False):
        window = nullable_size(keys, "sliding_window", default=4096)
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    mixer = mixer._replace(window=window, q_norm=q_norm, k_norm=k_norm)
    sparse = routed(
        keys,
        names=("num_experts", "num_local_experts"),
        experts=128,
        top_k=8,
        expert=gated(keys.size("moe_intermediate_size", default=768)),
    )
    dense = gated(keys.size("intermediate_size", default=6144))
    layers = stack(
        layer_count(keys, default=24), mixer, rms_pair(hidden_size), sparse, dense=dense, is_sparse=stepped(keys)
    )
    return decoder(keys, hidden_size, layers, vocab_size=151936, tied=False)
