"""The RoBERTa family, XLM-RoBERTa and CamemBERT: BERT's stack with one token type, and positions behind two reserved.

A table of 514 positions is for 512 tokens. Classifiers have no pooler but a product of the hidden size before that to
the labels. Multilingual E5, BGE-M3 and rerankers on XLM-RoBERTa are of this family.

Sources: arXiv:1907.11692, arXiv:1911.02116, arXiv:1911.03894; the class RobertaModel of Hugging Face transformers.
"""

from mansard.architectures._bert import text_encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("roberta", "xlm-roberta", "camembert")
_PREFIXES = {"roberta": "Roberta", "xlm-roberta": "XLMRoberta", "camembert": "Camembert"}
_PARTS = {
    "Model": ("pooler",),
    "ForMaskedLM": ("masked",),
    "ForCausalLM": ("masked",),
    "ForSequenceClassification": ("dense", "labels"),
    "ForMultipleChoice": ("pooler", "choice"),
    "ForTokenClassification": ("token labels",),
    "ForQuestionAnswering": ("token labels",),
}
_CLASSES = {f"{prefix}{name}": parts for prefix in _PREFIXES.values() for name, parts in _PARTS.items()}
ARCHITECTURES = tuple(_CLASSES)
_RESERVED = 2


def read(keys: Keys) -> ModelConfig:
    """A RoBERTa-class configuration."""
    prefix = _PREFIXES.get(str(keys.raw("model_type")), "Roberta")
    words = 50265 if prefix == "Roberta" else 30522
    return text_encoder(keys, _CLASSES, f"{prefix}Model", vocab_size=words, reserved=_RESERVED)
