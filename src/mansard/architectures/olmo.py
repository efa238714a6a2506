"""The OLMo family, first generation: layer norms without any parameters.

Sources: arXiv:2402.00838; the class OlmoForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("olmo",)
ARCHITECTURES = ("OlmoForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """An OLMo-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=bias)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=11008), gated=True)
    norm = Norm(kind="none", size=hidden_size)
    layer = Layer(mixer=mixer, feed_forward=part, norms=(norm, norm))
    layers = (layer,) * layer_count(keys, default=32)
    return decoder(keys, hidden_size, layers, vocab_size=50304, tied=False, final_norm=norm)
