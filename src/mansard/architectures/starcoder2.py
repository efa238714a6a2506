"""The StarCoder2 family: grouped queries, a window, layer norms, biases, a plain GELU part, tied.

Sources: arXiv:2402.19173; the class Starcoder2ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._plain import layer_norm, layer_pair
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("starcoder2",)
ARCHITECTURES = ("Starcoder2ForCausalLM",)
MODULES = {"feed_forward.up_proj": "mlp.c_fc", "feed_forward.down_proj": "mlp.c_proj"}


def read(keys: Keys) -> ModelConfig:
    """A StarCoder2-class configuration."""
    hidden_size = keys.size("hidden_size", default=3072)
    bias = quiet_flag(keys, "use_bias", default=True)
    mixer = head_attention(keys, hidden_size, heads=24, kv_heads=2, bias=bias)
    mixer = mixer._replace(window=keys.optional_size("sliding_window"))
    width = keys.size("intermediate_size", default=12288)
    part = FeedForward(intermediate_size=width, gated=False, activation="gelu", bias=bias)
    layer = Layer(mixer=mixer, feed_forward=part, norms=layer_pair(hidden_size))
    layers = (layer,) * layer_count(keys, default=30)
    return decoder(keys, hidden_size, layers, vocab_size=49152, tied=True, final_norm=layer_norm(hidden_size))
