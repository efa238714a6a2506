"""The Granite family (3.x dense): Llama's layers with fixed multipliers, which are scalars and no parameters.

Sources: the model cards of ibm-granite; the class GraniteForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("granite",)
ARCHITECTURES = ("GraniteForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Granite-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=bias)
    width = keys.size("intermediate_size", default=11008)
    part = FeedForward(intermediate_size=width, gated=True, bias=quiet_flag(keys, "mlp_bias", default=False))
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=32000, tied=False)
