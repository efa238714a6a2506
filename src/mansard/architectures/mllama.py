"""The language model of Llama 3.2 Vision: Llama's layers, and between them some that attend to an image only.

The layers of `cross_attention_layers` have no attention to the text: queries attend to the keys and values of the
image's features, RMS norms on each head of both, and a gate stands on the attention and one on the feed-forward part.
The embedding has 8 rows more than the head.

Sources: arXiv:2407.21783, 7; the class MllamaForCausalLM of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import CrossAttention
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("mllama", "mllama_text_model")
ARCHITECTURES = ("MllamaForConditionalGeneration", "MllamaForCausalLM")
MODULES = {
    f"mixer.cross_{name}_proj": f"cross_attn.{name}_proj" for name in ("q", "k", "v", "o")
}  # fmt: skip
_EXTRA_ROWS = 8
_CROSSED = (3, 8, 13, 18, 23, 28, 33, 38)


def read(keys: Keys) -> ModelConfig:
    """The language model's part of an Mllama-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=8)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=14336), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    across = CrossAttention(mixer.heads, mixer.kv_heads, mixer.head_dim, q_norm=q_norm, k_norm=k_norm)
    crossed = layer._replace(mixer=None, beside=(across,), vectors=2)
    count = layer_count(keys, default=40)
    named = keys.sizes("cross_attention_layers", default=_CROSSED, minimum=0, maximum=MOST_LAYERS)
    keys.require(all(one < count for one in named), "cross_attention_layers", f"must be below {count}", named)
    layers = [crossed if index in named else layer for index in range(count)]
    model = decoder(keys, hidden_size, layers, vocab_size=128256, tied=False)
    if model.embedding is None or model.head is None:
        return model
    keys.require(
        not model.head.tied, "tie_word_embeddings", "cannot be true: the embedding has 8 rows more than the head"
    )
    rows = model.embedding.vocab_size + _EXTRA_ROWS
    return replace(model, embedding=model.embedding._replace(vocab_size=rows))
