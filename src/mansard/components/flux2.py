"""FLUX.2: double and single blocks without biases, gated feed-forward parts, and one modulation that all blocks share.

Source: Black Forest Labs, FLUX.2 (2025).
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import (
    Block,
    Heads,
    joint_block,
    modulated_norm,
    modulation,
    single_block,
)
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("Flux2Transformer2DModel",)

_TEXT_TOKENS = 512
_SPATIAL = 8
_PACKED = 2  # latents a side that the pipeline packs into one token; the config's patch_size of 1 comes after that


class Shape(NamedTuple):
    """The sizes of a FLUX.2 transformer."""

    inputs: int
    outputs: int
    double: int
    single: int
    block: Block
    text_dim: int
    time_dim: int
    is_guided: bool


def read(keys: Keys) -> Component:
    """A FLUX.2 transformer from its config."""
    inputs = keys.size("in_channels", default=128)
    heads = Heads(keys.size("num_attention_heads", default=48), keys.size("attention_head_dim", default=128))
    hidden = int(heads.width * keys.number("mlp_ratio", default=3.0, minimum=0.1, maximum=100))
    patch = keys.size("patch_size", default=1)
    keys.require(patch == 1, "patch_size", "is not supported: the pipeline packs 2×2 latents by itself", patch)
    shape = Shape(
        inputs=inputs,
        outputs=keys.optional_size("out_channels") or inputs,
        double=keys.size("num_layers", default=8, minimum=0, maximum=MOST_LAYERS),
        single=keys.size("num_single_layers", default=48, minimum=0, maximum=MOST_LAYERS),
        block=Block(heads.width, heads, hidden, gated=True, bias=False, is_modulated=False),
        text_dim=keys.size("joint_attention_dim", default=15360),
        time_dim=keys.size("timestep_guidance_channels", default=256),
        is_guided=keys.flag("guidance_embeds", default=True),
    )
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs // _PACKED**2,
        outputs=shape.outputs // _PACKED**2, patch=(1, _PACKED, _PACKED), text_tokens=_TEXT_TOKENS,
        is_distilled=shape.is_guided, spatial=_SPATIAL,
        recipe=Recipe(1024, 1024, guidance=4.0),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, text = Sheet(), shape.block.width, sample.text
    image = (sample.height // _PACKED) * (sample.width // _PACKED)
    for name in ("timestep", "guidance")[: 1 + shape.is_guided]:
        sheet.product(f"{name}_embedder.linear_1", 1, shape.time_dim, width, bias=False)
        sheet.activation("silu", width)
        sheet.product(f"{name}_embedder.linear_2", 1, width, width, bias=False)
    for name, sets in (("img", 6), ("txt", 6), ("single", 3)):
        modulation(sheet, f"{name}_modulation", width, sets * width, bias=False)
    sheet.product("x_embedder", image, shape.inputs, width, bias=False)
    sheet.product("context_embedder", text, shape.text_dim, width, bias=False)
    with sheet.block("double_blocks", shape.double):
        joint_block(sheet, shape.block, image, text, rotated=image + text)
    with sheet.block("single_blocks", shape.single):
        single_block(sheet, shape.block, image + text, rotated=image + text)
    with sheet.block("output"):
        modulation(sheet, "norm_out.linear", width, 2 * width, bias=False)
        modulated_norm(sheet, "norm_out", image, width)
        sheet.product("proj_out", image, width, shape.outputs, bias=False)
    return sheet.parts
