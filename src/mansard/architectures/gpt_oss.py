"""The gpt-oss family: mixtures of experts with biases everywhere, attention sinks, and a window on every other layer.

Queries, keys, values, output, router and experts have biases; one learned sink per query head joins the softmax. Layers
0, 2, 4… see `sliding_window` keys and the others all, unless `layer_types` says otherwise. Experts are gated, gate and
up stored as one matrix. The published checkpoints store the experts in MXFP4.

Sources: arXiv:2508.10925; the class GptOssForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, nullable_size, quiet_flag, rms_pair
from mansard.architectures._windows import windowed_layers
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("gpt_oss",)
ARCHITECTURES = ("GptOssForCausalLM",)
MODULES = {
    "router.router": "mlp.router", "expert.gate_proj": "mlp.experts.gate_up_proj",
    "expert.up_proj": "mlp.experts.gate_up_proj", "expert.down_proj": "mlp.experts.down_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A gpt-oss-class configuration."""
    hidden_size = keys.size("hidden_size", default=2880)
    mixer = head_attention(
        keys, hidden_size, heads=64, kv_heads=8, head_dim=64, bias=quiet_flag(keys, "attention_bias", default=True)
    )
    mixer = mixer._replace(sinks=True)
    window = nullable_size(keys, "sliding_window", default=128)
    part = routed(
        keys,
        names=("num_local_experts", "num_experts"),
        experts=128,
        top_k=4,
        router_bias=True,
        expert=gated(keys.size("intermediate_size", default=2880), bias=True),
    )
    count = layer_count(keys, default=36)
    local = windowed_layers(keys, count, otherwise=lambda index: index % 2 == 0)
    layers = stack(
        count, lambda index: mixer._replace(window=window if local[index] else None), rms_pair(hidden_size), part
    )
    return decoder(keys, hidden_size, layers, vocab_size=201088, tied=False)
