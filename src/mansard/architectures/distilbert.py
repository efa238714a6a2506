"""The DistilBERT family: half of BERT's layers, no token types, no pooler, and keys of its own.

Sequence classifiers have a product of the hidden size before that to the labels. Sinusoidal positions are stored as a
table like learned ones.

Sources: arXiv:1910.01108; the class DistilBertModel of Hugging Face transformers.
"""

from mansard.architectures._bert import around
from mansard.architectures._encoders import activation, both_ways, plain_layer
from mansard.architectures._reading import layer_count
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("distilbert",)
_CLASSES = {
    "DistilBertModel": (),
    "DistilBertForMaskedLM": ("masked",),
    "DistilBertForSequenceClassification": ("dense", "labels"),
    "DistilBertForMultipleChoice": ("dense", "choice"),
    "DistilBertForTokenClassification": ("token labels",),
    "DistilBertForQuestionAnswering": ("token labels",),
}
ARCHITECTURES = tuple(_CLASSES)


def read(keys: Keys) -> ModelConfig:
    """A DistilBERT-class configuration."""
    hidden = keys.size("dim", "hidden_size", default=768)
    mixer = both_ways(keys, hidden, keys.size("n_heads", "num_attention_heads", default=12))
    layer = plain_layer(mixer, hidden, keys.size("hidden_dim", default=3072), activation(keys, "activation"))
    layers = (layer,) * layer_count(keys, "n_layers", "num_hidden_layers", default=6)
    return around(
        keys, layers, hidden, _CLASSES, "DistilBertModel", vocab_size=30522, positions=512, token_types=None,
        has_bias_twice=False,
    )  # fmt: skip
