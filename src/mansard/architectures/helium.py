"""The Helium family: Llama's layers, an output projection [hidden, hidden] without bias.

Sources: the model card of kyutai/helium-1-2b; the class HeliumForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("helium",)
ARCHITECTURES = ("HeliumForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Helium-class configuration."""
    hidden_size = keys.size("hidden_size", default=2560)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=20, kv_heads=20, head_dim=128, bias=bias, o_bias=False)
    keys.require(
        mixer.heads * mixer.head_dim == hidden_size,
        "head_dim",
        f"times num_attention_heads must be hidden_size {hidden_size}: the output projection is square",
        mixer.head_dim,
    )
    wide = quiet_flag(keys, "mlp_bias", default=False)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=7040), gated=True, bias=wide)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=24), vocab_size=48000, tied=False)
