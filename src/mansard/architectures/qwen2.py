"""The Qwen2 family (Qwen 1.5, 2 and 2.5, MiMo): Llama's layers with biases on queries, keys and values.

A window only with `use_sliding_window`, and then on the layers from `max_window_layers` on, or as `layer_types` lists.

Sources: arXiv:2309.16609, arXiv:2407.10671, arXiv:2412.15115; the class Qwen2ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._prediction import predicting
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.architectures._windows import late_windows
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen2", "mimo")
ARCHITECTURES = ("Qwen2ForCausalLM", "MiMoForCausalLM")


def read(keys: Keys) -> ModelConfig:
    """A Qwen2-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=32, bias=True, o_bias=False)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=22016), gated=True)
    layers = [
        Layer(mixer=one, feed_forward=part, norms=rms_pair(hidden_size))
        for one in late_windows(keys, mixer, layer_count(keys, default=32))
    ]
    return predicting(keys, decoder(keys, hidden_size, layers, vocab_size=151936, tied=False))
