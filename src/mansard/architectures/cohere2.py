"""The Cohere 2 family (Command R7B, Command A): Cohere's layers, three windowed ones to a whole one without positions.

All layers but every fourth see `sliding_window` keys, 4096 by default, and only these are rotated.

Sources: the model cards of CohereForAI; the class Cohere2ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.architectures._windows import patterned_windows
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("cohere2",)
ARCHITECTURES = ("Cohere2ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Cohere-2-class configuration."""
    hidden_size = keys.size("hidden_size", default=8192)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=64, kv_heads=None, bias=bias, floored=True)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=22528), gated=True)
    norm = Norm(kind="layer-no-bias", size=hidden_size)
    layers = [
        Layer(mixer=one if one.window else one._replace(rotary_dim=0), feed_forward=part, norms=(norm,), parallel=True)
        for one in patterned_windows(keys, mixer, layer_count(keys, default=40), window=4096, period=4)
    ]
    return decoder(keys, hidden_size, layers, vocab_size=256000, tied=True, final_norm=norm)
