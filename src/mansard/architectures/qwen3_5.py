"""The Qwen3.5 family, its language model: gated delta layers, then one of gated attention, and a dense part in each.

`layer_types` says which layer is which, else every `full_attention_interval`-th has attention. Delta layers project
queries, keys and values [h, 2·G·K + H·V], gate [h, H·V], rate of writing and decay [h, H] each. Attention is
Qwen3-Next's: norms on each head, a quarter of it rotated, and a gate in its queries' projection.

Sources: arXiv:2412.06464, arXiv:2505.06708; the class Qwen3_5ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, require_nested, stack
from mansard.architectures._linear_attention import LINEAR, gated_attention, interval_kinds, split_delta
from mansard.architectures._prediction import chained
from mansard.architectures._reading import decoder, layer_count, rms_pair
from mansard.architectures._state_space import scanned
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("qwen3_5", "qwen3_5_text")
ARCHITECTURES = ("Qwen3_5ForCausalLM", "Qwen3_5ForConditionalGeneration")
MODULES = {
    "prediction": "mtp.layers.{layer}",
    "mixer.in_proj_qkv": "linear_attn.in_proj_qkv", "mixer.in_proj_z": "linear_attn.in_proj_z",
    "mixer.in_proj_b": "linear_attn.in_proj_b", "mixer.in_proj_a": "linear_attn.in_proj_a",
    "mixer.out_proj": "linear_attn.out_proj", "mixer.g_proj": "self_attn.q_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A configuration of Qwen3.5's language model."""
    require_nested(keys, "qwen3_5")
    hidden_size = keys.size("hidden_size", default=4096)
    attention = gated_attention(keys, hidden_size, kv_heads=4)
    linear = split_delta(keys, hidden_size)
    count = layer_count(keys, default=32)
    kinds = interval_kinds(keys, count)
    layers = stack(
        count,
        lambda index: linear if kinds[index] == LINEAR else attention,
        rms_pair(hidden_size),
        gated(keys.size("intermediate_size", default=12288)),
    )
    block = Layer(mixer=attention, feed_forward=layers[0].feed_forward, norms=rms_pair(hidden_size))
    model = decoder(keys, hidden_size, layers, vocab_size=248320, tied=False)
    return scanned(keys, chained(keys, model, block))
