"""The GLM-4 family (9B and its successor of 32B): biases on queries, keys and values, half of each head rotated.

GLM-4-0414 (`glm4`) has norms before and after each part, and no biases by default.

Sources: arXiv:2406.12793; the classes GlmForCausalLM and Glm4ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import head_attention, layer_count, quiet_flag, rotary_share
from mansard.architectures._reading import decoder, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import FeedForward, Layer, ModelConfig

MODEL_TYPES = ("glm", "glm4")
ARCHITECTURES = ("GlmForCausalLM", "Glm4ForCausalLM")


def read(keys: Keys) -> ModelConfig:
    """A GLM-4-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    second = keys.raw("model_type") == "glm4"
    bias = quiet_flag(keys, "attention_bias", default=not second)
    share = rotary_share(keys, default=0.5)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=2, head_dim=128, bias=bias, o_bias=False, rotary=share)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=13696), gated=True)
    norms = rms_pair(hidden_size) * (2 if second else 1)
    layers = (Layer(mixer=mixer, feed_forward=part, norms=norms),) * layer_count(keys, default=40)
    return decoder(keys, hidden_size, layers, vocab_size=151552, tied=False)
