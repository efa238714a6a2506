"""CogVideoX: text and video tokens in one stream of attention, under norms that modulate each apart.

Source: Yang et al., arXiv:2408.06072.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import (
    Heads,
    Stream,
    feed_forward,
    joint_attention,
    modulated_norm,
    modulation,
    output_channels,
)
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("CogVideoXTransformer3DModel",)

_SPATIAL = 8


class Shape(NamedTuple):
    """The sizes of a CogVideoX transformer; `patch_frames` 0: frames are cut into patches one by one."""

    inputs: int
    outputs: int
    patch: int
    patch_frames: int
    layers: int
    heads: Heads
    text_dim: int
    time_dim: int
    offset_dim: int
    norm: str
    has_bias: bool
    has_patch_bias: bool
    has_rotary: bool


def read(keys: Keys) -> Component:
    """A CogVideoX transformer from its config."""
    inputs = keys.size("in_channels", default=16)
    learned = keys.flag("use_learned_positional_embeddings", default=False)
    keys.require(not learned, "use_learned_positional_embeddings", "is not supported yet", learned)
    keys.text("activation_fn", default="gelu-approximate", choices=("gelu-approximate", "gelu"))
    shape = Shape(
        inputs=inputs,
        outputs=output_channels(keys, inputs, 16),
        patch=keys.size("patch_size", default=2),
        patch_frames=keys.optional_size("patch_size_t") or 0,
        layers=keys.size("num_layers", default=30, maximum=MOST_LAYERS),
        heads=Heads(
            keys.size("num_attention_heads", default=30), keys.size("attention_head_dim", default=64), kind="layer"
        ),
        text_dim=keys.size("text_embed_dim", default=4096),
        time_dim=keys.size("time_embed_dim", default=512),
        offset_dim=keys.optional_size("ofs_embed_dim") or 0,
        norm="layer" if keys.flag("norm_elementwise_affine", default=True) else "none",
        has_bias=keys.flag("attention_bias", default=True),
        has_patch_bias=keys.flag("patch_bias", default=True),
        has_rotary=keys.flag("use_rotary_positional_embeddings", default=False),
    )
    recipe = Recipe(
        keys.size("sample_height", default=60, maximum=1 << 13) * _SPATIAL,
        keys.size("sample_width", default=90, maximum=1 << 13) * _SPATIAL,
        keys.size("sample_frames", default=49, maximum=1 << 20),
        guidance=6.0,
    )
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs, outputs=shape.outputs,
        patch=(shape.patch_frames or 1, shape.patch, shape.patch),
        text_tokens=keys.size("max_text_seq_length", default=226), spatial=_SPATIAL,
        temporal=keys.size("temporal_compression_ratio", default=4),
        recipe=recipe,
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, text = Sheet(), shape.heads.width, sample.text
    side, frames = shape.patch, shape.patch_frames
    size = (-(-sample.frames // (frames or 1)), sample.height // side, sample.width // side)
    video = size[0] * size[1] * size[2]
    sheet.vector_mlp("time_embedding", width, shape.time_dim)
    if shape.offset_dim:
        sheet.vector_mlp("ofs_embedding", shape.offset_dim, shape.offset_dim)
    if frames:
        sheet.product("patch_embed.proj", video, shape.inputs * side * side * frames, width)
    else:
        whole = (sample.frames, sample.height, sample.width)
        sheet.convolution(
            "patch_embed.proj", shape.inputs, width, (side, side), size, before=whole, bias=shape.has_patch_bias
        )
    sheet.product("patch_embed.text_proj", text, shape.text_dim, width)
    if not shape.has_rotary:
        sheet.residual(text + video, width)
    with sheet.block("blocks", shape.layers):
        _block(sheet, shape, video, text)
    with sheet.block("output"):
        sheet.norm("norm_final", shape.norm, width, video)
        modulation(sheet, "norm_out.linear", shape.time_dim, 2 * width)
        modulated_norm(sheet, "norm_out", video, width, shape.norm)
        sheet.product("proj_out", video, width, side * side * (frames or 1) * shape.outputs)
    return sheet.parts


def _block(sheet: Sheet, shape: Shape, video: int, text: int) -> None:
    width, tokens = shape.heads.width, video + text
    rotated = video if shape.has_rotary else 0
    modulation(sheet, "norm1.linear", shape.time_dim, 6 * width)
    modulated_norm(sheet, "norm1", tokens, width, shape.norm)
    joint_attention(sheet, shape.heads, (Stream("", tokens, width),), bias=shape.has_bias, rotated=rotated)
    sheet.gated_residual(tokens, width)
    modulation(sheet, "norm2.linear", shape.time_dim, 6 * width)
    modulated_norm(sheet, "norm2", tokens, width, shape.norm)
    feed_forward(sheet, tokens, width, 4 * width)
    sheet.gated_residual(tokens, width)
