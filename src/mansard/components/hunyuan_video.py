"""HunyuanVideo: a refiner of the text's tokens, then double and single blocks as those of FLUX.1, over video tokens.

Source: Kong et al., arXiv:2412.03603.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import (
    Block,
    Heads,
    Stream,
    condition,
    feed_forward,
    joint_attention,
    joint_block,
    modulation,
    output_channels,
    projection_out,
    single_block,
)
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("HunyuanVideoTransformer3DModel",)

_TEXT_TOKENS = 256
_TEMPLATE_TOKENS = 95  # before the prompt, read by the text encoder and dropped after it
_SPATIAL, _TEMPORAL = 8, 4
_REFINER_RATIO = 4


class Shape(NamedTuple):
    """The sizes of a HunyuanVideo transformer."""

    inputs: int
    outputs: int
    patch: tuple[int, int, int]
    double: int
    single: int
    refiner: int
    block: Block
    text_dim: int
    pooled_dim: int
    is_guided: bool
    replaces_tokens: bool


def read(keys: Keys) -> Component:
    """A HunyuanVideo transformer from its config."""
    inputs = keys.size("in_channels", default=16)
    keys.text("qk_norm", default="rms_norm", choices=("rms_norm",))
    heads = Heads(keys.size("num_attention_heads", default=24), keys.size("attention_head_dim", default=128))
    image = keys.raw("image_condition_type")
    if image is not None:
        keys.text("image_condition_type", choices=("latent_concat", "token_replace"))
    side = keys.size("patch_size", default=2)
    shape = Shape(
        inputs=inputs,
        outputs=output_channels(keys, inputs, 16),
        patch=(keys.size("patch_size_t", default=1), side, side),
        double=keys.size("num_layers", default=20, minimum=0, maximum=MOST_LAYERS),
        single=keys.size("num_single_layers", default=40, minimum=0, maximum=MOST_LAYERS),
        refiner=keys.size("num_refiner_layers", default=2, minimum=0, maximum=MOST_LAYERS),
        block=Block(
            heads.width, heads, int(heads.width * keys.number("mlp_ratio", default=4.0, minimum=0.1, maximum=100))
        ),
        text_dim=keys.size("text_embed_dim", default=4096),
        pooled_dim=keys.size("pooled_projection_dim", default=768),
        is_guided=keys.flag("guidance_embeds", default=True),
        replaces_tokens=image == "token_replace",
    )
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs, outputs=shape.outputs, patch=shape.patch,
        text_tokens=_TEXT_TOKENS, is_distilled=shape.is_guided, spatial=_SPATIAL, temporal=_TEMPORAL,
        prompt_tokens=_TEXT_TOKENS + _TEMPLATE_TOKENS, recipe=Recipe(720, 1280, 129, guidance=6.0),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, text = Sheet(), shape.block.width, sample.text
    size = (sample.frames // shape.patch[0], sample.height // shape.patch[1], sample.width // shape.patch[2])
    video = size[0] * size[1] * size[2]
    whole = (sample.frames, sample.height, sample.width)
    sheet.convolution("x_embedder", shape.inputs, width, shape.patch, size, before=whole)
    condition(sheet, width, pooled=shape.pooled_dim, is_guided=shape.is_guided)
    _refiner(sheet, shape, text)
    if shape.replaces_tokens:  # the first frame's tokens are modulated as if the timestep were 0
        with sheet.again():
            condition(sheet, width)
    with sheet.block("double_blocks", shape.double):
        joint_block(sheet, shape.block, video, text, rotated=video)
        _again(sheet, shape, 6)
    with sheet.block("single_blocks", shape.single):
        single_block(sheet, shape.block, video + text, rotated=video)
        _again(sheet, shape, 3)
    projection_out(sheet, video, width, shape.patch[0] * shape.patch[1] * shape.patch[2] * shape.outputs)
    return sheet.parts


def _again(sheet: Sheet, shape: Shape, sets: int) -> None:
    if shape.replaces_tokens:
        with sheet.again():
            sheet.product("modulation", 1, shape.block.width, sets * shape.block.width)


def _refiner(sheet: Sheet, shape: Shape, text: int) -> None:
    """Blocks over the text alone, gated by the timestep and the text's mean."""
    width, heads = shape.block.width, shape.block.heads._replace(norm="none")
    condition(sheet, width, pooled=shape.text_dim)
    sheet.product("context_embedder.proj_in", text, shape.text_dim, width)
    with sheet.block("refiner", shape.refiner):
        sheet.norm("norm1", "layer", width, text)
        joint_attention(sheet, heads, (Stream("", text, width),))
        modulation(sheet, "norm_out.linear", width, 2 * width)
        sheet.gated_residual(text, width)
        sheet.norm("norm2", "layer", width, text)
        feed_forward(sheet, text, width, _REFINER_RATIO * width, kind="silu")
        sheet.gated_residual(text, width)
