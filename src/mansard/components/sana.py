"""Sana: linear attention of strongly compressed image tokens, cross-attention to the text, convolutions between.

Source: Xie et al., arXiv:2410.10629.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import Heads, Stream, cross_attention, modulated_norm, output_channels
from mansard.components._text_keys import block_table, caption_projection, finish, shared_modulation
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("SanaTransformer2DModel",)

_TEXT_TOKENS = 300
_SPATIAL = 32


class Shape(NamedTuple):
    """The sizes of a Sana transformer; hidden: channels of the convolutions, before they are doubled for the gate."""

    inputs: int
    outputs: int
    patch: int
    layers: int
    heads: Heads
    cross: Heads
    text_dim: int
    caption_dim: int
    hidden: int
    norm: str
    has_bias: bool
    has_positions: bool
    is_guided: bool


def read(keys: Keys) -> Component:
    """A Sana transformer from its config."""
    inputs = keys.size("in_channels", default=32)
    kind = keys.raw("qk_norm")
    if kind is not None:
        keys.text("qk_norm", choices=("rms_norm_across_heads",))
    norm = "none" if kind is None else "across"
    heads = Heads(
        keys.size("num_attention_heads", default=70), keys.size("attention_head_dim", default=32), norm  # type: ignore[arg-type]
    )  # fmt: skip
    cross = Heads(
        keys.size("num_cross_attention_heads", default=20), keys.size("cross_attention_head_dim", default=112), norm  # type: ignore[arg-type]
    )  # fmt: skip
    text = keys.size("cross_attention_dim", default=2240)
    keys.require(text == heads.width, "cross_attention_dim", f"must be the width of the stream, {heads.width}", text)
    shape = Shape(
        inputs=inputs,
        outputs=output_channels(keys, inputs, 32),
        patch=keys.size("patch_size", default=1),
        layers=keys.size("num_layers", default=20, maximum=MOST_LAYERS),
        heads=heads,
        cross=cross,
        text_dim=text,
        caption_dim=keys.size("caption_channels", default=2304),
        hidden=int(keys.number("mlp_ratio", default=2.5, minimum=0.01, maximum=100) * heads.width),
        norm="layer" if keys.flag("norm_elementwise_affine", default=False) else "none",
        has_bias=keys.flag("attention_bias", default=False),
        has_positions=keys.raw("interpolation_scale") is not None,
        is_guided=keys.flag("guidance_embeds", default=False),
    )
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs, outputs=shape.outputs,
        patch=(1, shape.patch, shape.patch), text_tokens=_TEXT_TOKENS, is_distilled=shape.is_guided, spatial=_SPATIAL,
        recipe=Recipe(1024, 1024, steps=2 if shape.is_guided else 20, guidance=4.5),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, text = Sheet(), shape.heads.width, sample.text
    size = (sample.height // shape.patch, sample.width // shape.patch)
    tokens = size[0] * size[1]
    kernel = (shape.patch, shape.patch)
    sheet.convolution("patch_embed.proj", shape.inputs, width, kernel, size, before=(sample.height, sample.width))
    if shape.has_positions:
        sheet.residual(tokens, width)
    shared_modulation(sheet, width, is_guided=shape.is_guided)
    caption_projection(sheet, text, shape.caption_dim, width)
    sheet.norm("caption_norm", "rms", width, text)
    with sheet.block("blocks", shape.layers):
        block_table(sheet, width)
        modulated_norm(sheet, "norm1", tokens, width)
        _linear_attention(sheet, shape, tokens)
        sheet.gated_residual(tokens, width)
        cross_attention(sheet, shape.cross, Stream("", tokens, width), Stream("text_", text, shape.text_dim))
        sheet.residual(tokens, width)
        modulated_norm(sheet, "norm2", tokens, width, shape.norm)
        _mixed_feed_forward(sheet, shape, size)
        sheet.gated_residual(tokens, width)
    finish(sheet, tokens, width, shape.patch**2 * shape.outputs)
    return sheet.parts


def _linear_attention(sheet: Sheet, shape: Shape, tokens: int) -> None:
    heads, width = shape.heads, shape.heads.width
    sheet.product("to_qkv", tokens, width, width, width, width, bias=shape.has_bias)
    for which in ("q", "k"):
        heads.write_norm(sheet, f"norm_{which}", tokens)
    sheet.linear_attention(tokens, heads.number, heads.size)
    sheet.product("to_out", tokens, width, width)


def _mixed_feed_forward(sheet: Sheet, shape: Shape, size: tuple[int, int]) -> None:
    """A gated feed-forward part with a depthwise convolution in its middle, which sees each token's neighbours."""
    width, double = shape.heads.width, 2 * shape.hidden
    sheet.convolution("ff.conv_inverted", width, double, (1, 1), size)
    sheet.activation("silu", double * size[0] * size[1])
    sheet.convolution("ff.conv_depth", double, double, (3, 3), size, groups=double)
    sheet.activation("silu", shape.hidden * size[0] * size[1], gated=True)
    sheet.convolution("ff.conv_point", shape.hidden, width, (1, 1), size, bias=False)
