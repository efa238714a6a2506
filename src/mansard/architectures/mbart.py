"""The mBART family: BART with norms before each part, and a last one behind each stack.

Sources: arXiv:2001.08210, arXiv:2008.00401; the class MBartForConditionalGeneration of Hugging Face transformers.
"""

from mansard.architectures._bart import Variant, text_to_text
from mansard.architectures._seq2seq import named
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("mbart",)
ARCHITECTURES = named(("MBart",), ("ForConditionalGeneration", "Model", "ForSequenceClassification"))


def read(keys: Keys) -> ModelConfig:
    """An mBART-class configuration."""
    return text_to_text(keys, ARCHITECTURES, Variant(embedding_norm=True, last_norm=True), vocab_size=50265)
