"""The MPT family: ALiBi, norms without biases, no biases at all by default, tied.

Sources: the model cards of mosaicml; the class MptForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import layer_count
from mansard.architectures._plain import plain_attention
from mansard.architectures._reading import decoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import FeedForward, Layer, ModelConfig, Norm

MODEL_TYPES = ("mpt",)
ARCHITECTURES = ("MptForCausalLM", "MPTForCausalLM")


def read(keys: Keys) -> ModelConfig:
    """An MPT-class configuration; the classes have no biases whatever `no_bias` says."""
    hidden_size = keys.size("d_model", "hidden_size", default=2048)
    attention = keys.nested("attn_config") if keys.has("attn_config") else keys
    heads = keys.size("n_heads", "num_attention_heads", default=16)
    kv_heads = attention.optional_size("kv_n_heads") or heads
    mixer = plain_attention(keys, hidden_size, heads, kv_heads=kv_heads)
    ratio = keys.optional_size("expansion_ratio", maximum=64) or 4
    part = FeedForward(intermediate_size=ratio * hidden_size, gated=False, activation="gelu")
    norm = Norm(kind="layer-no-bias", size=hidden_size)
    layer = Layer(mixer=mixer, feed_forward=part, norms=(norm, norm))
    layers = (layer,) * layer_count(keys, "n_layers", "num_hidden_layers", default=24)
    return decoder(keys, hidden_size, layers, vocab_size=50368, tied=True, final_norm=norm)
