"""The Apertus family: no gate, the xIELU activation with two learned numbers per layer, a norm on every head.

Sources: arXiv:2509.14233; the class ApertusForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("apertus",)
ARCHITECTURES = ("ApertusForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """An Apertus-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=bias)
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    width = keys.size("intermediate_size", default=14336)
    activation = keys.text("hidden_act", default="xielu")
    learned = 2 if activation == "xielu" else 0
    part = FeedForward(intermediate_size=width, gated=False, activation=activation, activation_parameters=learned)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=131072, tied=False)
