"""The Seed-OSS family: Llama's layers with biases on queries, keys and values and a head_dim of its own.

Sources: the model card of ByteDance-Seed/Seed-OSS-36B; the class SeedOssForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("seed_oss",)
ARCHITECTURES = ("SeedOssForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Seed-OSS-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=True)
    o_bias = quiet_flag(keys, "attention_out_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=80, kv_heads=8, head_dim=128, bias=bias, o_bias=o_bias)
    wide = quiet_flag(keys, "mlp_bias", default=False)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=27648), gated=True, bias=wide)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=64), vocab_size=155136, tied=False)
