"""The GPT-BigCode family (SantaCoder, StarCoder): GPT-2 with one key/value head for all queries.

Sources: arXiv:2301.03988, arXiv:2305.06161; the class GPTBigCodeForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._plain import layer_norm, layer_pair, plain_attention, with_positions
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("gpt_bigcode",)
ARCHITECTURES = ("GPTBigCodeForCausalLM",)
MODULES = {
    "layer": "transformer.h.{layer}", "embedding": "transformer.wte", "mixer.q_proj": "attn.c_attn",
    "mixer.k_proj": "attn.c_attn", "mixer.v_proj": "attn.c_attn", "mixer.o_proj": "attn.c_proj",
    "feed_forward.up_proj": "mlp.c_fc", "feed_forward.down_proj": "mlp.c_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A GPT-BigCode-class configuration."""
    hidden_size = keys.size("n_embd", "hidden_size", default=768)
    heads = keys.size("n_head", "num_attention_heads", default=12)
    kv_heads = 1 if quiet_flag(keys, "multi_query", default=True) else heads
    mixer = plain_attention(keys, hidden_size, heads, kv_heads=kv_heads, bias=True)
    width = keys.optional_size("n_inner") or 4 * hidden_size
    part = FeedForward(intermediate_size=width, gated=False, activation="gelu", bias=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=layer_pair(hidden_size))
    layers = (layer,) * layer_count(keys, "n_layer", "num_hidden_layers", default=12)
    model = decoder(keys, hidden_size, layers, vocab_size=50257, tied=True, final_norm=layer_norm(hidden_size))
    return with_positions(model, keys.size("n_positions", "max_position_embeddings", default=1024))
