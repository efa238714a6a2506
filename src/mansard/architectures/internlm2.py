"""The InternLM 2 family: Llama's layers with one fused projection of queries, keys and values, and `bias` on attention.

`bias` is true where it is absent; the published models switch it off. The feed-forward part has none.

Sources: arXiv:2403.17297; the published remote code of internlm/internlm2-7b.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("internlm2",)
ARCHITECTURES = ("InternLM2ForCausalLM",)
MODULES = {
    "head": "output", "embedding": "model.tok_embeddings", "mixer.q_proj": "attention.wqkv",
    "mixer.k_proj": "attention.wqkv", "mixer.v_proj": "attention.wqkv", "mixer.o_proj": "attention.wo",
    "feed_forward.gate_proj": "feed_forward.w1", "feed_forward.up_proj": "feed_forward.w3",
    "feed_forward.down_proj": "feed_forward.w2",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """An InternLM 2 configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "bias", default=True)
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=None, bias=bias)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=11008), gated=True)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=32), vocab_size=103168, tied=False)
