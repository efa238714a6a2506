"""The Bamba family: Mamba-2 layers, and attention in those of `attn_layer_indices`; each with a gated part.

None are listed by default. Half of each head is rotated, whatever the file says.

Sources: the class BambaForCausalLM of Hugging Face transformers; the model card of ibm-ai-platform/Bamba-9B.
"""

from mansard.architectures._experts import gated, stack
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.architectures._state_space import HYBRID_MODULES, mamba2_part, scanned
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Mixer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("bamba",)
ARCHITECTURES = ("BambaForCausalLM",)
MODULES = HYBRID_MODULES | {
    f"feed_forward.{name}": f"feed_forward.{name}" for name in ("gate_proj", "up_proj", "down_proj")
}


def read(keys: Keys) -> ModelConfig:
    """A Bamba-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    attention = head_attention(keys, hidden_size, heads=32, kv_heads=8, bias=bias, rotary=0.5, floored=True)
    mixer = mamba2_part(keys, hidden_size)
    count = layer_count(keys, default=32)
    listed = "attn_layer_indices"
    whole = frozenset(keys.sizes(listed, minimum=0, maximum=count - 1) if keys.has(listed) else ())

    def kind(index: int) -> Mixer:
        return attention if index in whole else mixer

    width, mlp_bias = keys.size("intermediate_size", default=14336), quiet_flag(keys, "mlp_bias", default=False)
    layers = stack(count, kind, rms_pair(hidden_size), gated(width, bias=mlp_bias))
    return scanned(keys, decoder(keys, hidden_size, layers, vocab_size=128000, tied=False))
