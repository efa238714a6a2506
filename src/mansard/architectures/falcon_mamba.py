"""The Falcon-Mamba family: Mamba, with the time step, B and C normalised without weights.

The published 7B states an `expand` of 16 beside an `intermediate_size` of twice the hidden size, which is what the
class takes. Parameters are those of Mamba.

Sources: arXiv:2410.05355; the class FalconMambaForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._state_space import PURE_MODULES, mamba1_decoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("falcon_mamba",)
ARCHITECTURES = ("FalconMambaForCausalLM",)
MODULES = PURE_MODULES


def read(keys: Keys) -> ModelConfig:
    """A Falcon-Mamba-class configuration."""
    return mamba1_decoder(keys, normed=True)
