"""The MiniCPM3 family: latent attention (MLA) with dense feed-forward parts.

The cache keeps kv_lora_rank + qk_rope_head_dim elements per token and layer. An absent v_head_dim is hidden_size over
heads. The scales of embedding, residuals and logits have no parameters. The head is tied.

Sources: arXiv:2404.06395; the class MiniCPM3ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, latent_attention, stack
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("minicpm3",)
ARCHITECTURES = ("MiniCPM3ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A MiniCPM3-class configuration."""
    hidden_size = keys.size("hidden_size", default=2560)
    heads = keys.optional_size("num_attention_heads") or 40
    mixer = latent_attention(
        keys,
        heads=40,
        q_rank=768,
        kv_rank=256,
        nope=64,
        rope=32,
        value=max(1, hidden_size // heads),
        bias=quiet_flag(keys, "attention_bias", default=False),
    )
    part = gated(keys.size("intermediate_size", default=6400), bias=quiet_flag(keys, "mlp_bias", default=False))
    layers = stack(layer_count(keys, default=62), mixer, rms_pair(hidden_size), part)
    return decoder(keys, hidden_size, layers, vocab_size=73448, tied=True)
