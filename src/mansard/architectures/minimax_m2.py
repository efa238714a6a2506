"""The MiniMax-M2 family: grouped-query attention with partial rotary positions, 256 small experts, none shared.

RMS norms over all heads of queries and of keys at once. Every layer is sparse; the router's correction
[num_local_experts] is a buffer. `rotary_dim` of each head's elements are rotated. The extra prediction layers of the
checkpoints are noted and not counted.

Sources: the class MiniMaxM2ForCausalLM of Hugging Face transformers; the model card of MiniMaxAI/MiniMax-M2.
"""

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._heads import head_attention, whole_norms
from mansard.architectures._prediction import note_prediction_layers
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("minimax_m2",)
ARCHITECTURES = ("MiniMaxM2ForCausalLM",)
MODULES = {
    "router.router": "block_sparse_moe.gate", "expert.gate_proj": "block_sparse_moe.experts.{expert}.w1",
    "expert.up_proj": "block_sparse_moe.experts.{expert}.w3",
    "expert.down_proj": "block_sparse_moe.experts.{expert}.w2",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A MiniMaxM2-class configuration."""
    hidden_size = keys.size("hidden_size", default=3072)
    mixer = head_attention(keys, hidden_size, heads=48, kv_heads=8, head_dim=128)
    q_norm, k_norm = whole_norms(mixer)
    rotary_dim = keys.optional_size("rotary_dim") or mixer.head_dim
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm, rotary_dim=min(rotary_dim, mixer.head_dim))
    part = routed(
        keys,
        names=("num_local_experts", "num_experts"),
        experts=256,
        top_k=8,
        buffered=True,
        expert=gated(keys.size("intermediate_size", default=1536)),
    )
    kinds = keys.sizes("attn_type_list", minimum=0) if keys.has("attn_type_list") else ()
    keys.require(all(kind == 1 for kind in kinds), "attn_type_list", "names layers without softmax attention", kinds)
    note_prediction_layers(keys)
    layers = stack(layer_count(keys, default=62), mixer, rms_pair(hidden_size), part)
    return decoder(keys, hidden_size, layers, vocab_size=200064, tied=False)
