"""The Ministral 3 family: Llama's layers with heads of 128, without biases; one window for all layers, or none.

Sources: the class Ministral3ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("ministral3",)
ARCHITECTURES = ("Ministral3ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Ministral-3-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=8, head_dim=128)
    mixer = mixer._replace(window=keys.optional_size("sliding_window"))
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=14336), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=34), vocab_size=131072, tied=False)
