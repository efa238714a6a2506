"""The InternLM 3 family: Llama's layers with `qkv_bias` on queries, keys and values, and `bias` on the rest.

`bias` is on the output of attention and on the feed-forward part. Both are false where absent. The library's class
spells them `attention_bias` and `mlp_bias`. Heads may have a head_dim of their own.

Sources: the model card of internlm/internlm3-8b-instruct; the published remote code beside it; the class
InternLM3ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("internlm3",)
ARCHITECTURES = ("InternLM3ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """An InternLM 3 configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = _flag(keys, "bias", "mlp_bias")
    qkv_bias = _flag(keys, "qkv_bias", "attention_bias")
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=2, head_dim=128, bias=qkv_bias, o_bias=bias)
    part = FeedForward(intermediate_size=keys.size("intermediate_size", default=10240), gated=True, bias=bias)
    layer = Layer(mixer=mixer, feed_forward=part, norms=rms_pair(hidden_size))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=48), vocab_size=128512, tied=False)


def _flag(keys: Keys, *names: str) -> bool:
    """The first of a flag's spellings that is there; false without one."""
    return keys.flag(*names) if keys.has(*names) else False
