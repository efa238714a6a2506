"""The Youtu-LLM family: latent attention (MLA) with dense feed-forward parts, tied.

The cache keeps kv_lora_rank + qk_rope_head_dim elements per token and layer.

Sources: arXiv:2512.24618; the class YoutuForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, latent_attention, stack
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("youtu", "youtu_llm")
ARCHITECTURES = ("YoutuForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Youtu-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    mixer = latent_attention(
        keys,
        heads=16,
        q_rank=1536,
        kv_rank=512,
        nope=128,
        rope=64,
        value=128,
        bias=quiet_flag(keys, "attention_bias", default=False),
    )
    part = gated(keys.size("intermediate_size", default=6144))
    layers = stack(layer_count(keys, default=32), mixer, rms_pair(hidden_size), part)
    return decoder(keys, hidden_size, layers, vocab_size=128256, tied=True)
