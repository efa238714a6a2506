"""The ELECTRA family: BERT's stack with tables that may be narrower, and no pooler.

ElectraForPreTraining is the discriminator: a product of the hidden size and one to a single number for every token.
ElectraForMaskedLM is the generator.

Sources: arXiv:2003.10555; the class ElectraModel of Hugging Face transformers.
"""

from mansard.architectures._bert import text_encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("electra",)
_CLASSES = {
    "ElectraModel": (),
    "ElectraForMaskedLM": ("masked",),
    "ElectraForCausalLM": ("masked",),
    "ElectraForPreTraining": ("token dense", "token choice"),
    "ElectraForSequenceClassification": ("dense", "labels"),
    "ElectraForMultipleChoice": ("dense", "choice"),
    "ElectraForTokenClassification": ("token labels",),
    "ElectraForQuestionAnswering": ("token labels",),
}
ARCHITECTURES = tuple(_CLASSES)


def read(keys: Keys) -> ModelConfig:
    """An ELECTRA-class configuration."""
    if keys.raw("summary_use_proj") is False or keys.raw("summary_proj_to_labels") is True:
        stated = keys.raw("summary_use_proj"), keys.raw("summary_proj_to_labels")
        keys.fault("summary_use_proj", "and summary_proj_to_labels ask for another summary than is counted", stated)
    return text_encoder(
        keys, _CLASSES, "ElectraModel", vocab_size=30522, hidden_size=256, heads=4, intermediate_size=1024,
        embedding_size=128, has_bias_twice=False,
    )  # fmt: skip
