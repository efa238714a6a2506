"""The BERT family: text encoders with layer norms after each part, learned positions, token types, biases everywhere.

What stands behind the layers is the class's: BertModel pools the first token (a product of the hidden size),
BertForMaskedLM has no pooler and a head over the vocabulary tied to the embedding, classifiers have the pooler and
a product to their labels. Embedding models (BGE, E5, GTE, MiniLM, Arctic) are BertModel.

Sources: arXiv:1810.04805; the class BertModel of Hugging Face transformers.
"""

from mansard.architectures._bert import text_encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("bert",)
_CLASSES = {
    "BertModel": ("pooler",),
    "BertForMaskedLM": ("masked",),
    "BertLMHeadModel": ("masked",),
    "BertForPreTraining": ("pooler", "masked", "pair"),
    "BertForNextSentencePrediction": ("pooler", "pair"),
    "BertForSequenceClassification": ("pooler", "labels"),
    "BertForMultipleChoice": ("pooler", "choice"),
    "BertForTokenClassification": ("token labels",),
    "BertForQuestionAnswering": ("token labels",),
}
ARCHITECTURES = tuple(_CLASSES)


def read(keys: Keys) -> ModelConfig:
    """A BERT-class configuration."""
    return text_encoder(keys, _CLASSES, "BertModel", vocab_size=30522)
