"""The GPT-NeoX family (Pythia, GPT-NeoX-20B): layer norms, biases, a part of each head rotated, untied.

Attention and the feed-forward part run in parallel by default, each behind a layer norm of its own. The rotated part is
`rotary_pct`, unless the newer `rope_parameters` state a `partial_rotary_factor`.

Sources: arXiv:2204.06745, arXiv:2304.01373; the class GPTNeoXForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._plain import layer_norm, layer_pair, plain_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("gpt_neox",)
ARCHITECTURES = ("GPTNeoXForCausalLM",)
MODULES = {
    "layer": "gpt_neox.layers.{layer}", "head": "embed_out", "embedding": "gpt_neox.embed_in",
    "mixer.q_proj": "attention.query_key_value", "mixer.k_proj": "attention.query_key_value",
    "mixer.v_proj": "attention.query_key_value", "mixer.o_proj": "attention.dense",
    "feed_forward.up_proj": "mlp.dense_h_to_4h", "feed_forward.down_proj": "mlp.dense_4h_to_h",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A GPT-NeoX-class configuration."""
    hidden_size = keys.size("hidden_size", default=6144)
    heads = keys.size("num_attention_heads", default=64)
    rotated = int(hidden_size // heads * _share(keys))
    bias = quiet_flag(keys, "attention_bias", default=True)
    mixer = plain_attention(keys, hidden_size, heads, bias=bias, rotary_dim=rotated)
    width = keys.size("intermediate_size", default=24576)
    part = FeedForward(intermediate_size=width, gated=False, activation="gelu", bias=True)
    parallel = quiet_flag(keys, "use_parallel_residual", default=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=layer_pair(hidden_size), parallel=parallel)
    layers = (layer,) * layer_count(keys, default=44)
    return decoder(keys, hidden_size, layers, vocab_size=50432, tied=False, final_norm=layer_norm(hidden_size))


def _share(keys: Keys) -> float:
    nested = keys.nested("rope_parameters")
    for place, name in ((nested, "partial_rotary_factor"), (keys, "rotary_pct")):
        if place.has(name):
            return place.number(name, minimum=0.0, maximum=1.0)
    return 0.25
