"""PixArt-α and PixArt-Σ: image tokens that attend to each other, then to the text; one modulation for all blocks.

Sources: Chen et al., arXiv:2310.00426; Chen et al., arXiv:2403.04692.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import (
    TIME_WAVES,
    Heads,
    Stream,
    cross_attention,
    feed_forward,
    joint_attention,
    modulated_norm,
    output_channels,
)
from mansard.components._text_keys import block_table, caption_projection, finish
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("PixArtTransformer2DModel",)

_TEXT_TOKENS = 300
_SPATIAL = 8
_LARGE = 128  # the sample_size from which the class takes sizes and ratios of the image as conditions too


class Shape(NamedTuple):
    """The sizes of a PixArt transformer; caption_dim 0: the text has the right width already."""

    inputs: int
    outputs: int
    patch: int
    layers: int
    heads: Heads
    text_dim: int
    caption_dim: int
    norm: str
    has_bias: bool
    has_sizes: bool


def read(keys: Keys) -> Component:
    """A PixArt transformer from its config."""
    inputs = keys.size("in_channels", default=4)
    keys.text("norm_type", default="ada_norm_single", choices=("ada_norm_single",))
    keys.text("activation_fn", default="gelu-approximate", choices=("gelu-approximate", "gelu"))
    keys.text("attention_type", default="default", choices=("default",))
    sample = keys.size("sample_size", default=_LARGE, maximum=1 << 13)
    heads = Heads(keys.size("num_attention_heads", default=16), keys.size("attention_head_dim", default=72), "none")
    shape = Shape(
        inputs=inputs,
        outputs=output_channels(keys, inputs, 8),
        patch=keys.size("patch_size", default=2),
        layers=keys.size("num_layers", default=28, maximum=MOST_LAYERS),
        heads=heads,
        text_dim=keys.size("cross_attention_dim", default=1152),
        caption_dim=keys.optional_size("caption_channels") or 0,
        norm="layer" if keys.flag("norm_elementwise_affine", default=False) else "none",
        has_bias=keys.flag("attention_bias", default=True),
        has_sizes=keys.flag("use_additional_conditions", default=sample == _LARGE),
    )
    keys.require(
        not shape.caption_dim or shape.text_dim == heads.width, "cross_attention_dim",
        f"must be the width to which the captions are projected, {heads.width}", shape.text_dim,
    )  # fmt: skip
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs, outputs=shape.outputs,
        patch=(1, shape.patch, shape.patch), text_tokens=_TEXT_TOKENS, spatial=_SPATIAL,
        recipe=Recipe(sample * _SPATIAL, sample * _SPATIAL, steps=20, guidance=4.5),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, text, heads = Sheet(), shape.heads.width, sample.text, shape.heads
    size = (sample.height // shape.patch, sample.width // shape.patch)
    tokens = size[0] * size[1]
    kernel = (shape.patch, shape.patch)
    image, words = Stream("", tokens, width), Stream("text_", text, shape.text_dim)
    sheet.convolution("pos_embed.proj", shape.inputs, width, kernel, size, before=(sample.height, sample.width))
    sheet.residual(tokens, width)
    sheet.vector_mlp("timestep_embedder", TIME_WAVES, width)
    if shape.has_sizes:
        sheet.vector_mlp("resolution_embedder", TIME_WAVES, width // 3, rows=2)
        sheet.vector_mlp("aspect_ratio_embedder", TIME_WAVES, width // 3)
    sheet.activation("silu", width)
    sheet.product("adaln_single.linear", 1, width, 6 * width)
    if shape.caption_dim:
        caption_projection(sheet, text, shape.caption_dim, width)
    with sheet.block("blocks", shape.layers):
        block_table(sheet, width)
        modulated_norm(sheet, "norm1", tokens, width, shape.norm)
        joint_attention(sheet, heads, (image,), bias=shape.has_bias)
        sheet.gated_residual(tokens, width)
        cross_attention(sheet, heads, image, words, bias=shape.has_bias)
        sheet.residual(tokens, width)
        modulated_norm(sheet, "norm2", tokens, width, shape.norm)
        feed_forward(sheet, tokens, width, 4 * width)
        sheet.gated_residual(tokens, width)
    finish(sheet, tokens, width, shape.patch**2 * shape.outputs)
    return sheet.parts
