"""The Arcee family: Llama's layers without a gate, the activation a squared ReLU.

Sources: the model card of arcee-ai/AFM-4.5B; the class ArceeForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("arcee",)
ARCHITECTURES = ("ArceeForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """An Arcee-class configuration."""
    hidden_size = keys.size("hidden_size", default=2560)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=bias)
    width = keys.size("intermediate_size", default=18432)
    wide = quiet_flag(keys, "mlp_bias", default=False)
    part = FeedForward(intermediate_size=width, gated=False, activation="relu2", bias=wide)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=32000, tied=False)
