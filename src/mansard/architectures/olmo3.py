"""The OLMo 3 family: OLMo 2's layers, three windowed ones to a whole one.

All layers but every fourth see `sliding_window` keys, 4096 by default, unless `layer_types` lists them.

Sources: the model cards of allenai; the class Olmo3ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, whole_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.architectures._windows import patterned_windows
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("olmo3",)
ARCHITECTURES = ("Olmo3ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """An OLMo-3-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=bias)
    q_norm, k_norm = whole_norms(mixer)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=11008), gated=True)
    layers = [
        Layer(mixer=one, feed_forward=part, norms=rms_pair(hidden_size))
        for one in patterned_windows(keys, mixer, layer_count(keys, default=32), window=4096, period=4, stated=False)
    ]
    return decoder(keys, hidden_size, layers, vocab_size=50304, tied=False)
