"""The dense Hunyuan family: Llama's layers with an RMS norm on each head of the queries and of the keys.

The norms' weights are [head_dim], one for all heads, and come after the rotation.

Sources: the model cards of tencent/Hunyuan; the class HunYuanDenseV1ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("hunyuan_v1_dense",)
ARCHITECTURES = ("HunYuanDenseV1ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A dense Hunyuan-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=bias)
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=11008), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=290943, tied=False)
