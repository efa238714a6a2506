"""The Gemma 2 family: norms before and after each part, soft caps on scores and logits, every other layer windowed.

Layers with an even index (from 0) see `sliding_window` keys, 4096 by default; the others see all.

Sources: arXiv:2408.00118; the class Gemma2ForCausalLM of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, is_null, layer_count, quiet_flag, rms_pair
from mansard.architectures._windows import patterned_windows
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("gemma2",)
ARCHITECTURES = ("Gemma2ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Gemma-2-class configuration."""
    hidden_size = keys.size("hidden_size", default=2304)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=8, kv_heads=4, head_dim=256, bias=bias)
    mixer = mixer._replace(softcap=not is_null(keys, "attn_logit_softcapping"))
    width = keys.size("intermediate_size", default=9216)
    part = FeedForward(intermediate_size=width, gated=True, activation="gelu")
    count = layer_count(keys, default=26)
    layers = [
        Layer(mixer=one, feed_forward=part, norms=rms_pair(hidden_size) * 2)
        for one in patterned_windows(keys, mixer, count, window=4096, period=2, stated=False)
    ]
    model = decoder(keys, hidden_size, layers, vocab_size=256000, tied=True)
    capped = not is_null(keys, "final_logit_softcapping")
    return replace(model, head=model.head._replace(softcap=capped)) if model.head else model
