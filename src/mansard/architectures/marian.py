"""The Marian family of translators: BART's layers with sinusoids, stored as tables, and no norms outside of the layers.

With `share_encoder_decoder_embeddings` false each side has a table of its own vocabulary, and the head is tied to the
decoder's.

Sources: arXiv:1804.00344; the class MarianMTModel of Hugging Face transformers.
"""

from mansard.architectures._bart import Variant, text_to_text
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("marian",)
ARCHITECTURES = ("MarianMTModel", "MarianModel")


def read(keys: Keys) -> ModelConfig:
    """A Marian-class configuration."""
    variant = Variant(embedding_norm=False, last_norm=False, reserved=0, own_tables=True)
    return text_to_text(keys, ARCHITECTURES, variant, vocab_size=58101)
