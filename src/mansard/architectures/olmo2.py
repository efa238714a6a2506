"""The OLMo 2 family: norms after each part instead of before, and over all heads of queries and of keys at once.

Sources: arXiv:2501.00656; the class Olmo2ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, whole_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("olmo2",)
ARCHITECTURES = ("Olmo2ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """An OLMo-2-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=bias)
    q_norm, k_norm = whole_norms(mixer)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=11008), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=50304, tied=False)
