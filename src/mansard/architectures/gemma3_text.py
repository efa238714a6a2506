"""The Gemma 3 family's language model: five windowed layers to a whole one, norms on every head and around each part.

Queries and keys have an RMS norm per head; there are norms before and after attention and the feed-forward part. All
layers but every sixth see `sliding_window` keys, unless `layer_types` or `sliding_window_pattern` says otherwise.
Published configurations may name six keys only and leave the rest to the class.

Sources: arXiv:2503.19786; the class Gemma3ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import require_nested
from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.architectures._windows import patterned_windows
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("gemma3_text", "gemma3")
ARCHITECTURES = ("Gemma3ForCausalLM", "Gemma3ForConditionalGeneration")


def read(keys: Keys) -> ModelConfig:
    """A Gemma-3-class configuration of the language model."""
    require_nested(keys, "gemma3")
    hidden_size = keys.size("hidden_size", default=2304)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=8, kv_heads=4, head_dim=256, bias=bias)
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    mixer = mixer._replace(q_norm=q_norm, k_norm=k_norm, softcap=keys.has("attn_logit_softcapping"))
    width = keys.size("intermediate_size", default=9216)
    part = FeedForward(intermediate_size=width, gated=True, activation="gelu")
    count = layer_count(keys, default=26)
    layers = [
        Layer(mixer=one, feed_forward=part, norms=rms_pair(hidden_size) * 2)
        for one in patterned_windows(keys, mixer, count, window=4096, period=6)
    ]
    return decoder(keys, hidden_size, layers, vocab_size=262208, tied=True)
