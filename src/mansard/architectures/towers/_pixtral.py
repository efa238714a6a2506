"""Pixtral's vision tower: patches of images near their own size, rotary positions, Llama's layers seeing both ways.

No biases; one RMS norm before the layers, none behind them.

Sources: arXiv:2410.07073; the class PixtralVisionModel of Hugging Face transformers.
"""

from mansard.architectures._reading import layer_count
from mansard.architectures.towers._reading import LARGEST_SIDE, activation, note_unknown, seeing_layer
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.perception import RowedImage
from mansard.inputs.weights import Matrix, Norm


def pixtral(keys: Keys, *, merge: int = 1) -> Encoder:
    """The tower; `merge` × `merge` patches are one token of the prompt."""
    hidden = keys.size("hidden_size", default=1024)
    heads = keys.size("num_attention_heads", default=16)
    if keys.has("head_dim"):
        size = keys.size("head_dim")
        keys.require(size * heads == hidden, "head_dim", f"must be hidden_size {hidden} over the heads", size)
    width = keys.size("intermediate_size", default=4096)
    longest = keys.size("image_size", default=1024, maximum=LARGEST_SIDE)
    patch = keys.size("patch_size", default=16, maximum=LARGEST_SIDE)
    channels = keys.size("num_channels", default=3, maximum=1024)
    kind = activation(keys, "hidden_act", default="gelu")
    layer = seeing_layer(keys, hidden, heads, width, kind=kind, norm="rms", gated=True, bias=False, rotated=True)
    count = layer_count(keys, default=24)
    note_unknown(keys)
    return Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=(layer,) * count,
        front=(Applied(Matrix("patch_embedding", channels * patch * patch, hidden), kind="convolution"),),
        norms=(Norm("rms", hidden),),
        reads=RowedImage(longest, patch, merge),
    )
