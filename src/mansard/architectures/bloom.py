"""The BLOOM family: positions by a bias on the scores (ALiBi), a layer norm on the embedding, biases, tied.

`n_embed` is an older name of `hidden_size`, which wins where both are there.

Sources: arXiv:2211.05100; the class BloomForCausalLM of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import layer_norm, layer_pair, plain_attention
from mansard.architectures._reading import decoder, layer_count
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("bloom",)
ARCHITECTURES = ("BloomForCausalLM",)
MODULES = {
    "layer": "transformer.h.{layer}", "embedding": "transformer.word_embeddings",
    "mixer.q_proj": "self_attention.query_key_value", "mixer.k_proj": "self_attention.query_key_value",
    "mixer.v_proj": "self_attention.query_key_value", "mixer.o_proj": "self_attention.dense",
    "feed_forward.up_proj": "mlp.dense_h_to_4h", "feed_forward.down_proj": "mlp.dense_4h_to_h",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A BLOOM-class configuration."""
    hidden_size = keys.size("n_embed") if keys.has("n_embed") else keys.size("hidden_size", default=64)
    heads = keys.size("n_head", "num_attention_heads", default=8)
    mixer = plain_attention(keys, hidden_size, heads, bias=True)
    part = FeedForward(intermediate_size=4 * hidden_size, gated=False, activation="gelu", bias=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=layer_pair(hidden_size))
    layers = (layer,) * layer_count(keys, "n_layer", "num_hidden_layers", default=2)
    model = decoder(keys, hidden_size, layers, vocab_size=250880, tied=True, final_norm=layer_norm(hidden_size))
    if model.embedding is None:
        return model
    return replace(model, embedding=model.embedding._replace(norm=layer_norm(hidden_size)))
