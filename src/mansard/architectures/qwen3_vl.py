"""The language models of Qwen3-VL: Qwen3's layers and Qwen3-MoE's, without windows.

Sources: arXiv:2511.21631; the classes Qwen3VLTextModel and Qwen3VLMoeTextModel of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, require_nested, routed, stack, stepped
from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen3_vl", "qwen3_vl_text", "qwen3_vl_moe", "qwen3_vl_moe_text")
ARCHITECTURES = ("Qwen3VLForConditionalGeneration", "Qwen3VLMoeForConditionalGeneration")


def read(keys: Keys) -> ModelConfig:
    """The language model's part of a Qwen3-VL-class configuration."""
    for composite in ("qwen3_vl", "qwen3_vl_moe"):
        require_nested(keys, composite)
    if keys.raw("model_type") in ("qwen3_vl_moe", "qwen3_vl_moe_text"):
        return _sparse(keys)
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = _mixer(keys, hidden_size, heads=32, kv_heads=32, head_dim=128)
    part = gated(keys.size("intermediate_size", default=22016))
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=151936, tied=False)


def _sparse(keys: Keys) -> ModelConfig:
    hidden_size = keys.size("hidden_size", default=2048)
    mixer = _mixer(keys, hidden_size, heads=16, kv_heads=16, head_dim=None)
    width = keys.size("moe_intermediate_size", default=1408)
    sparse = routed(keys, names=("num_experts", "num_local_experts"), experts=60, top_k=4, expert=gated(width))
    dense = gated(keys.size("intermediate_size", default=5632))
    layers = stack(
        layer_count(keys, default=24), mixer, rms_pair(hidden_size), sparse, dense=dense, is_sparse=stepped(keys)
    )
    return decoder(keys, hidden_size, layers, vocab_size=151936, tied=False)


def _mixer(keys: Keys, hidden_size: int, *, heads: int, kv_heads: int, head_dim: int | None) -> Attention:
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=heads, kv_heads=kv_heads, head_dim=head_dim, bias=bias)
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    return mixer._replace(q_norm=q_norm, k_norm=k_norm)
