"""The Nomic BERT family: BERT's stack with rotary positions, gated parts (SwiGLU) and no biases but those of its norms.

The checkpoints' own code names its sizes as GPT-2 does (`n_embd`, `n_layer`, `n_inner`) and has switches: biases of the
products, RMS norms, parts side by side, mixtures of experts. Where one asks for something else than is counted here, it
is refused by name.

Sources: arXiv:2402.01613; the class NomicBertModel of Hugging Face transformers.
"""

from mansard.architectures._encoders import activation, both_ways, only
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import quiet_flag
from mansard.architectures._rotary_bert import rotary_encoder
from mansard.inputs.keys import MOST_POSITIONS, Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("nomic_bert",)
_CLASSES = {
    "NomicBertModel": (),
    "NomicBertForMaskedLM": ("masked",),
    "NomicBertForPreTraining": ("masked",),
    "NomicBertForSequenceClassification": ("pooler", "labels"),
    "NomicBertForTokenClassification": ("token labels",),
}
ARCHITECTURES = tuple(_CLASSES)
_GATED = {"glu": "sigmoid", "swiglu": "silu", "geglu": "gelu"}


def read(keys: Keys) -> ModelConfig:
    """A Nomic-BERT-class configuration, by the class's names of keys or the checkpoints' own."""
    hidden = keys.size("hidden_size", "n_embd", default=768)
    for name in ("use_rms_norm", "parallel_block", "parallel_block_tied_norm", "prenorm"):
        only(keys, name, False, why="asks for layers of another kind than is counted")
    only(keys, "mlp_fc2_bias", quiet_flag(keys, "mlp_fc1_bias", default=False), why="differs from mlp_fc1_bias")
    norm = layer_norm(hidden)
    layer = Layer(mixer=_attention(keys, hidden), feed_forward=_part(keys, hidden), norms=(norm, norm))
    positions = keys.size("max_position_embeddings", "n_positions", default=2048, maximum=MOST_POSITIONS)
    multiple = keys.optional_size("pad_vocab_size_multiple") or 1
    return rotary_encoder(
        keys, layer, hidden, _CLASSES, "NomicBertModel", vocab_size=30528, token_types=2, positions=positions,
        layers=("n_layer",), has_bias_twice=True, multiple=multiple,
    )  # fmt: skip


def _attention(keys: Keys, hidden: int) -> Attention:
    heads = keys.size("num_attention_heads", "n_head", default=12)
    bias = quiet_flag(keys, "qkv_proj_bias", default=False)
    mixer = both_ways(keys, hidden, heads, bias=bias)
    size = keys.optional_size("head_dim") or mixer.head_dim
    share = keys.number("rotary_emb_fraction", minimum=0, maximum=1) if keys.has("rotary_emb_fraction") else 1.0
    keys.require(share > 0, "rotary_emb_fraction", "0 asks for learned positions, which are not counted", share)
    return mixer._replace(head_dim=size, rotary_dim=int(size * share))


def _part(keys: Keys, hidden: int) -> FeedForward:
    width = keys.optional_size("intermediate_size", "n_inner")
    bias = quiet_flag(keys, "mlp_fc1_bias", default=False)
    stated = keys.raw("activation_function")
    if stated is None or keys.has("hidden_act"):
        return FeedForward(
            width or 3072, gated=True, activation=activation(keys, "hidden_act", default="silu"), bias=bias
        )
    keys.require(stated in _GATED, "activation_function", "is no gated activation: other parts are not counted", stated)
    keys.require(width is not None, "n_inner", "is required but absent: its default depends on the activation")
    return FeedForward(width or 4 * hidden, gated=True, activation=_GATED.get(str(stated), "silu"), bias=bias)
