"""The ModernBERT family: rotary positions, gated parts, few biases, and windows on both sides in two layers of three.

Every `global_attn_every_n_layers`-th layer, from the first, sees everything; the others see `local_attention` // 2
tokens on each side. The first layer has no norm before its attention. Gate and up are one matrix. The head over the
vocabulary has its own switches of biases (`classifier_bias`, `decoder_bias`).

Sources: arXiv:2412.13663; the class ModernBertModel of Hugging Face transformers.
"""

from mansard.architectures._encoder_heads import Ends, each_token, pooled
from mansard.architectures._encoders import activation, both_ways, encoder_model, labels, named_class, refuse_decoding
from mansard.architectures._reading import layer_count, quiet_flag
from mansard.architectures._windows import windowed_layers
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import MOST_LAYERS, MOST_POSITIONS, Keys
from mansard.inputs.mechanisms import Embedding, FeedForward, Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("modernbert",)
ARCHITECTURES = (
    "ModernBertModel", "ModernBertForMaskedLM", "ModernBertForSequenceClassification",
    "ModernBertForTokenClassification", "ModernBertForQuestionAnswering", "ModernBertForMultipleChoice",
)  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A ModernBERT-class configuration."""
    refuse_decoding(keys)
    name = named_class(keys, ARCHITECTURES, "ModernBertModel")
    hidden = keys.size("hidden_size", default=768)
    vocabulary = keys.size("vocab_size", default=50368)
    norm = Norm(kind="layer" if quiet_flag(keys, "norm_bias", default=False) else "layer-no-bias", size=hidden)
    behind = _behind(keys, name, norm, vocabulary)
    encoder = Encoder(
        name="text",
        modality="text",
        hidden_size=hidden,
        layers=_layers(keys, norm),
        back=behind.back,
        norms=(norm, *behind.norms),
        embedding=Embedding(vocab_size=vocabulary, dim=hidden, norm=norm),
    )
    positions = keys.size("max_position_embeddings", default=8192, maximum=MOST_POSITIONS)
    return encoder_model(keys, encoder, positions=positions)


def _layers(keys: Keys, norm: Norm) -> tuple[Layer, ...]:
    bias = quiet_flag(keys, "attention_bias", default=False)
    whole = both_ways(keys, norm.size, keys.size("num_attention_heads", default=12), bias=bias)
    whole = whole._replace(rotary_dim=whole.head_dim)
    reach = keys.size("local_attention", default=128, minimum=2) // 2
    local = whole._replace(window=2 * reach + 1)
    period = keys.size("global_attn_every_n_layers", default=3, maximum=MOST_LAYERS)
    count = layer_count(keys, default=22)
    part = FeedForward(
        intermediate_size=keys.size("intermediate_size", default=1152),
        gated=True,
        activation=activation(keys, "hidden_activation"),
        bias=quiet_flag(keys, "mlp_bias", default=False),
    )
    kinds = windowed_layers(keys, count, otherwise=lambda index: index % period != 0)
    by_kind = {kind: Layer(local if kind else whole, part, (norm, norm)) for kind in set(kinds)}
    layers = [by_kind[kind] for kind in kinds]
    return (layers[0]._replace(norms=(norm,)), *layers[1:])


def _behind(keys: Keys, name: str, norm: Norm, vocabulary: int) -> Ends:
    if name == "ModernBertModel":
        return Ends()
    bias = quiet_flag(keys, "classifier_bias", default=False)
    hidden = norm.size
    if name.endswith(("ForSequenceClassification", "ForMultipleChoice")):
        outputs = labels(keys) if name.endswith("ForSequenceClassification") else 1
        dense, last = pooled("head_dense", hidden, hidden, bias=bias), pooled("classifier", hidden, outputs)
    elif name.endswith("ForMaskedLM"):
        dense = each_token("head_dense", hidden, hidden, bias=bias)
        tied = quiet_flag(keys, "tie_word_embeddings", default=True)
        last_bias = quiet_flag(keys, "decoder_bias", default=True)
        last = Ends(back=(Applied(Matrix("lm_head", hidden, vocabulary, last_bias), tied=tied),))
    else:
        dense, last = (
            each_token("head_dense", hidden, hidden, bias=bias),
            each_token("classifier", hidden, labels(keys)),
        )
    return Ends(back=(*dense.back, *last.back), norms=(norm,))
