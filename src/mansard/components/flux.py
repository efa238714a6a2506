"""FLUX.1: text and image tokens in double blocks, each with weights of its own, then in single blocks with shared ones.

Source: Black Forest Labs, FLUX.1 (2024); Esser et al., arXiv:2403.03206, for the double blocks.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import Block, Heads, condition, joint_block, projection_out, single_block
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("FluxTransformer2DModel",)

_TEXT_TOKENS = 512  # the pipeline pads a prompt to so many
_SPATIAL = 8  # of the autoencoder that the pipeline comes with
_PACKED = 2  # latents a side that the pipeline packs into one token; the config's patch_size of 1 comes after that


class Shape(NamedTuple):
    """The sizes of a FLUX.1 transformer."""

    channels: int
    outputs: int
    double: int
    single: int
    block: Block
    text_dim: int
    pooled_dim: int
    is_guided: bool


def read(keys: Keys) -> Component:
    """A FLUX.1 transformer from its config."""
    channels = keys.size("in_channels", default=64)
    heads = Heads(keys.size("num_attention_heads", default=24), keys.size("attention_head_dim", default=128))
    shape = Shape(
        channels=channels,
        outputs=keys.optional_size("out_channels") or channels,
        double=keys.size("num_layers", default=19, minimum=0, maximum=MOST_LAYERS),
        single=keys.size("num_single_layers", default=38, minimum=0, maximum=MOST_LAYERS),
        block=Block(heads.width, heads, 4 * heads.width),
        text_dim=keys.size("joint_attention_dim", default=4096),
        pooled_dim=keys.size("pooled_projection_dim", default=768),
        is_guided=keys.flag("guidance_embeds", default=False),
    )
    patch = keys.size("patch_size", default=1)
    keys.require(patch == 1, "patch_size", "is not supported: the pipeline packs 2×2 latents by itself", patch)
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=channels // _PACKED**2,
        outputs=shape.outputs // _PACKED**2, patch=(1, _PACKED, _PACKED),
        text_tokens=_TEXT_TOKENS, is_distilled=True, spatial=_SPATIAL,
        recipe=Recipe(1024, 1024, steps=28, guidance=3.5),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, text = Sheet(), shape.block.width, sample.text
    image = (sample.height // _PACKED) * (sample.width // _PACKED)
    condition(sheet, width, pooled=shape.pooled_dim, is_guided=shape.is_guided)
    sheet.product("context_embedder", text, shape.text_dim, width)
    sheet.product("x_embedder", image, shape.channels, width)
    with sheet.block("double_blocks", shape.double):
        joint_block(sheet, shape.block, image, text, rotated=image + text)
    with sheet.block("single_blocks", shape.single):
        single_block(sheet, shape.block, image + text, rotated=image + text)
    projection_out(sheet, image, width, shape.outputs)
    return sheet.parts
