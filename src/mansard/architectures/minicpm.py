"""The MiniCPM family: Llama's layers with scaled residuals, which are no parameters; tied by default.

A configuration that turns sparse attention on (`sparse_config`) is refused.

Sources: arXiv:2404.06395; the published remote code of openbmb.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("minicpm",)
ARCHITECTURES = ("MiniCPMForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A MiniCPM configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=bias)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=11008), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=32000, tied=True)
