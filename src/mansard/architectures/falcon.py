"""The Falcon family: attention and feed-forward part in parallel, one or few key/value heads, no biases, tied.

The first generation has one key/value head (`multi_query`) and one norm per layer; the second
(`new_decoder_architecture`) has `num_kv_heads` and two norms in parallel; RefinedWeb models have ALiBi. `n_embed`
is an older name of `hidden_size`, which wins where both are there.

Sources: arXiv:2311.16867; the class FalconForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._plain import layer_norm, plain_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("falcon", "RefinedWeb", "RefinedWebModel")
ARCHITECTURES = ("FalconForCausalLM", "RWForCausalLM")
MODULES = {
    "layer": "transformer.h.{layer}", "embedding": "transformer.word_embeddings",
    "mixer.q_proj": "self_attention.query_key_value", "mixer.k_proj": "self_attention.query_key_value",
    "mixer.v_proj": "self_attention.query_key_value", "mixer.o_proj": "self_attention.dense",
    "feed_forward.up_proj": "mlp.dense_h_to_4h", "feed_forward.down_proj": "mlp.dense_4h_to_h",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Falcon-class configuration."""
    hidden_size = keys.size("n_embed") if keys.has("n_embed") else keys.size("hidden_size", default=4544)
    heads = keys.size("num_attention_heads", "n_head", default=71)
    bias = quiet_flag(keys, "bias", default=False)
    # RefinedWeb, the first name of Falcon-40B, has no flag: its own number of key/value heads says it.
    second = quiet_flag(keys, "new_decoder_architecture", default=keys.has("n_head_kv"))
    kv_heads = keys.optional_size("num_kv_heads", "n_head_kv") or heads
    if not second:
        kv_heads = 1 if quiet_flag(keys, "multi_query", default=True) else heads
    whole = 0 if quiet_flag(keys, "alibi", default=False) else hidden_size
    mixer = plain_attention(keys, hidden_size, heads, kv_heads=kv_heads, bias=bias, rotary_dim=whole)
    width = keys.optional_size("ffn_hidden_size") or 4 * hidden_size
    part = FeedForward(intermediate_size=width, gated=False, activation="gelu", bias=bias)
    parallel = second or quiet_flag(keys, "parallel_attn", default=True)
    norms = (layer_norm(hidden_size),) * _norms(keys, second=second, parallel=parallel)
    layer = Layer(mixer=mixer, feed_forward=part, norms=norms, parallel=parallel)
    layers = (layer,) * layer_count(keys, "num_hidden_layers", "n_layer", default=32)
    return decoder(keys, hidden_size, layers, vocab_size=65024, tied=True, final_norm=layer_norm(hidden_size))


def _norms(keys: Keys, *, second: bool, parallel: bool) -> int:
    stated = keys.optional_size("num_ln_in_parallel_attn", maximum=2)
    if not parallel:
        return 2
    return stated or (2 if second else 1)
