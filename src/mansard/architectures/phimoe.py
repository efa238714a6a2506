"""The Phi-3.5-MoE family: Mixtral's mixture in a decoder with layer norms (weight and bias) in place of RMS norms.

Biases on the four projections with `attention_bias`, on the head with `lm_head_bias`. 2 of 16 experts by a router
[hidden_size, num_local_experts] without bias: the class's router picks two whatever the configuration says, so that
another `num_experts_per_tok` is refused. A window on every layer only if the config says so.

Sources: arXiv:2404.14219; the class PhimoeForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, nullable_size, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("phimoe",)
ARCHITECTURES = ("PhimoeForCausalLM",)
_CHOSEN = 2
MODULES = {
    "router.router": "block_sparse_moe.gate", "expert.gate_proj": "block_sparse_moe.experts.{expert}.w1",
    "expert.up_proj": "block_sparse_moe.experts.{expert}.w3",
    "expert.down_proj": "block_sparse_moe.experts.{expert}.w2",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Phimoe-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(
        keys, hidden_size, heads=32, kv_heads=8, bias=quiet_flag(keys, "attention_bias", default=False)
    )
    mixer = mixer._replace(window=nullable_size(keys, "sliding_window", default=None))
    part = routed(
        keys,
        names=("num_local_experts", "num_experts"),
        experts=16,
        top_k=2,
        expert=gated(keys.size("intermediate_size", default=6400)),
    )
    chosen = part.num_experts_per_tok
    keys.require(chosen == _CHOSEN, "num_experts_per_tok", "must be 2: the class's router picks two experts", chosen)
    norm = Norm(kind="layer", size=hidden_size)
    layers = stack(layer_count(keys, default=32), mixer, (norm, norm), part)
    return decoder(
        keys,
        hidden_size,
        layers,
        vocab_size=32064,
        tied=False,
        final_norm=norm,
        head_bias=quiet_flag(keys, "lm_head_bias", default=False),
    )
