"""The InternLM 2 and 3 families: Llama's layers, with optional biases.

InternLM 2 has one `bias` for attention; InternLM 3 has `qkv_bias` beside it and a head_dim of its own.

Sources: arXiv:2403.17297; the published remote code of internlm.
"""

from mansard.architectures._experts import head_attention, layer_count, quiet_flag
from mansard.architectures._reading import decoder, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import FeedForward, Layer, ModelConfig

MODEL_TYPES = ("internlm2", "internlm3", "internlm")
ARCHITECTURES = ("InternLM2ForCausalLM", "InternLM3ForCausalLM", "InternLMForCausalLM")


def read(keys: Keys) -> ModelConfig:
    """An InternLM configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "bias", default=False)
    qkv_bias = quiet_flag(keys, "qkv_bias", default=bias)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=qkv_bias, o_bias=bias)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=11008), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=103168, tied=False)
