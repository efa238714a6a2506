"""Qwen-Image and Qwen-Image-Edit: image and text tokens in joint blocks, all the way through.

Source: Qwen team, arXiv:2508.02324.
"""

from typing import NamedTuple

from mansard.components._sheet import Sheet
from mansard.components._streams import Block, Heads, condition, joint_block, output_channels, projection_out
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("QwenImageTransformer2DModel",)

_TEXT_TOKENS = 512
_TEMPLATE_TOKENS = 34  # around the prompt, read by the text encoder and dropped after it
_SPATIAL = 8
_PACKED = 2  # latents a side that the pipeline packs into one token


class Shape(NamedTuple):
    """The sizes of a Qwen-Image transformer; `outputs` of one token."""

    inputs: int
    outputs: int
    layers: int
    block: Block
    text_dim: int
    has_added_time: bool
    has_zero_time: bool


def read(keys: Keys) -> Component:
    """A Qwen-Image transformer from its config."""
    inputs = keys.size("in_channels", default=64)
    heads = Heads(keys.size("num_attention_heads", default=24), keys.size("attention_head_dim", default=128))
    patch = keys.size("patch_size", default=2)
    keys.require(patch == _PACKED, "patch_size", "is not supported: the pipeline packs 2×2 latents", patch)
    outputs = output_channels(keys, inputs, 16)
    guided = keys.flag("guidance_embeds", default=False)
    if guided:
        keys.note("ignored-key", "guidance_embeds is true and the class has no such embedding: it is not counted")
    shape = Shape(
        inputs=inputs,
        outputs=patch * patch * outputs,
        layers=keys.size("num_layers", default=60, maximum=MOST_LAYERS),
        block=Block(heads.width, heads, 4 * heads.width),
        text_dim=keys.size("joint_attention_dim", default=3584),
        has_added_time=keys.flag("use_additional_t_cond", default=False),
        has_zero_time=keys.flag("zero_cond_t", default=False),
    )
    keys.note("text-tokens", f"a prompt is as long as it is, up to 1,024 tokens: {_TEXT_TOKENS} are assumed")
    return Component(
        name="transformer", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, sample), channels=inputs // _PACKED**2, outputs=outputs,
        patch=(1, _PACKED, _PACKED), text_tokens=_TEXT_TOKENS, spatial=_SPATIAL,
        prompt_tokens=_TEXT_TOKENS + _TEMPLATE_TOKENS, recipe=Recipe(1024, 1024, guidance=4.0),
    )  # fmt: skip


def _parts(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, width, text = Sheet(), shape.block.width, sample.text
    image = (sample.height // _PACKED) * (sample.width // _PACKED) * sample.frames
    condition(sheet, width)
    if shape.has_zero_time:
        with sheet.again():
            condition(sheet, width)
    if shape.has_added_time:
        sheet.learned("addition_t_embedding", 2 * width, width)
    sheet.product("img_in", image, shape.inputs, width)
    sheet.norm("txt_norm", "rms", shape.text_dim, text)
    sheet.product("txt_in", text, shape.text_dim, width)
    with sheet.block("blocks", shape.layers):
        joint_block(sheet, shape.block, image, text, rotated=image + text)
        if shape.has_zero_time:  # tokens of the picture that is edited are modulated as if the timestep were 0
            with sheet.again():
                sheet.product("modulation", 1, width, 6 * width)
    projection_out(sheet, image, width, shape.outputs)
    return sheet.parts
