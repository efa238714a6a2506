"""The ERNIE 4.5 family, dense: Llama's layers with a head_dim of its own, tied.

Sources: the model cards of baidu; the class Ernie4_5ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("ernie4_5",)
ARCHITECTURES = ("Ernie4_5ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """An ERNIE-4.5-class configuration."""
    hidden_size = keys.size("hidden_size", default=1024)
    bias = quiet_flag(keys, "use_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=16, kv_heads=2, head_dim=128, bias=bias)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=3072), gated=True, bias=bias)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=18), vocab_size=103424, tied=True)
