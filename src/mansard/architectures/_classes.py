"""What the class that `architectures` names has behind the decoder: the family's head, a classifier, nothing."""

from dataclasses import replace

from mansard.architectures._encoders import labels
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

# Words in the names of classes whose layers are of other kinds.
_OTHER_KINDS = ("mamba", "rwkv", "jamba", "zamba", "bamba", "bitnet", "bert", "t5", "whisper", "clip", "vit")
# Classes that put something else behind the layers than is known here.
_OTHER_HEADS = (
    "ForTokenClassification", "ForQuestionAnswering", "ForMultipleChoice", "RewardModel", "ForRewardModeling", "Eagle",
    "Eagle3", "DoubleHeadsModel",
)  # fmt: skip
_CLASSIFIER = "ForSequenceClassification"


def ended(keys: Keys, model: ModelConfig, architecture: str, known: tuple[str, ...]) -> ModelConfig:
    """The model as its class ends it: with a head over the vocabulary, a product to labels instead, or none.

    `known` are the family's classes with a head. A class of another kind is a fault; one that is not known is noted,
    since only `model_type` was followed. Source of the classifier, a product without a bias on the last token: the
    class GenericForSequenceClassification of Hugging Face transformers.
    """
    if architecture in known or not architecture or not keys.is_sound("architectures"):
        return model
    if _is_of(architecture, "Model", known):
        text = f"{architecture} has no head: its hidden states are the output, and no logits are counted"
        keys.note("no-head", text, "warning")
        return replace(model, head=None, generates=False)
    if _is_of(architecture, _CLASSIFIER, known) and model.head is not None:
        head = model.head._replace(vocab_size=labels(keys), tied=False, bias=False, softcap=False)
        text = f"{architecture} has a product to {head.vocab_size:,} labels for a head, and makes no tokens"
        keys.note("classifier", text, "warning")
        return replace(model, head=head, generates=False)
    if any(word in architecture.lower() for word in _OTHER_KINDS):
        keys.fault("architectures", "is no decoder of attention and feed-forward layers", architecture)
    if architecture.endswith(_OTHER_HEADS):
        keys.fault("architectures", "is no language model: its head gives no logits over the vocabulary", architecture,
                   hint="of such classes those that classify whole sequences are counted")  # fmt: skip
    text = f"architectures names {architecture}, which is no class of this model_type: model_type was followed"
    keys.note("other-class", text, "warning")
    return model


def _is_of(architecture: str, suffix: str, known: tuple[str, ...]) -> bool:
    """Whether a class is a family's with another end: LlamaModel of LlamaForCausalLM, Gemma3TextModel of Gemma3's."""
    bare = architecture.removesuffix(suffix)
    starts = tuple(f"{one}{end}" for one in (bare, bare.removesuffix("Text")) for end in ("For", "LMHead"))
    return bare != architecture and any(name.startswith(starts) for name in known)
