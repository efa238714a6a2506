"""The Mistral family: Llama's layers with eight key/value heads by default, and a sliding window on every layer.

The window is the class default of 4096 where `sliding_window` is absent, and none where it is null, as in all models
since the first. Ministral may list windowed and whole layers in `layer_types`.

Sources: arXiv:2310.06825; the classes MistralForCausalLM and MinistralForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, nullable_size, rms_pair
from mansard.architectures._windows import windowed_layers
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("mistral", "ministral")
ARCHITECTURES = ("MistralForCausalLM", "MinistralForCausalLM")


def read(keys: Keys) -> ModelConfig:
    """A Mistral-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    whole = head_attention(keys, hidden_size, heads=32, kv_heads=8)
    windowed = whole._replace(window=nullable_size(keys, "sliding_window", default=4096))
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=14336), gated=True)
    near, far = (Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size)) for mixer in (windowed, whole))
    if keys.raw("model_type") == "mistral" and keys.has("layer_types"):
        text = "layer_types is followed, as Ministral's class does; Mistral's own puts the window on every layer"
        keys.note("layer-types", text, "warning")
    kinds = windowed_layers(keys, layer_count(keys, default=32), otherwise=lambda _index: True)
    return decoder(keys, hidden_size, [near if kind else far for kind in kinds], vocab_size=32000, tied=False)
