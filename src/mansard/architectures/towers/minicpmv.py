"""MiniCPM-V: SigLIP over slices of an image near their own shape, each resampled to `query_num` tokens.

The resampler's learned queries attend to a slice's tokens, heads of 128 each; norms on queries, on what they see and on
what they give, and one more matrix behind. `drop_vision_last_layer` leaves the tower's last layer out.

Sources: arXiv:2408.01800; the published MiniCPMV classes of OpenBMB.
"""

from dataclasses import replace

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count, quiet_flag
from mansard.architectures.minicpmv import version
from mansard.architectures.towers._reading import LARGEST_SIDE, activation, note_unknown, part, seeing_layer
from mansard.inputs.encoder import Applied, Encoder, Pooling
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.slices import SlicedImage
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("minicpmv",)
_HEAD = 128


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and its resampler."""
    own, out = part(keys, "vision_config"), model.hidden_size
    hidden = own.size("hidden_size", default=1152)
    patch = own.size("patch_size", default=14, maximum=LARGEST_SIDE)
    image = own.size("image_size", default=980, maximum=LARGEST_SIDE)
    channels = own.size("num_channels", default=3, maximum=1024)
    width = own.size("intermediate_size", default=4304)
    heads = own.size("num_attention_heads", default=16)
    layer = seeing_layer(own, hidden, heads, width, kind=activation(own, "hidden_act", default="gelu_pytorch_tanh"))
    count = layer_count(own, default=27)
    if quiet_flag(keys, "drop_vision_last_layer", default=False):
        count = max(1, count - 1)
    keys.require(out % _HEAD == 0, "hidden_size", f"must be whole heads of {_HEAD}, which the resampler has", out)
    queries = keys.size("query_num", default=64, maximum=1 << 16)
    tower = Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=(layer,) * count,
        front=(Applied(Matrix("patch_embedding", channels * patch * patch, hidden, bias=True), kind="convolution"),),
        back=_resampler(hidden, out, queries),
        norms=(layer_norm(hidden),),
        vectors=max(1, image // patch) ** 2 * hidden + queries * out,
        reads=_reads(keys, patch, queries),
        pooling=Pooling(max(1, out // _HEAD), _HEAD, queries),
    )
    note_unknown(own)
    return replace(model, encoders=(tower,))


def _resampler(hidden: int, out: int, queries: int) -> tuple[Applied, ...]:
    norm = layer_norm(out)
    return (
        Applied(Matrix("resampler_in", hidden, out)),
        Applied(Matrix("resampler_k", out, out, bias=True), norm=norm),
        Applied(Matrix("resampler_v", out, out, bias=True)),
        Applied(Matrix("resampler_q", out, out, bias=True), times=queries, per=0, norm=norm),
        Applied(Matrix("resampler_o", out, out, bias=True), times=queries, per=0),
        Applied(Matrix("resampler_out", out, out), times=queries, per=0, norm=norm),
    )


def _reads(keys: Keys, patch: int, queries: int) -> SlicedImage:
    own = keys.nested("slice_config")
    scale = own.size("scale_resolution", default=448, maximum=LARGEST_SIDE)
    most = own.size("max_slice_nums", default=9, maximum=1024)
    if not quiet_flag(keys, "slice_mode", default=True):
        most = 1
    around = 2 if version(keys) == "2.5" else 0
    return SlicedImage(scale, patch, most, queries, around)
