"""The VaultGemma family: Gemma 2's layers without the norms after attention and the feed-forward part.

Sources: arXiv:2510.15001; the class VaultGemmaForCausalLM of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures import gemma2
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("vaultgemma",)
ARCHITECTURES = ("VaultGemmaForCausalLM",)


def read(keys: Keys) -> ModelConfig:
    """A VaultGemma-class configuration."""
    model = gemma2.read(keys)
    made = {id(layer): layer._replace(norms=layer.norms[:2]) for layer in model.layers}
    return replace(model, layers=tuple(made[id(layer)] for layer in model.layers))
