"""The Baichuan family: Llama's layers with one fused projection; the 13B has ALiBi in the place of rotary positions.

The 13B configurations state `model_max_length` and no `max_position_embeddings`, by which they are told apart.

Sources: arXiv:2309.10305; the published remote code of baichuan-inc.
"""

from dataclasses import replace

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.inputs.keys import MOST_POSITIONS, Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("baichuan",)
ARCHITECTURES = ("BaichuanForCausalLM", "BaiChuanForCausalLM")
MODULES = {"mixer.q_proj": "self_attn.W_pack", "mixer.k_proj": "self_attn.W_pack", "mixer.v_proj": "self_attn.W_pack"}

_LAYERS_OF_13B = 40


def read(keys: Keys) -> ModelConfig:
    """A Baichuan configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None)
    count = layer_count(keys, default=32)
    positions = keys.optional_size("model_max_length", maximum=MOST_POSITIONS)
    if not keys.has("max_position_embeddings") and (positions is not None or count == _LAYERS_OF_13B):
        mixer = mixer._replace(rotary_dim=0)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=11008), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    model = decoder(keys, hidden_size, (layer,) * count, vocab_size=64000, tied=False)
    return replace(model, max_position_embeddings=model.max_position_embeddings or positions)
