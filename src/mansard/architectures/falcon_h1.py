"""The Falcon-H1 family: attention and a Mamba-2 mixer side by side in every layer, then a gated part.

Both read the same normalised input and are added. The mixer has `mamba_d_ssm` channels (`mamba_expand` · `hidden_size`
where that is null), a bias `projectors_bias` on its output, and a norm only with `mamba_rms_norm`. The multipliers have
no parameters.

Sources: arXiv:2507.22448; the class FalconH1ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated
from mansard.architectures._heads import head_attention
from mansard.architectures._reading import decoder, layer_count, nullable_size, quiet_flag, rms_pair
from mansard.architectures._state_space import HYBRID_MODULES, mamba2_part, scanned
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("falcon_h1",)
ARCHITECTURES = ("FalconH1ForCausalLM",)
MODULES = HYBRID_MODULES | {
    f"feed_forward.{name}": f"feed_forward.{name}" for name in ("gate_proj", "up_proj", "down_proj")
}


def read(keys: Keys) -> ModelConfig:
    """A Falcon-H1-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    bias = quiet_flag(keys, "attention_bias", default=False)
    attention = head_attention(keys, hidden_size, heads=32, kv_heads=8, bias=bias, floored=True)
    mixer = mamba2_part(
        keys,
        hidden_size,
        channels=nullable_size(keys, "mamba_d_ssm", default=1024),
        out_bias=quiet_flag(keys, "projectors_bias", default=False),
        normed=quiet_flag(keys, "mamba_rms_norm", default=False),
    )
    width, mlp_bias = keys.size("intermediate_size", default=14336), quiet_flag(keys, "mlp_bias", default=False)
    part = gated(width, bias=mlp_bias)
    layer = Layer(mixer=attention, feed_forward=part, norms=rms_pair(hidden_size), beside=(mixer,))
    layers = (layer,) * layer_count(keys, default=32)
    return scanned(keys, decoder(keys, hidden_size, layers, vocab_size=128000, tied=False))
