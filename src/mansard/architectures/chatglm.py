"""The ChatGLM family (2 and 3): GLM's first grouped-query models, by keys of their own.

`multi_query_group_num` key/value heads where `multi_query_attention`, `ffn_hidden_size`, `kv_channels` for the head,
`padded_vocab_size`; half of each head is rotated; biases on queries, keys and values (`add_qkv_bias`).

Sources: arXiv:2406.12793; the published remote code of THUDM/chatglm3-6b.
"""

from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("chatglm",)
ARCHITECTURES = ("ChatGLMModel", "ChatGLMForConditionalGeneration")
MODULES = {
    "layer": "transformer.encoder.layers.{layer}", "head": "transformer.output_layer",
    "embedding": "transformer.embedding.word_embeddings", "mixer.q_proj": "self_attention.query_key_value",
    "mixer.k_proj": "self_attention.query_key_value", "mixer.v_proj": "self_attention.query_key_value",
    "mixer.o_proj": "self_attention.dense", "feed_forward.gate_proj": "mlp.dense_h_to_4h",
    "feed_forward.up_proj": "mlp.dense_h_to_4h", "feed_forward.down_proj": "mlp.dense_4h_to_h",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A ChatGLM-class configuration."""
    for name in ("inner_hidden_size", "position_encoding_2d"):
        keys.require(not keys.has(name), name, "is a key of the first ChatGLM, which is another model", keys.raw(name))
    hidden_size = keys.size("hidden_size", default=4096)
    heads = keys.size("num_attention_heads", default=32)
    grouped = quiet_flag(keys, "multi_query_attention", default=False)
    head_dim = keys.size("kv_channels", default=128)
    bias = quiet_flag(keys, "add_bias_linear", default=False)
    kv_heads = keys.size("multi_query_group_num", default=1) if grouped else heads
    keys.require(heads % kv_heads == 0, "multi_query_group_num", f"must divide num_attention_heads {heads}", kv_heads)
    mixer = Attention(
        heads=heads,
        kv_heads=kv_heads,
        head_dim=head_dim,
        qkv_bias=bias or quiet_flag(keys, "add_qkv_bias", default=False),
        o_bias=bias,
        rotary_dim=head_dim // 2,
    )
    part = FeedForward(intermediate_size=keys.size("ffn_hidden_size", default=13696), gated=True, bias=bias)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    layers = (layer,) * layer_count(keys, "num_layers", "num_hidden_layers", default=28)
    vocabulary = keys.size("padded_vocab_size", "vocab_size", default=65024)
    usual = {"vocab_size": vocabulary, "max_position_embeddings": keys.raw("seq_length", "max_position_embeddings")}
    outer = keys.over({**keys.document, **usual})
    return decoder(outer, hidden_size, layers, vocab_size=vocabulary, tied=False)
