"""The Bailing hybrid family (Ling 3, Ring 3): layers of Kimi Delta Attention, then one of gated latent attention.

`layer_types` says which layer is which, else every `layer_group_size`-th has attention. Delta layers have as many heads
as attention, of `head_dim`; their decay and output gate are one product [h, H·K] each. Latent attention is
DeepSeek-V3's with a gate on each head [h, H]. The first `first_k_dense_replace` layers are dense, unless
`mlp_layer_types` lists them. The router's correction [num_experts] is a buffer. The class never ties its head.

Sources: arXiv:2510.26692; the class BailingHybridForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import (
    dense_first,
    gated,
    latent_attention,
    routed,
    sparse_layers,
    stack,
)
from mansard.architectures._linear_attention import FULL, LINEAR, kimi_delta, note_chunks
from mansard.architectures._prediction import note_prediction_layers
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair, untied
from mansard.architectures._state_space import scanned
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mixers import LatentAttention, Recurrence
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("bailing_hybrid",)
ARCHITECTURES = ("BailingHybridForCausalLM",)
MODULES = {
    **{f"mixer.{name}": f"self_attn.{name}" for name in ("b_proj", "g_proj")},
    "mixer.f_proj": "self_attn.forget_gate.f_proj self_attn.f_proj",
}
_EXPERTS = ("num_experts", "num_local_experts")


def read(keys: Keys) -> ModelConfig:
    """A Bailing-hybrid-class configuration."""
    hidden_size = keys.size("hidden_size", default=2560)
    attention = _latent(keys)
    linear = _delta(keys, hidden_size, attention.heads)
    count = layer_count(keys, default=42)
    kinds = _kinds(keys, count)
    width = keys.size("moe_intermediate_size", default=768)
    sparse = routed(
        keys,
        names=_EXPERTS,
        top_names=("num_experts_per_token", "num_experts_per_tok"),
        experts=512,
        top_k=8,
        expert=gated(width),
        shared_width=keys.size("num_shared_experts", "n_shared_experts", default=1, minimum=0) * width,
        buffered=True,
    )
    is_sparse = (
        sparse_layers(keys, count, dense=0)
        if keys.has("mlp_layer_types")
        else dense_first(keys, count, name="first_k_dense_replace", default=2)
    )
    note_prediction_layers(keys)
    layers = stack(
        count,
        lambda index: linear if kinds[index] == LINEAR else attention,
        rms_pair(hidden_size),
        sparse,
        dense=gated(keys.size("intermediate_size", default=6144)),
        is_sparse=is_sparse,
    )
    return scanned(keys, untied(keys, decoder(keys, hidden_size, layers, vocab_size=157184, tied=False)))


def _latent(keys: Keys) -> LatentAttention:
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = latent_attention(keys, heads=32, q_rank=None, kv_rank=512, nope=128, rope=64, value=128, bias=bias)
    return mixer._replace(gate_size=mixer.heads)


def _delta(keys: Keys, hidden_size: int, heads: int) -> Recurrence:
    # The keys `linear_…` are the class's own, in files that it has written; its `head_dim` is another there.
    mixer = kimi_delta(
        hidden_size,
        heads=keys.optional_size("linear_num_heads") or heads,
        head_dim=keys.size("linear_head_dim", "head_dim", default=128),
        kernel=keys.size("linear_conv_kernel_dim", "short_conv_kernel_size", default=4),
        narrow=False,
    )
    note_chunks(keys, mixer)
    return mixer


def _kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    if keys.has("layer_types"):
        return keys.texts("layer_types", length=layers, choices=(LINEAR, FULL))
    each = keys.size("layer_group_size", default=6, maximum=MOST_LAYERS)
    return tuple(LINEAR if (index + 1) % each else FULL for index in range(layers))
