"""The Pegasus family: BART's layers pre-normed, with sinusoids for positions, which are stored as tables all the same.

Sources: arXiv:1912.08777; the class PegasusForConditionalGeneration of Hugging Face transformers.
"""

from mansard.architectures._bart import Variant, text_to_text
from mansard.architectures._seq2seq import named
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("pegasus",)
ARCHITECTURES = named(("Pegasus",), ("ForConditionalGeneration", "Model"))


def read(keys: Keys) -> ModelConfig:
    """A Pegasus-class configuration."""
    variant = Variant(embedding_norm=False, last_norm=True, reserved=0)
    return text_to_text(keys, ARCHITECTURES, variant, vocab_size=50265)
