"""Kimi-VL and Kimi K2.5: MoonViT over images near their own size, 2×2 patches merged by a perceptron of two layers.

Learned positions, a table of `init_pos_emb_height` by `init_pos_emb_width`, are stretched to the image, rotary ones
come beside them. The perceptron has a norm before patches are put side by side. K2.5's clips of `init_pos_emb_time`
frames run through the layers as one sequence.

Sources: arXiv:2504.07491, arXiv:2602.02276; the published MoonViT of moonshotai; the class
Kimi_K25ForConditionalGeneration of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count
from mansard.architectures.towers._reading import LARGEST_SIDE, activation, note_unknown, part, seeing_layer
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import BoundedImage
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("kimi_k25", "kimi_vl")
_MOST_A_SIDE = 512
_CHANNELS = 3  # fixed in the class


def attach(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with its tower and projector."""
    clips = keys.raw("model_type") == "kimi_k25"
    own = part(keys, "vision_config")
    hidden = own.size("vt_hidden_size", "hidden_size", default=1152)
    patch = own.size("patch_size", default=14, maximum=LARGEST_SIDE)
    merge = _merge(own)
    heads = own.size("vt_num_attention_heads", "num_attention_heads", default=16)
    width = own.size("vt_intermediate_size", "intermediate_size", default=4304)
    kind = activation(own, "hidden_act", default="gelu_pytorch_tanh")
    layer = seeing_layer(own, hidden, heads, width, kind=kind, rotated=True)
    _check(own, hidden, model.hidden_size)
    table = own.size("init_pos_emb_height", "pos_emb_height", default=64) * own.size(
        "init_pos_emb_width", "pos_emb_width", default=64
    )
    tower = Encoder(
        name="vision",
        modality="image",
        hidden_size=hidden,
        layers=(layer,) * layer_count(own, "vt_num_hidden_layers", "num_hidden_layers", default=27),
        front=(Applied(Matrix("patch_embedding", _CHANNELS * patch**2, hidden, bias=True), kind="convolution"),),
        back=_projector(hidden, model.hidden_size, merge),
        norms=(layer_norm(hidden),),
        vectors=table * hidden,
        reads=_reads(keys, own, patch, merge, clips=clips),
    )
    note_unknown(own)
    return replace(model, encoders=(tower,))


def _projector(hidden: int, out: int, merge: int) -> tuple[Applied, Applied]:
    each = merge * merge
    wide, norm = each * hidden, layer_norm(hidden)._replace(repeats=each)
    # Frames of a clip are averaged before: what is projected is what goes on.
    into = Applied(Matrix("projector_in", wide, wide, bias=True), norm=norm, per_given=True)
    return into, Applied(Matrix("projector_out", wide, out, bias=True), per_given=True)


def _reads(keys: Keys, own: Keys, patch: int, merge: int, *, clips: bool) -> BoundedImage:
    if clips:
        frames = own.size("init_pos_emb_time", "pos_emb_time", default=4, maximum=1024)
        keys.note("image-bounds", "images have up to 16,384 patches, frames 4,096, as the published preprocessor does")
        return BoundedImage(patch, merge, 16384, _MOST_A_SIDE, 4096, frames)
    keys.note("image-bounds", "images have up to 4,096 patches, as the published preprocessor does")
    return BoundedImage(patch, merge, 4096, _MOST_A_SIDE)


def _merge(own: Keys) -> int:
    both = own.sizes("merge_kernel_size", default=(2, 2), length=2, maximum=64)
    own.require(both[0] == both[1], "merge_kernel_size", "must be square", both)
    return both[0]


def _check(own: Keys, hidden: int, decoder_size: int) -> None:
    """Keys of the published configuration that say again what follows from others, or choose what is not counted."""
    if own.has("mm_hidden_size"):
        size = own.size("mm_hidden_size")
        own.require(size == hidden, "mm_hidden_size", f"must be the tower's hidden size, {hidden}", size)
    if own.has("text_hidden_size"):
        size = own.size("text_hidden_size")
        own.require(size == decoder_size, "text_hidden_size", f"must be the language model's, {decoder_size}", size)
    for name, known in (("mm_projector_type", "patchmerger"), ("merge_type", "sd2_tpool"),
                        ("pos_emb_type", "divided_fixed"), ("video_attn_type", "spatial_temporal")):  # fmt: skip
        if own.has(name):
            own.text(name, choices=(known,))
    for name in ("projector_hidden_act", "projector_ln_eps"):
        own.has(name)
