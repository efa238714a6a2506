"""The M2M-100 family and NLLB: BART's layers pre-normed, with sinusoids that are worked out and stored nowhere.

Sources: arXiv:2010.11125, arXiv:2207.04672; the class M2M100ForConditionalGeneration of Hugging Face transformers.
"""

from mansard.architectures._bart import Variant, text_to_text
from mansard.architectures._seq2seq import named
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("m2m_100",)
ARCHITECTURES = named(("M2M100",), ("ForConditionalGeneration", "Model"))


def read(keys: Keys) -> ModelConfig:
    """An M2M-100-class configuration."""
    variant = Variant(embedding_norm=False, last_norm=True, has_tables=False, activation="relu")
    return text_to_text(keys, ARCHITECTURES, variant, vocab_size=128112)
