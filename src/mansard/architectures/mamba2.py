"""The Mamba-2 family: every layer is a state-space mixer alone, without attention, feed-forward part or cache.

The input is projected to the gate, to what the convolution reads (values and, by n_groups, B and C) and to a time step
for each head. A causal convolution spans conv_kernel tokens; each head then decays its state [head_dim, state_size],
adds dt·x·B to it, and reads it with C. The output passes a gated RMS norm and is projected back.

Per token and layer, with H heads of P, N = state_size and C convolved channels: (5·N + 8)·H·P + 6·H + 4·C vector FLOPs.
That is a decay, the product with B, its addition, the product with C and its sum for each of the H·P·N elements; dt·x,
the skip D·x and the gate's SiLU with its product for each of H·P (8); softplus and decay of each head's time step (6);
the convolution's SiLU (4). The class runs prompts in chunks of chunk_size as matrix products, with more work for the
same result; that is an algorithm of its own and not counted. The state is kept in fp32.

Sources: arXiv:2405.21060; the class Mamba2ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.mixers import Recurrence, ShortConvolution
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("mamba2",)
ARCHITECTURES = ("Mamba2ForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A Mamba-2-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    layer = Layer(mixer=_mixer(keys, hidden_size), feed_forward=None, norms=(Norm(kind="rms", size=hidden_size),))
    return decoder(keys, hidden_size, (layer,) * layer_count(keys, default=64), vocab_size=32768, tied=False)


def _mixer(keys: Keys, hidden_size: int) -> Recurrence:
    heads, size = keys.size("num_heads", default=128), keys.size("head_dim", default=64)
    state, groups = keys.size("state_size", default=128), keys.size("n_groups", default=8)
    bias = quiet_flag(keys, "use_bias", default=False)
    width = heads * size
    stated = int(keys.number("expand", default=2.0, minimum=0.0, maximum=1024.0) * hidden_size)
    keys.require(stated == width, "expand", f"times hidden_size {hidden_size} must be num_heads · head_dim", stated)
    keys.require(heads % groups == 0, "n_groups", f"must divide num_heads {heads}", groups)
    channels = width + 2 * groups * state
    return Recurrence(
        kind="mamba2",
        projections=(Matrix("in_proj", hidden_size, width + channels + heads, bias),),
        out=(Matrix("out_proj", width, hidden_size, bias),),
        state=width * state,
        scan_flops=(5 * state + 8) * width + 6 * heads + 4 * channels,
        scan_formula="((5·N + 8)·H·P + 6·H + 4·C)",
        symbols=(
            ("H", heads, "heads"),
            ("P", size, "size of a head"),
            ("N", state, "state of each element of a head"),
            ("C", channels, "channels that are convolved"),
        ),
        convolution=ShortConvolution(
            channels=channels,
            kernel=keys.size("conv_kernel", default=4),
            bias=quiet_flag(keys, "use_conv_bias", default=True),
        ),
        vectors=3 * heads,  # the time steps' bias, the decays, the skips
        norms=(Norm(kind="rms", size=width),),
    )
