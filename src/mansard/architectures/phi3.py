"""The Phi-3 family (Phi-3, 3.5 and 4): Llama's layers with fused projections, and a window where the config gives one.

Fused qkv and gate_up count as their parts. Phi-4-mini rotates a part of each head only.

Sources: arXiv:2404.14219, arXiv:2412.08905; the class Phi3ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention, rotary_share
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("phi3",)
ARCHITECTURES = ("Phi3ForCausalLM",)
MODULES = {
    "mixer.q_proj": "self_attn.qkv_proj", "mixer.k_proj": "self_attn.qkv_proj", "mixer.v_proj": "self_attn.qkv_proj",
    "feed_forward.gate_proj": "mlp.gate_up_proj", "feed_forward.up_proj": "mlp.gate_up_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A Phi-3-class configuration."""
    hidden_size = keys.size("hidden_size", default=3072)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, rotary=rotary_share(keys, default=1.0))
    mixer = mixer._replace(window=keys.optional_size("sliding_window"))
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=8192), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=32064, tied=False)
