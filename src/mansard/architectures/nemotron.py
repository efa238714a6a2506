"""The Nemotron family (Minitron, Nemotron-4): layer norms with biases, a squared ReLU without a gate, half rotated.

Sources: arXiv:2402.16819, arXiv:2407.14679; the class NemotronForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, rotary_share
from mansard.architectures._plain import layer_norm, layer_pair
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("nemotron",)
ARCHITECTURES = ("NemotronForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Nemotron-class configuration."""
    hidden_size = keys.size("hidden_size", default=6144)
    bias = quiet_flag(keys, "attention_bias", default=False)
    share = rotary_share(keys, default=0.5)
    mixer = head_attention(keys, hidden_size, heads=48, kv_heads=None, bias=bias, rotary=share)
    width = keys.size("intermediate_size", default=24576)
    wide = quiet_flag(keys, "mlp_bias", default=False)
    part = FeedForward(intermediate_size=width, gated=False, activation="relu2", bias=wide)
    layer = Layer(mixer=mixer, feed_forward=part, norms=layer_pair(hidden_size))
    layers = (layer,) * layer_count(keys, default=32)
    return decoder(keys, hidden_size, layers, vocab_size=256000, tied=False, final_norm=layer_norm(hidden_size))
