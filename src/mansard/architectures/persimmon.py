"""The Persimmon family: layer norms, on every head too, biases, a squared ReLU without a gate, half of a head rotated.

The norms of queries and keys have one weight and one bias [head_dim] for all heads, unless `qk_layernorm` is false.

Sources: the model card of adept/persimmon-8b-base; the class PersimmonForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import rotary_share
from mansard.architectures._plain import layer_norm, layer_pair, plain_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("persimmon",)
ARCHITECTURES = ("PersimmonForCausalLM",)
MODULES = {
    "mixer.q_proj": "self_attn.query_key_value", "mixer.k_proj": "self_attn.query_key_value",
    "mixer.v_proj": "self_attn.query_key_value", "mixer.o_proj": "self_attn.dense",
    "feed_forward.up_proj": "mlp.dense_h_to_4h", "feed_forward.down_proj": "mlp.dense_4h_to_h",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Persimmon-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    heads = keys.size("num_attention_heads", default=64)
    rotated = int(hidden_size // heads * rotary_share(keys, default=0.5))
    mixer = plain_attention(keys, hidden_size, heads, bias=True, rotary_dim=rotated)
    if quiet_flag(keys, "qk_layernorm", default=True):
        norm = Norm(kind="layer", size=mixer.head_dim, repeats=heads)
        mixer = mixer._replace(q_norm=norm, k_norm=norm)
    width = keys.size("intermediate_size", default=16384)
    part = FeedForward(intermediate_size=width, gated=False, activation="relu2", bias=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=layer_pair(hidden_size))
    layers = (layer,) * layer_count(keys, default=36)
    return decoder(keys, hidden_size, layers, vocab_size=262144, tied=False, final_norm=layer_norm(hidden_size))
