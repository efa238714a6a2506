"""The EXAONE 4 family: norms after each part and on every head; three windowed layers to a whole one.

All layers but every fourth (`sliding_window_pattern`, `layer_types`) see `sliding_window` keys, and only these are
rotated; a null `sliding_window` makes every layer whole and rotated.

Sources: arXiv:2507.11407; the class Exaone4ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, is_null, layer_count, rms_pair
from mansard.architectures._windows import patterned_windows
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("exaone4",)
ARCHITECTURES = ("Exaone4ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """An EXAONE-4-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=32)
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=16384), gated=True)
    count = layer_count(keys, default=32)
    whole = is_null(keys, "sliding_window")
    mixers = [mixer] * count if whole else patterned_windows(keys, mixer, count, window=4096, period=4)
    layers = [
        Layer(
            mixer=one if whole or one.window else one._replace(rotary_dim=0),
            feed_forward=part,
            norms=rms_pair(hidden_size),
        )
        for one in mixers
    ]
    return decoder(keys, hidden_size, layers, vocab_size=102400, tied=False)
