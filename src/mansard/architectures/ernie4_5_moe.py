"""The ERNIE 4.5 MoE family: experts beside shared ones on the layers between two indices, dense layers elsewhere.

Layer i is sparse if moe_layer_start_index <= i <= moe_layer_end_index (-1: the last) and (i + 1) is a multiple of
`moe_layer_interval`. The router's correction [moe_num_experts] is a parameter here. `use_bias` is on the projections,
the dense and shared parts and the head, not on routed experts. The head is tied by default.

Sources: the ERNIE 4.5 technical report (Baidu, 2025); the class Ernie4_5_MoeForCausalLM of Hugging Face transformers.
"""

from collections.abc import Callable

from mansard.architectures._experts import gated, routed, shared_width, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("ernie4_5_moe",)
ARCHITECTURES = (
    "Ernie4_5_MoeForCausalLM",
    "Ernie4_5_MoEForCausalLM",
)


def read(keys: Keys) -> ModelConfig:
    """An Ernie4_5_Moe-class configuration."""
    hidden_size = keys.size("hidden_size", default=2560)
    bias = quiet_flag(keys, "use_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=20, kv_heads=4, bias=bias)
    width = keys.size("moe_intermediate_size", default=1536)
    sparse = routed(
        keys,
        names=("moe_num_experts", "num_experts"),
        experts=64,
        router_bias=True,
        expert=gated(width),
        top_names=("moe_k", "num_experts_per_tok"),
        top_k=6,
        shared_bias=bias,
        shared_width=shared_width(keys, "moe_num_shared_experts", width, default=2),
    )
    dense = gated(keys.size("intermediate_size", default=12288), bias=bias)
    count = layer_count(keys, default=28)
    layers = stack(count, mixer, rms_pair(hidden_size), sparse, dense=dense, is_sparse=_sparse_layers(keys, count))
    return decoder(keys, hidden_size, layers, vocab_size=103424, tied=True, head_bias=bias)


def _sparse_layers(keys: Keys, layers: int) -> Callable[[int], bool]:
    start = keys.size("moe_layer_start_index", default=1, minimum=0)
    last = keys.size("moe_layer_end_index", default=-1, minimum=-1)
    interval = keys.size("moe_layer_interval", default=1)
    end = layers - 1 if last == -1 else last
    return lambda index: start <= index <= end and (index + 1) % interval == 0
