"""Stable Diffusion 3 and 3.5: image and text tokens in joint blocks; the medium 3.5 attends to the image once more.

Source: Esser et al., arXiv:2403.03206.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import (
    Block,
    Heads,
    Stream,
    condition,
    joint_attention,
    joint_block,
    modulation,
    output_channels,
    projection_out,
)
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("SD3Transformer2DModel",)

_T5_TOKENS = 256
_TEXT_TOKENS = 77 + _T5_TOKENS  # CLIP's and T5's, one after the other
_SPATIAL = 8


class Shape(NamedTuple):
    """The sizes of an SD3 transformer; `dual` counts the blocks that attend twice, `last_is_dual` is their last's."""

    inputs: int
    outputs: int
    patch: int
    layers: int
    block: Block
    text_dim: int
    pooled_dim: int
    dual: int
    last_is_dual: bool


def read(keys: Keys) -> Component:
    """An SD3 transformer from its config."""
    inputs = keys.size("in_channels", default=16)
    layers = keys.size("num_layers", default=18, maximum=MOST_LAYERS)
    heads = keys.size("num_attention_heads", default=18)
    has_norm = keys.raw("qk_norm") is not None
    if has_norm:
        keys.text("qk_norm", choices=("rms_norm",))
    head_dim = keys.size("attention_head_dim", default=64)
    width = heads * head_dim
    caption = keys.size("caption_projection_dim", default=1152)
    keys.require(
        caption == width, "caption_projection_dim", f"must be the width of the image's stream, {width}", caption
    )
    dual = set(keys.sizes("dual_attention_layers", default=(), minimum=0, maximum=MOST_LAYERS))
    keys.require(all(one < layers for one in dual), "dual_attention_layers", f"must be below num_layers, {layers}")
    shape = Shape(
        inputs=inputs,
        outputs=output_channels(keys, inputs, 16),
        patch=keys.size("patch_size", default=2),
        layers=layers,
        block=Block(width, Heads(heads, head_dim, "heads" if has_norm else "none"), 4 * width),
        text_dim=keys.size("joint_attention_dim", default=4096),
        pooled_dim=keys.size("pooled_projection_dim", default=2048),
        dual=len(dual - {layers - 1}),
        last_is_dual=layers - 1 in dual,
    )
    sample = keys.size("sample_size", default=128, maximum=1 << 13)
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs, outputs=shape.outputs,
        patch=(1, shape.patch, shape.patch), text_tokens=_TEXT_TOKENS, spatial=_SPATIAL,
        prompt_tokens=_T5_TOKENS, recipe=Recipe(sample * _SPATIAL, sample * _SPATIAL, steps=28, guidance=7.0),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width = Sheet(), shape.block.width
    size = (sample.height // shape.patch, sample.width // shape.patch)
    image = size[0] * size[1]
    kernel = (shape.patch, shape.patch)
    sheet.convolution("pos_embed.proj", shape.inputs, width, kernel, size, before=(sample.height, sample.width))
    sheet.residual(image, width)
    condition(sheet, width, pooled=shape.pooled_dim)
    sheet.product("context_embedder", sample.text, shape.text_dim, width)
    with sheet.block("blocks", shape.layers - 1):
        joint_block(sheet, shape.block, image, sample.text, rotated=0)
    with sheet.block("last_block"):
        joint_block(sheet, shape.block, image, sample.text, rotated=0, is_last=True)
    with sheet.block("dual_attention", shape.dual + shape.last_is_dual):
        modulation(sheet, "norm1.linear_2", width, 3 * width)
        sheet.modulated(image, width)
        joint_attention(sheet, shape.block.heads, (Stream("second_", image, width),))
        sheet.gated_residual(image, width)
    projection_out(sheet, image, width, shape.patch**2 * shape.outputs)
    return sheet.parts
