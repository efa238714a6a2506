"""The Phi family, first and second generation: one layer norm per layer, read by both parts, and biases on everything.

Attention and the feed-forward part run in parallel; a part of each head is rotated; the head has a bias and is untied.

Sources: arXiv:2309.05463; the class PhiForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, rotary_share
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("phi",)
ARCHITECTURES = ("PhiForCausalLM",)
MODULES = {"mixer.o_proj": "self_attn.dense", "feed_forward.up_proj": "mlp.fc1", "feed_forward.down_proj": "mlp.fc2"}


def read(keys: Keys) -> ModelConfig:
    """A Phi-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    share = rotary_share(keys, default=0.5)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=True, rotary=share)
    if quiet_flag(keys, "qk_layernorm", default=False):
        norms = (Norm(kind="layer", size=mixer.head_dim, repeats=heads) for heads in (mixer.heads, mixer.kv_heads))
        mixer = mixer._replace(q_norm=next(norms), k_norm=next(norms))
    width = keys.size("intermediate_size", default=8192)
    part = FeedForward(intermediate_size=width, gated=False, activation="gelu", bias=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=(layer_norm(hidden_size),), parallel=True)
    layers = (layer,) * layer_count(keys, default=24)
    final = layer_norm(hidden_size)
    return decoder(keys, hidden_size, layers, vocab_size=51200, tied=False, final_norm=final, head_bias=True)
