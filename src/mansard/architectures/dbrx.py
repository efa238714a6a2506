"""The DBRX family: grouped-query attention and a fine-grained mixture under keys of their own.

d_model, n_heads, n_layers, max_seq_len; `attn_config.kv_n_heads`; `ffn_config` with ffn_hidden_size, moe_num_experts
and moe_top_k. Queries, keys and values are stored as one matrix. Layer norms without bias, no biases at all; every
layer is sparse, no shared expert.

Sources: Databricks, "Introducing DBRX" (2024); the class DbrxForCausalLM of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._reading import decoder, layer_count
from mansard.inputs.keys import MOST_POSITIONS, Keys
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("dbrx",)
ARCHITECTURES = ("DbrxForCausalLM",)
MODULES = {
    "layer": "transformer.blocks.{layer}", "embedding": "transformer.wte", "mixer.q_proj": "norm_attn_norm.attn.Wqkv",
    "mixer.k_proj": "norm_attn_norm.attn.Wqkv", "mixer.v_proj": "norm_attn_norm.attn.Wqkv",
    "mixer.o_proj": "norm_attn_norm.attn.out_proj", "router.router": "ffn.router.layer",
    "expert.gate_proj": "ffn.experts.mlp.w1", "expert.up_proj": "ffn.experts.mlp.v1",
    "expert.down_proj": "ffn.experts.mlp.w2",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A DBRX-class configuration."""
    hidden_size = keys.size("d_model", "hidden_size", default=2048)
    inner = keys.nested("ffn_config")
    part = routed(
        inner,
        names=("moe_num_experts",),
        experts=4,
        top_names=("moe_top_k",),
        top_k=1,
        expert=gated(inner.size("ffn_hidden_size", default=3584)),
    )
    norm = Norm(kind="layer-no-bias", size=hidden_size)
    count = layer_count(keys, "n_layers", "num_hidden_layers", default=24)
    layers = stack(count, _attention(keys, hidden_size), (norm, norm), part)
    model = decoder(keys, hidden_size, layers, vocab_size=32000, tied=False, final_norm=norm)
    positions = keys.optional_size("max_seq_len", "max_position_embeddings", maximum=MOST_POSITIONS)
    return replace(model, max_position_embeddings=positions)


def _attention(keys: Keys, hidden_size: int) -> Attention:
    heads = keys.size("n_heads", "num_attention_heads", default=16)
    inner = keys.nested("attn_config")
    kv_heads = inner.size("kv_n_heads", default=1)
    inner.require(heads % kv_heads == 0, "kv_n_heads", f"must divide n_heads {heads}", kv_heads)
    keys.require(hidden_size % heads == 0, "n_heads", f"must divide d_model {hidden_size}", heads)
    head_dim = max(1, hidden_size // heads)
    return Attention(heads=heads, kv_heads=kv_heads, head_dim=head_dim, rotary_dim=head_dim)
