"""The language models of Qwen2-VL, Qwen2.5-VL and Qwen2.5-Omni: Qwen2's layers, rotary positions in three directions.

Published configurations keep its keys beside `vision_config`; newer ones under `text_config`.

Sources: arXiv:2409.12191, arXiv:2502.13923, arXiv:2503.20215; the classes Qwen2_5_VLTextModel and
Qwen2_5OmniThinkerTextModel of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.architectures._windows import late_windows
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text", "qwen2_5_omni_text")
ARCHITECTURES = (
    "Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration", "Qwen2_5OmniModel",
    "Qwen2_5OmniForConditionalGeneration", "Qwen2_5OmniThinkerForConditionalGeneration",
)  # fmt: skip
# Defaults of the classes: hidden size, heads, key/value heads, feed-forward width, layers.
_SEEING, _OMNI = (8192, 64, 8, 29568, 80), (3584, 28, 4, 18944, 28)


def read(keys: Keys) -> ModelConfig:
    """The language model's part of a Qwen2-VL-class configuration."""
    hidden, heads, kv_heads, width, count = _OMNI if keys.raw("model_type") == "qwen2_5_omni_text" else _SEEING
    hidden_size = keys.size("hidden_size", default=hidden)
    mixer = head_attention(keys, hidden_size, heads=heads, kv_heads=kv_heads, bias=True, o_bias=False)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=width), gated=True)
    layers = [
        Layer(mixer=one, feed_forward=part, norms=rms_pair(hidden_size))
        for one in late_windows(keys, mixer, layer_count(keys, default=count), first=count)
    ]
    return decoder(keys, hidden_size, layers, vocab_size=152064, tied=False)
