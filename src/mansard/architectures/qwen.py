"""The first Qwen family: biases on q, k and v, and an `intermediate_size` that counts gate and up together.

Each of the two has half of it. Heads have `kv_channels` elements. `no_bias`, true by default, leaves all
other matrices without.

Sources: arXiv:2309.16609; the published remote code of Qwen/Qwen-7B.
"""

from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen",)
ARCHITECTURES = ("QWenLMHeadModel",)
MODULES = {
    "layer": "transformer.h.{layer}", "embedding": "transformer.wte", "mixer.q_proj": "attn.c_attn",
    "mixer.k_proj": "attn.c_attn", "mixer.v_proj": "attn.c_attn", "mixer.o_proj": "attn.c_proj",
    "feed_forward.gate_proj": "mlp.w2", "feed_forward.up_proj": "mlp.w1", "feed_forward.down_proj": "mlp.c_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A first-generation Qwen configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    heads = keys.size("num_attention_heads", default=32)
    head_dim = keys.size("kv_channels", default=128)
    wide = not quiet_flag(keys, "no_bias", default=True)
    mixer = Attention(heads=heads, kv_heads=heads, head_dim=head_dim, qkv_bias=True, o_bias=wide, rotary_dim=head_dim)
    doubled = keys.size("intermediate_size", default=22016, minimum=2)
    part = FeedForward(intermediate_size=doubled // 2, gated=True, bias=wide)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=151936, tied=False)
