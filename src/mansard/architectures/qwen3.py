"""The Qwen3 family: an RMS norm on each head of queries and of keys, and a head_dim of its own, 128 by default.

Biases only with `attention_bias`. A window only with `use_sliding_window`, as in Qwen2.

Sources: arXiv:2505.09388; the class Qwen3ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.architectures._windows import late_windows
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen3",)
ARCHITECTURES = ("Qwen3ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Qwen3-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=32, head_dim=128, bias=bias)
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=22016), gated=True)
    layers = [
        Layer(mixer=one, feed_forward=part, norms=rms_pair(hidden_size))
        for one in late_windows(keys, mixer, layer_count(keys, default=32))
    ]
    return decoder(keys, hidden_size, layers, vocab_size=151936, tied=False)
