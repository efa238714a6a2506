"""The Mamba-2 family: every layer is a Mamba-2 mixer behind a norm, with no attention and no feed-forward part.

`num_heads` · `head_dim` channels, which must be `expand` · `hidden_size`; `n_groups` groups of heads share B and C.
`use_bias` is on the mixer's two projections, `use_conv_bias` on its convolution. Nothing grows with the context.

Sources: arXiv:2405.21060; the class Mamba2ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.architectures._state_space import PURE_MODULES, expanded, mamba2, note_chunks, scanned
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("mamba2",)
ARCHITECTURES = ("Mamba2ForCausalLM",)
MODULES = PURE_MODULES


def read(keys: Keys) -> ModelConfig:
    """A Mamba-2-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    heads, head_dim = keys.size("num_heads", default=128), keys.size("head_dim", default=64)
    inner = expanded(keys, "expand", hidden_size)
    problem = f"times hidden_size {hidden_size} must be num_heads · head_dim, {heads * head_dim}"
    keys.require(heads * head_dim == inner, "expand", problem, keys.raw("expand"))
    groups = keys.size("n_groups", default=8)
    keys.require(heads % groups == 0, "n_groups", f"must divide num_heads, {heads}", groups)
    bias = quiet_flag(keys, "use_bias", default=False)
    mixer = mamba2(
        hidden_size,
        heads=heads,
        head_dim=head_dim,
        groups=groups,
        state=keys.size("state_size", default=128),
        kernel=keys.size("conv_kernel", default=4),
        conv_bias=quiet_flag(keys, "use_conv_bias", default=True),
        in_bias=bias,
        out_bias=bias,
    )
    note_chunks(keys, mixer, keys.size("chunk_size", default=256))
    layer = Layer(mixer=mixer, feed_forward=None, norms=(Norm(kind="rms", size=hidden_size),))
    layers = (layer,) * layer_count(keys, default=64)
    return scanned(keys, decoder(keys, hidden_size, layers, vocab_size=32768, tied=False))
