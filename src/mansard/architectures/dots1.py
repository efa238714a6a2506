"""The dots.llm1 family: DeepSeek-V3's mixture on grouped-query attention with RMS norms on each head.

The first `first_k_dense_replace` layers are dense. The router's correction [n_routed_experts] is a buffer. Layers from
`max_window_layers` on are windowed, unless `layer_types` says otherwise. The class gives no default for the counts of
experts, so that they are required.

Sources: arXiv:2506.05767; the class Dots1ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import dense_first, gated, routed, stack
from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, layer_count, nullable_size, quiet_flag, rms_pair
from mansard.architectures._windows import windowed_layers
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("dots1",)
ARCHITECTURES = ("Dots1ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Dots1-class configuration."""
    hidden_size = keys.size("hidden_size", default=4608)
    mixer = head_attention(
        keys, hidden_size, heads=32, kv_heads=32, bias=quiet_flag(keys, "attention_bias", default=False)
    )
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    width = keys.size("moe_intermediate_size", default=1408)
    sparse = routed(
        keys,
        names=("n_routed_experts", "num_local_experts"),
        experts=None,
        top_k=None,
        buffered=True,
        expert=gated(width),
        shared_width=keys.size("n_shared_experts", minimum=0) * width,
    )
    dense = gated(keys.size("intermediate_size", default=10944))
    count = layer_count(keys, default=62)
    window = nullable_size(keys, "sliding_window", default=4096)
    first = keys.size("max_window_layers", default=62, minimum=0)
    local = windowed_layers(keys, count, otherwise=lambda index: index >= first)
    is_sparse = dense_first(keys, count, name="first_k_dense_replace", default=0)
    layers = stack(
        count,
        lambda index: mixer._replace(window=window if local[index] else None),
        rms_pair(hidden_size),
        sparse,
        dense=dense,
        is_sparse=is_sparse,
    )
    return decoder(keys, hidden_size, layers, vocab_size=152064, tied=False)
