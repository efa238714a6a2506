"""The language model of Qwen2-VL and Qwen2.5-VL: Qwen2's layers, with rotary positions in three directions.

Published configurations keep its keys beside `vision_config`; newer ones under `text_config`.

Sources: arXiv:2409.12191, arXiv:2502.13923; the class Qwen2_5_VLTextModel of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.architectures._windows import late_windows
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen2_vl", "qwen2_vl_text", "qwen2_5_vl", "qwen2_5_vl_text")
ARCHITECTURES = ("Qwen2VLForConditionalGeneration", "Qwen2_5_VLForConditionalGeneration")


def read(keys: Keys) -> ModelConfig:
    """The language model's part of a Qwen2-VL-class configuration."""
    hidden_size = keys.size("hidden_size", default=8192)
    mixer = head_attention(keys, hidden_size, heads=64, kv_heads=8, bias=True, o_bias=False)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=29568), gated=True)
    layers = [
        Layer(mixer=one, feed_forward=part, norms=rms_pair(hidden_size))
        for one in late_windows(keys, mixer, layer_count(keys, default=80), first=80)
    ]
    return decoder(keys, hidden_size, layers, vocab_size=152064, tied=False)
