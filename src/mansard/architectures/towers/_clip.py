"""The vision towers of CLIP and SigLIP: squares of an image of one size as tokens, learned positions, pre-norms.

CLIP has a class token before the squares, a norm before and one behind the layers, and a patch product without a bias;
SigLIP has neither class token nor first norm, and may have a pooling head of attention, which composites leave unused.

Sources: arXiv:2103.00020, arXiv:2303.15343; the classes CLIPVisionModel and SiglipVisionModel of Hugging Face
transformers.
"""

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count, quiet_flag
from mansard.architectures.towers._reading import LARGEST_SIDE, activation, note_unknown, seeing_layer
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.perception import FixedImage
from mansard.inputs.weights import Matrix

CLIP_LARGE = {
    "hidden_size": 1024, "intermediate_size": 4096, "patch_size": 14, "image_size": 336, "num_hidden_layers": 24,
    "num_attention_heads": 16,
}  # fmt: skip


def clip(keys: Keys, **defaults: int) -> Encoder:
    """CLIP's tower, whose squares are the tokens but the first."""
    tower, side = _stack(keys, {"patch_size": 32, **defaults}, kind="quick_gelu", bias=False, beside=1)
    hidden = tower.hidden_size
    norms = (layer_norm(hidden), layer_norm(hidden))
    note_unknown(keys)
    return tower._replace(norms=norms, vectors=hidden + (side * side + 1) * hidden)


def siglip(keys: Keys, *, vision_use_head: bool = True, **defaults: int) -> Encoder:
    """SigLIP's tower. vision_use_head: whether its pooling head is kept where the configuration does not say."""
    tower, side = _stack(keys, {"patch_size": 16, **defaults}, kind="gelu_pytorch_tanh", bias=True, beside=0)
    hidden, unused = tower.hidden_size, 0
    if quiet_flag(keys, "vision_use_head", default=vision_use_head):
        part = tower.layers[0].feed_forward if tower.layers else None
        width = getattr(part, "intermediate_size", 0)
        # A probe, attention with its output, a norm and a part: kept by the class, and run for nothing.
        unused = hidden + 4 * hidden * (hidden + 1) + 2 * hidden + 2 * hidden * width + width + hidden
        keys.note("pooling-head", "the vision tower's pooling head is stored and not run", "info")
    note_unknown(keys)
    return tower._replace(norms=(layer_norm(hidden),), vectors=side * side * hidden, unused=unused)


def _stack(keys: Keys, defaults: dict[str, int], *, kind: str, bias: bool, beside: int) -> tuple[Encoder, int]:
    """The tower without norms and vectors, and how many squares are in a row. Defaults: ViT-Base's."""
    own = {
        "hidden_size": 768, "intermediate_size": 3072, "num_hidden_layers": 12, "num_attention_heads": 12,
        "image_size": 224, "num_channels": 3,
    } | defaults  # fmt: skip
    hidden = keys.size("hidden_size", default=own["hidden_size"])
    heads = keys.size("num_attention_heads", default=own["num_attention_heads"])
    width = keys.size("intermediate_size", default=own["intermediate_size"])
    image = keys.size("image_size", default=own["image_size"], maximum=LARGEST_SIDE)
    patch = keys.size("patch_size", default=own["patch_size"], maximum=LARGEST_SIDE)
    channels = keys.size("num_channels", default=own["num_channels"], maximum=1024)
    keys.require(patch <= image, "patch_size", f"is more than image_size {image}", patch)
    side = max(1, image // patch)
    layer = seeing_layer(keys, hidden, heads, width, kind=activation(keys, "hidden_act", default=kind))
    patches = Matrix("patch_embedding", channels * patch * patch, hidden, bias)
    squares = side * side
    return Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=(layer,) * layer_count(keys, default=own["num_hidden_layers"]),
        front=(Applied(patches, times=squares, per=squares + beside, kind="convolution"),),
        reads=FixedImage(max(image, patch), patch, beside=beside),
    ), side
