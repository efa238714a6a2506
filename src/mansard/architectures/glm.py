"""The GLM-4 family of 9B: biases on queries, keys and values, none on the output, and half of each head rotated.

Norms before attention and before the feed-forward part; head_dim is a key of its own, [hidden, heads · head_dim].

Sources: arXiv:2406.12793; the class GlmForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, rotary_share
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("glm",)
ARCHITECTURES = ("GlmForCausalLM",)
MODULES = {"feed_forward.gate_proj": "mlp.gate_up_proj", "feed_forward.up_proj": "mlp.gate_up_proj"}


def read(keys: Keys) -> ModelConfig:
    """A GLM-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=True)
    share = rotary_share(keys, default=0.5)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=2, head_dim=128, bias=bias, o_bias=False, rotary=share)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=13696), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=40), vocab_size=151552, tied=False)
