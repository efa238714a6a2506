"""The UNet of Stable Diffusion and SDXL: down, middle and up, with skips across and text as keys of attention.

Sources: Rombach et al., arXiv:2112.10752; Podell et al., SDXL, arXiv:2307.01952.
"""

from mansard.components._images import THREE, Area, residual_block, upsample
from mansard.components._sheet import Sheet
from mansard.components._unet import Shape, read_shape, transformer, up_widths, write_down, write_time
from mansard.inputs.component import Component, Recipe
from mansard.inputs.keys import Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("UNet2DConditionModel",)

_SPATIAL = 8
_TEXT_TOKENS = 77  # CLIP's, to which every prompt is padded
_UP = ("UpBlock2D", "CrossAttnUpBlock2D")


def read(keys: Keys) -> Component:
    """A UNet from its config."""
    shape = read_shape(keys)
    outputs = keys.size("out_channels", default=4)
    kernel = keys.size("conv_out_kernel", default=3, maximum=31)
    count = len(shape.levels)
    kinds = keys.texts("up_block_types", default=(_UP[0], *_UP[1:] * (count - 1)), choices=_UP, length=count)
    has_text = tuple(kind == _UP[1] for kind in reversed(kinds))
    depths = tuple(level.depth for level in shape.levels)
    for place, level in enumerate(shape.levels):
        if has_text[place] != (level.depth > 0):
            keys.fault("up_block_types", "must attend to the text where down_block_types do", list(kinds))
            break
    keys.require(len(depths) == len(has_text), "up_block_types", "must be as many as down_block_types")
    sample = keys.size("sample_size", default=64, maximum=1 << 13)
    return Component(
        name="unet", source=keys.source, class_name=CLASSES[0], role="denoiser",
        parts=lambda sample: _parts(shape, outputs, kernel, sample), channels=shape.inputs, outputs=outputs,
        text_tokens=_TEXT_TOKENS, is_distilled=bool(shape.time_condition), spatial=_SPATIAL,
        recipe=Recipe(sample * _SPATIAL, sample * _SPATIAL, guidance=5.0 if shape.added_dim else 7.5),
    )  # fmt: skip


def _parts(shape: Shape, outputs: int, kernel: int, sample: Sample) -> tuple[Part, ...]:
    sheet = Sheet()
    write_time(sheet, shape)
    left = write_down(sheet, shape, Area(sample.height, sample.width), sample.text)
    for place, blocks in up_widths(shape):
        with sheet.block(f"up_{place}"):
            level = shape.levels[place]
            for inputs, width in blocks:
                area = left.pop()
                residual_block(sheet, inputs, width, area, time=shape.time_dim, scales=shape.scales)
                transformer(sheet, shape, level, area, sample.text, only_cross=shape.only_cross[place])
            if place:
                upsample(sheet, level.channels, left[-1])
    area, width = Area(sample.height, sample.width), shape.levels[0].channels
    with sheet.block("output"):
        sheet.group_norm("conv_norm_out", width, area.positions)
        sheet.activation("silu", width * area.positions)
        sheet.convolution("conv_out", width, outputs, THREE if kernel == 3 else (kernel, kernel), area)
    return sheet.parts
