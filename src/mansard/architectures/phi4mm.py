"""The language model of Phi-4-multimodal: Phi-3's layers; its low-rank matrices stand with what they serve.

Sources: arXiv:2503.01743; the class Phi4MultimodalForCausalLM of Hugging Face transformers; the published
Phi4MMForCausalLM of Microsoft.
"""

from mansard.architectures import phi3
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("phi4mm", "phi4_multimodal")
ARCHITECTURES = ("Phi4MMForCausalLM", "Phi4MultimodalForCausalLM")
MODULES = phi3.MODULES


def read(keys: Keys) -> ModelConfig:
    """The language model's part of a Phi-4-multimodal configuration; what differs from Phi-3's defaults is required."""
    for name in ("vocab_size", "num_attention_heads", "num_key_value_heads"):
        keys.require(keys.has(name), name, "is required but absent")
    return phi3.read(keys)
