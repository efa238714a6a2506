"""The LFM2-MoE family: LFM2's layers with experts after the first `num_dense_layers`.

`layer_types` is required: the class has no other way to say which layers have attention. Dense parts are
intermediate_size wide, experts moe_intermediate_size. With `use_expert_bias` the router keeps a correction
[num_experts] that is a buffer.

Sources: arXiv:2511.23404; the class Lfm2MoeForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.architectures._short_convolutions import lfm2_attention, lfm2_convolution, lfm2_tied
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("lfm2_moe",)
ARCHITECTURES = ("Lfm2MoeForCausalLM",)
_PROJECTIONS = (("gate_proj", "w1"), ("up_proj", "w3"), ("down_proj", "w2"))
MODULES = {
    "mixer.in_proj": "conv.in_proj", "mixer.out_proj": "conv.out_proj", "mixer.o_proj": "self_attn.out_proj",
    **{f"feed_forward.{name}": f"feed_forward.{own}" for name, own in _PROJECTIONS},
    **{f"expert.{name}": f"feed_forward.experts.{{expert}}.{own}" for name, own in _PROJECTIONS},
    "router.router": "feed_forward.gate",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """An LFM2-MoE-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    attention, convolution = lfm2_attention(keys, hidden_size), lfm2_convolution(keys, hidden_size)
    count = layer_count(keys, default=32)
    kinds = keys.texts("layer_types", length=count, choices=("conv", "full_attention"))
    first = keys.size("num_dense_layers", default=2, minimum=0, maximum=MOST_LAYERS)
    layers = stack(
        count,
        lambda index: attention if kinds[index] == "full_attention" else convolution,
        rms_pair(hidden_size),
        routed(
            keys,
            names=("num_experts", "num_local_experts"),
            experts=32,
            top_k=4,
            expert=gated(keys.size("moe_intermediate_size", default=1792)),
            buffered=quiet_flag(keys, "use_expert_bias", default=True),
        ),
        dense=gated(keys.size("intermediate_size", default=7168)),
        is_sparse=lambda index: index >= first,
    )
    return decoder(lfm2_tied(keys), hidden_size, layers, vocab_size=65536, tied=True)
