"""The ALBERT family: BERT with one set of weights for many layers, and tables narrower than the layers.

`num_hidden_groups` sets of weights, of `inner_group_num` layers each, are run for `num_hidden_layers` places: group
⌊place · groups / places⌋. A product with a bias leads from the width of the tables (`embedding_size`) to that of the
layers, and the head back.

Sources: arXiv:1909.11942; the class AlbertModel of Hugging Face transformers.
"""

from mansard.architectures._bert import around
from mansard.architectures._encoders import activation, both_ways, plain_layer
from mansard.architectures._reading import layer_count
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("albert",)
_CLASSES = {
    "AlbertModel": ("pooler",),
    "AlbertForMaskedLM": ("masked",),
    "AlbertForPreTraining": ("pooler", "masked", "labels"),
    "AlbertForSequenceClassification": ("pooler", "labels"),
    "AlbertForMultipleChoice": ("pooler", "choice"),
    "AlbertForTokenClassification": ("token labels",),
    "AlbertForQuestionAnswering": ("token labels",),
}
ARCHITECTURES = tuple(_CLASSES)


def read(keys: Keys) -> ModelConfig:
    """An ALBERT-class configuration."""
    hidden = keys.size("hidden_size", default=4096)
    mixer = both_ways(keys, hidden, keys.size("num_attention_heads", default=64))
    width = keys.size("intermediate_size", default=16384)
    layer = plain_layer(mixer, hidden, width, activation(keys, "hidden_act", default="gelu_new"))
    return around(
        keys, _shared(keys, layer), hidden, _CLASSES, "AlbertModel", vocab_size=30000, positions=512, token_types=2,
        embedding_size=128, always_projected=True,
    )  # fmt: skip


def _shared(keys: Keys, layer: Layer) -> list[Layer]:
    places = layer_count(keys, default=12)
    groups = keys.size("num_hidden_groups", default=1, maximum=MOST_LAYERS)
    inner = keys.size("inner_group_num", default=1, maximum=MOST_LAYERS)
    keys.require(groups <= places, "num_hidden_groups", f"is more than num_hidden_layers {places}", groups)
    keys.require(places * inner <= MOST_LAYERS, "inner_group_num", "makes too many layers", inner)
    if not (keys.is_sound("num_hidden_groups") and keys.is_sound("inner_group_num")):
        return [layer]
    sets = [[layer._replace(shared=f"group {group}, layer {one}") for one in range(inner)] for group in range(groups)]
    return [one for place in range(places) for one in sets[int(place / (places / groups))]]
