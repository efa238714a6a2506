"""The GPT-J family (GPT-J, CodeGen): one layer norm per layer, whose output attention and feed-forward part both read.

Attention has no biases, the feed-forward part and the head have; `rotary_dim` elements of each head are rotated.

Sources: the model card of EleutherAI/gpt-j-6b, arXiv:2203.13474; the classes GPTJForCausalLM and CodeGenForCausalLM of
Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import layer_norm, plain_attention
from mansard.architectures._reading import decoder, layer_count, nullable_size
from mansard.inputs.keys import MOST_POSITIONS, Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("gptj", "codegen")
ARCHITECTURES = ("GPTJForCausalLM", "CodeGenForCausalLM")
MODULES = {
    "layer": "transformer.h.{layer}", "embedding": "transformer.wte", "mixer.q_proj": "attn.q_proj attn.qkv_proj",
    "mixer.k_proj": "attn.k_proj attn.qkv_proj", "mixer.v_proj": "attn.v_proj attn.qkv_proj",
    "mixer.o_proj": "attn.out_proj", "feed_forward.up_proj": "mlp.fc_in", "feed_forward.down_proj": "mlp.fc_out",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A GPT-J-class configuration."""
    hidden_size = keys.size("n_embd", "hidden_size", default=4096)
    heads = keys.size("n_head", "num_attention_heads", default=16)
    rotated = nullable_size(keys, "rotary_dim", default=64) or hidden_size
    mixer = plain_attention(keys, hidden_size, heads, rotary_dim=rotated)
    width = keys.optional_size("n_inner") or 4 * hidden_size
    part = FeedForward(intermediate_size=width, gated=False, activation="gelu", bias=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=(layer_norm(hidden_size),), parallel=True)
    layers = (layer,) * layer_count(keys, "n_layer", "num_hidden_layers", default=28)
    final = layer_norm(hidden_size)
    model = decoder(keys, hidden_size, layers, vocab_size=50400, tied=False, final_norm=final, head_bias=True)
    positions = keys.size("n_positions", "max_position_embeddings", default=2048, maximum=MOST_POSITIONS)
    return replace(model, max_position_embeddings=positions)
