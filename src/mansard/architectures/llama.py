"""The Llama family: pre-normed decoder layers with grouped-query attention and a gated feed-forward part.

Llama 2 and 3 and what shares their class. RMS norms before attention and before the feed-forward part, rotary positions
on the whole head, SwiGLU, untied head by default. Grouped-query where `num_key_value_heads` < `num_attention_heads`.
Yi, Aquila and XVERSE have Llama's layers under names of their own, whose defaults are not Llama's: their sizes are
required.

Sources: arXiv:2302.13971, arXiv:2307.09288, arXiv:2407.21783; the class LlamaForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("llama", "Yi", "aquila", "xverse")
ARCHITECTURES = (
    "LlamaForCausalLM", "LLaMAForCausalLM", "YiForCausalLM", "AquilaForCausalLM", "XverseForCausalLM",
)  # fmt: skip
_SIZES = ("hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "vocab_size")


def read(keys: Keys) -> ModelConfig:
    """A Llama-class configuration."""
    if keys.raw("model_type") in MODEL_TYPES[1:]:
        for name in _SIZES:
            keys.require(keys.has(name), name, "is required but absent")
        keys.require(not keys.has("num_experts"), "num_experts", "is of a mixture of experts, which is not known")
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=bias)
    feed_forward = FeedForward(
        intermediate_size=keys.size("intermediate_size", default=11008),
        gated=True,
        bias=quiet_flag(keys, "mlp_bias", default=False),
    )
    layer = Layer(mixer=mixer, feed_forward=feed_forward, norms=rms_pair(hidden_size))
    layers = (layer,) * layer_count(keys, default=32)
    return decoder(keys, hidden_size, layers, vocab_size=32000, tied=False)
