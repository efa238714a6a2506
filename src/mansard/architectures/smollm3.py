"""The SmolLM3 family: Llama's layers, every fourth of them without rotary positions, tied.

`no_rope_layers` lists a 1 for each rotated layer. A window only with `use_sliding_window`, and then on the layers that
are not rotated, or as `layer_types` lists.

Sources: the model card of HuggingFaceTB/SmolLM3-3B; the class SmolLM3ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.architectures._windows import windowed_layers
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("smollm3",)
ARCHITECTURES = ("SmolLM3ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A SmolLM3-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=16, kv_heads=4, bias=bias)
    wide = quiet_flag(keys, "mlp_bias", default=False)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=11008), gated=True, bias=wide)
    count = layer_count(keys, default=36)
    interval = keys.optional_size("no_rope_layer_interval") or 4
    rotated = tuple(int((index + 1) % interval != 0) for index in range(count))
    if keys.has("no_rope_layers"):
        rotated = keys.sizes("no_rope_layers", length=count, minimum=0, maximum=1)
    window = keys.optional_size("sliding_window") if quiet_flag(keys, "use_sliding_window", default=False) else None
    kinds = windowed_layers(keys, count, otherwise=lambda index: not rotated[index])
    mixers = [mixer._replace(window=window) if kind else mixer for kind in kinds]
    layers = [
        Layer(mixer=one if turns else one._replace(rotary_dim=0), feed_forward=part, norms=rms_pair(hidden_size))
        for one, turns in zip(mixers, rotated, strict=False)
    ]
    return decoder(keys, hidden_size, layers, vocab_size=128256, tied=True)
