"""The MiMo-V2-Flash family: windowed layers with twice the key/value heads and a sink on each head, small experts.

Layers of `layer_types` "sliding_attention" (all but the first and every sixth) see `sliding_window` keys, or
`sliding_window_size` before the query. Values have a size of their own. A third of each head is rotated. The first
layer is dense, unless `mlp_layer_types` says otherwise; the router's correction [n_routed_experts] is a buffer.

Sources: arXiv:2601.02780; the class MiMoV2FlashForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, sparse_layers, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._prediction import note_prediction_layers
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.architectures._windows import windowed_layers
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("mimo_v2_flash",)
ARCHITECTURES = ("MiMoV2FlashForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A MiMo-V2-Flash-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    count = layer_count(keys, default=48)
    whole, windowed = _mixers(keys, hidden_size)
    kinds = windowed_layers(keys, count, otherwise=lambda index: index > 0 and (index + 1) % 6 != 0)
    part = routed(
        keys,
        names=("n_routed_experts", "num_local_experts"),
        experts=256,
        top_k=8,
        buffered=True,
        expert=gated(keys.size("moe_intermediate_size", default=2048)),
    )
    dense = gated(keys.size("intermediate_size", default=16384))
    note_prediction_layers(keys)
    layers = stack(
        count,
        lambda index: windowed if kinds[index] else whole,
        rms_pair(hidden_size),
        part,
        dense=dense,
        is_sparse=sparse_layers(keys, count, dense=1),
    )
    return decoder(keys, hidden_size, layers, vocab_size=152576, tied=False)


def _mixers(keys: Keys, hidden_size: int) -> tuple[Attention, Attention]:
    """Attention of the layers that see everything, and of those behind a window."""
    bias = quiet_flag(keys, "attention_bias", default=False)
    whole = head_attention(keys, hidden_size, heads=64, kv_heads=4, head_dim=192, bias=bias, o_bias=False, rotary=0.334)
    whole = whole._replace(v_head_dim=keys.size("v_head_dim", default=128))
    before = keys.optional_size("sliding_window_size")
    window = before + 1 if before else keys.size("sliding_window", default=129)
    keys.require(
        whole.heads % (2 * whole.kv_heads) == 0,
        "num_key_value_heads",
        f"must divide num_attention_heads {whole.heads} when doubled",
        whole.kv_heads,
    )
    return whole, whole._replace(kv_heads=2 * whole.kv_heads, sinks=True, window=window)
