"""The Mamba family: every layer is a Mamba-1 mixer behind a norm, with no attention and no feed-forward part.

`intermediate_size` channels where it is stated, `expand` · `hidden_size` otherwise; `time_step_rank` "auto" is a
sixteenth of the hidden size, rounded up. `use_bias` is on the projections of the layer, `use_conv_bias` on the
convolution. The class ties its head by default. Nothing grows with the context.

Sources: arXiv:2312.00752; the class MambaForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._state_space import PURE_MODULES, mamba1_decoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("mamba",)
ARCHITECTURES = ("MambaForCausalLM",)
MODULES = PURE_MODULES


def read(keys: Keys) -> ModelConfig:
    """A Mamba-class configuration."""
    return mamba1_decoder(keys, normed=False)
