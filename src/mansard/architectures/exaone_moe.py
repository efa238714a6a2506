"""The K-EXAONE family: EXAONE 4's attention with small experts beside shared ones, norms before each part.

RMS norms on each head. All layers but every fourth (`sliding_window_pattern`) see a window and are rotated; the others
are rotated only where there are no windows. The first `first_k_dense_replace` layers are dense, unless
`mlp_layer_types` says otherwise; the router's correction [num_experts] is a buffer.

Sources: arXiv:2601.01739; the class ExaoneMoeForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, shared_width, sparse_layers, stack
from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._prediction import note_prediction_layers
from mansard.architectures._reading import decoder, is_null, layer_count, rms_pair
from mansard.architectures._windows import patterned_windows
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("exaone_moe",)
ARCHITECTURES = ("ExaoneMoeForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """An EXAONE-MoE-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=32)
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    width = keys.size("moe_intermediate_size", default=1024)
    part = routed(
        keys,
        experts=64,
        top_k=8,
        buffered=True,
        expert=gated(width),
        shared_width=shared_width(keys, "num_shared_experts", width, default=1),
    )
    dense = gated(keys.size("intermediate_size", default=16384))
    count = layer_count(keys, default=32)
    whole = is_null(keys, "sliding_window")
    windows = [mixer] * count if whole else patterned_windows(keys, mixer, count, window=4096, period=4)
    mixers = [one if whole or one.window else one._replace(rotary_dim=0) for one in windows]
    note_prediction_layers(keys)
    layers = stack(
        count,
        mixers.__getitem__,
        rms_pair(hidden_size),
        part,
        dense=dense,
        is_sparse=sparse_layers(keys, count, dense=keys.size("first_k_dense_replace", default=1, minimum=0)),
    )
    return decoder(keys, hidden_size, layers, vocab_size=102400, tied=False)
