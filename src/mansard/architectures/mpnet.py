"""The MPNet family: BERT's stack without token types, with a table of relative positions [buckets, heads] beside it.

Positions are learned too, behind two reserved rows, as in RoBERTa. Classifiers have no pooler but a product of the
hidden size.

Sources: arXiv:2004.09297; the class MPNetModel of Hugging Face transformers.
"""

from mansard.architectures._bert import text_encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("mpnet",)
_CLASSES = {
    "MPNetModel": ("pooler",),
    "MPNetForMaskedLM": ("masked",),
    "MPNetForSequenceClassification": ("dense", "labels"),
    "MPNetForMultipleChoice": ("pooler", "choice"),
    "MPNetForTokenClassification": ("token labels",),
    "MPNetForQuestionAnswering": ("token labels",),
}
ARCHITECTURES = tuple(_CLASSES)


def read(keys: Keys) -> ModelConfig:
    """An MPNet-class configuration."""
    heads = keys.size("num_attention_heads", default=12)
    table = heads * keys.size("relative_attention_num_buckets", default=32)
    return text_encoder(
        keys, _CLASSES, "MPNetModel", vocab_size=30527, token_types=None, reserved=2, tables=table
    )  # fmt: skip
