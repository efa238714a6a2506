"""The BART family: encoder-decoders of text with learned positions behind two reserved ones, norms after each part.

Encoder, decoder and head share one table of tokens. A norm follows the embedding of each stack, and none the stacks.
Biases on the logits are a buffer and no parameter. BartForSequenceClassification, which many use to classify without
examples, has two products on one token of the decoder instead of the head.

Sources: arXiv:1910.13461; the class BartForConditionalGeneration of Hugging Face transformers.
"""

from mansard.architectures._bart import Variant, text_to_text
from mansard.architectures._seq2seq import named
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("bart",)
ARCHITECTURES = named(("Bart",), ("ForConditionalGeneration", "Model", "ForSequenceClassification"))


def read(keys: Keys) -> ModelConfig:
    """A BART-class configuration."""
    return text_to_text(keys, ARCHITECTURES, Variant(embedding_norm=True, last_norm=False, labels=3), vocab_size=50265)
