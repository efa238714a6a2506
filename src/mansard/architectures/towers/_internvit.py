"""InternViT as the published checkpoints and Hugging Face's class have it: scaled branches, a class token, positions.

Each branch of a layer is scaled by a learned vector [hidden]. The 6B model norms queries and keys over all heads at
once, has RMS norms and no biases on queries, keys and values.

Sources: arXiv:2312.14238; the published InternVisionModel of OpenGVLab; InternVLVisionModel of Hugging Face
transformers.
"""

from typing import NamedTuple

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count, quiet_flag
from mansard.architectures.towers._reading import LARGEST_SIDE, activation, note_unknown, seeing_layer
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.weights import Matrix, Norm


class Squares(NamedTuple):
    """A tower, and its image in pixels and patches."""

    tower: Encoder
    size: int
    patch: int


def internvit(keys: Keys, *, hub: bool) -> Squares:
    """The tower. hub: by the keys and defaults of OpenGVLab's own class, else by those of Hugging Face's."""
    own = _OPEN if hub else _LIBRARY
    hidden = keys.size("hidden_size", default=own["hidden"])
    size, patch = _side(keys, "image_size", own["size"]), _side(keys, "patch_size", 14)
    keys.require(patch <= size, "patch_size", f"is more than image_size {size}", patch)
    squares = max(1, size // patch) ** 2
    channels = keys.size("num_channels", default=3, maximum=1024)
    layer = _layer(keys, hidden, own, hub=hub)
    positions = quiet_flag(keys, "use_absolute_position_embeddings", default=True)
    mask = quiet_flag(keys, "use_mask_token", default=False)
    has_norm = not hub and not quiet_flag(keys, "use_mean_pooling", default=True)
    tower = Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=(layer,) * layer_count(keys, default=own["layers"]),
        front=(
            Applied(
                Matrix("patch_embedding", channels * patch * patch, hidden, bias=True),
                squares, squares + 1, kind="convolution",
            ),
        ),
        norms=(layer_norm(hidden),) if has_norm else (),
        vectors=hidden * (1 + (squares + 1 if positions else 0) + (1 if mask else 0)),
    )  # fmt: skip
    note_unknown(keys)
    return Squares(tower, size, patch)


_OPEN = {"hidden": 3200, "size": 224, "layers": 48, "heads": 25, "width": 12800}
_LIBRARY = {"hidden": 1024, "size": 448, "layers": 24, "heads": 16, "width": 4096}


def _layer(keys: Keys, hidden: int, own: dict[str, int], *, hub: bool) -> Layer:
    bias = quiet_flag(keys, "qkv_bias" if hub else "attention_bias", default=False)
    normed = quiet_flag(keys, "qk_normalization" if hub else "use_qk_norm", default=hub)
    kind = keys.text("norm_type", choices=("rms_norm", "layer_norm"), default="rms_norm" if hub else "layer_norm")
    layer = seeing_layer(
        keys, hidden, keys.size("num_attention_heads", default=own["heads"]),
        keys.size("intermediate_size", default=own["width"]), kind=activation(keys, "hidden_act", default="gelu"),
        norm="rms" if kind == "rms_norm" else "layer", bias=bias, o_bias=True, part_bias=True,
    )  # fmt: skip
    whole = Norm("rms", hidden) if normed else None
    mixer = layer.mixer
    mixer = mixer._replace(q_norm=whole, k_norm=whole) if isinstance(mixer, Attention) else mixer
    return layer._replace(mixer=mixer, vectors=2 * hidden)


def _side(keys: Keys, name: str, default: int) -> int:
    """Pixels of a side; the newer class states both sides, which must be equal here."""
    stated = keys.raw(name)
    if not isinstance(stated, list):
        return keys.size(name, default=default, maximum=LARGEST_SIDE)
    both = keys.sizes(name, length=2, maximum=LARGEST_SIDE)
    keys.require(both[0] == both[1], name, "must be square: other tiles are not counted", stated)
    return both[0]
