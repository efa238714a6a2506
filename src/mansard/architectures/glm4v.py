"""The language model of GLM-4.1V: GLM-4-0414's layers, four norms each, always with biases on queries, keys and values.

Sources: arXiv:2507.01006; the class Glm4vTextModel of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, rotary_share
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("glm4v", "glm4v_text")
ARCHITECTURES = ("Glm4vForConditionalGeneration",)
MODULES = {"feed_forward.gate_proj": "mlp.gate_up_proj", "feed_forward.up_proj": "mlp.gate_up_proj"}


def read(keys: Keys) -> ModelConfig:
    """The language model's part of a GLM-4V-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    share = rotary_share(keys, default=0.5)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=2, bias=True, o_bias=False, rotary=share, floored=True)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=13696), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size) * 2)
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=40), vocab_size=151552, tied=False)
