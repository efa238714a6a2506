"""The Gemma family, first generation: heads of 256 whatever the hidden size, GeGLU, one key/value head in the 2B, tied.

Sources: arXiv:2403.08295; the class GemmaForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("gemma",)
ARCHITECTURES = ("GemmaForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Gemma-class configuration."""
    hidden_size = keys.size("hidden_size", default=3072)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=16, kv_heads=16, head_dim=256, bias=bias)
    width = keys.size("intermediate_size", default=24576)
    part = FeedForward(intermediate_size=width, gated=True, activation="gelu")
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=28), vocab_size=256000, tied=True)
