"""ControlNet: the way down of a UNet with a picture as condition, and a 1×1 convolution for everything that it leaves.

Source: Zhang et al., arXiv:2302.05543.
"""

from itertools import pairwise

from mansard.components._images import ONE, THREE, Area
from mansard.components._levels import level_widths
from mansard.components._sheet import Sheet
from mansard.components._unet import Shape, read_shape, write_down, write_time
from mansard.inputs.component import Component
from mansard.inputs.keys import Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("ControlNetModel",)

_SPATIAL = 8
_TEXT_TOKENS = 77


def read(keys: Keys) -> Component:
    """A ControlNet from its config."""
    shape = read_shape(keys)
    pictured = keys.size("conditioning_channels", default=3)
    widths = level_widths(keys, "conditioning_embedding_out_channels", (16, 32, 96, 256))
    return Component(
        name="controlnet", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, pictured, widths, sample), channels=shape.inputs,
        outputs=sum(shape.skips) + shape.levels[-1].channels, text_tokens=_TEXT_TOKENS, spatial=_SPATIAL,
    )  # fmt: skip


def _parts(shape: Shape, pictured: int, widths: tuple[int, ...], sample: Sample) -> tuple[Part, ...]:
    sheet = Sheet()
    area = Area(sample.height, sample.width)
    write_time(sheet, shape)
    _condition(sheet, pictured, widths, shape.levels[0].channels, area)
    left = write_down(sheet, shape, area, sample.text)
    with sheet.block("output"):
        for channels, where in zip(shape.skips, left, strict=True):
            sheet.convolution("controlnet_down_block", channels, channels, ONE, where)
        lowest = shape.levels[-1].channels
        sheet.convolution("controlnet_mid_block", lowest, lowest, ONE, left[-1])
    return sheet.parts


def _condition(sheet: Sheet, pictured: int, widths: tuple[int, ...], outputs: int, area: Area) -> None:
    """The picture, at the size of the image, down to that of the latents by strides of 2."""
    factor = 2 ** (len(widths) - 1)
    now = Area(area.height * factor, area.width * factor)
    sheet.convolution("cond_conv_in", pictured, widths[0], THREE, now)
    for inputs, width in pairwise(widths):
        sheet.activation("silu", inputs * now.positions)
        sheet.convolution("cond_conv", inputs, inputs, THREE, now)
        smaller = now.halved()
        sheet.convolution("cond_downsample", inputs, width, THREE, smaller, before=now)
        now = smaller
    sheet.convolution("cond_conv_out", widths[-1], outputs, THREE, now)
