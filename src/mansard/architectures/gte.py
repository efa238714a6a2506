"""The GTE family of text encoders ("new"): BERT's stack with rotary positions and gated parts (GeGLU).

Attention has biases, gate and up have none, down has one. The English ones have no token types. Their own code, of the
type `new`, may have learned positions or RMS norms instead: these are refused by name.

Sources: arXiv:2407.19669; the class GteModel of Hugging Face transformers.
"""

from mansard.architectures._encoders import activation, both_ways, only
from mansard.architectures._plain import layer_norm
from mansard.architectures._rotary_bert import rotary_encoder
from mansard.inputs.keys import MOST_POSITIONS, Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("gte", "new")
_PARTS = {
    "Model": (),
    "ForMaskedLM": ("masked",),
    "ForSequenceClassification": ("pooler", "labels"),
    "ForTokenClassification": ("token labels",),
}
_CLASSES = {f"{prefix}{name}": parts for prefix in ("Gte", "New") for name, parts in _PARTS.items()}
ARCHITECTURES = tuple(_CLASSES)


def read(keys: Keys) -> ModelConfig:
    """A GTE-class configuration, or one of the checkpoints' own code."""
    only(keys, "layer_norm_type", "layer_norm", why="asks for another norm than is counted")
    only(keys, "position_embedding_type", "rope", why="asks for other positions than are counted")
    hidden = keys.size("hidden_size", default=768)
    mixer = both_ways(keys, hidden, keys.size("num_attention_heads", default=12))
    width = keys.size("intermediate_size", default=3072)
    part = FeedForward(width, gated=True, activation=activation(keys, "hidden_act"), down_bias=True)
    norm = layer_norm(hidden)
    layer = Layer(mixer=mixer._replace(rotary_dim=mixer.head_dim), feed_forward=part, norms=(norm, norm))
    positions = keys.size("max_position_embeddings", default=8192, maximum=MOST_POSITIONS)
    base = "NewModel" if keys.raw("model_type") == "new" else "GteModel"
    return rotary_encoder(
        keys, layer, hidden, _CLASSES, base, vocab_size=250048, token_types=1, positions=positions
    )  # fmt: skip
