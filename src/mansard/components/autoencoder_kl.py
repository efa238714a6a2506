"""The autoencoder of Stable Diffusion, SDXL, SD3 and FLUX: residual blocks of convolutions, attention in the middle.

Source: Rombach et al., arXiv:2112.10752.
"""

from typing import NamedTuple

from mansard.components._images import THREE, Area, downsample, residual_block, single_head_attention, upsample
from mansard.components._levels import level_widths
from mansard.components._sheet import Sheet
from mansard.inputs.component import Component
from mansard.inputs.keys import Keys
from mansard.inputs.parts import Part

CLASSES = ("AutoencoderKL", "AutoencoderKLFlux2")

_FLUX2 = "AutoencoderKLFlux2"


class Shape(NamedTuple):
    """The sizes of an autoencoder: `widths` of the encoder's levels from the image down, `decoder` of the other's."""

    inputs: int
    outputs: int
    latents: int
    widths: tuple[int, ...]
    decoder: tuple[int, ...]
    layers: int
    has_attention: bool
    has_quant: bool
    has_post_quant: bool


def read(keys: Keys) -> Component:
    """An autoencoder of images from its config."""
    is_flux2 = keys.raw("_class_name") == _FLUX2
    if is_flux2:
        keys.raw("patch_size")  # how the pipeline packs latents: nothing that the autoencoder computes
    widths = level_widths(keys, "block_out_channels", (128, 256, 512, 512) if is_flux2 else (64,))
    for name, kind in (("down_block_types", "DownEncoderBlock2D"), ("up_block_types", "UpDecoderBlock2D")):
        given = keys.texts(name, default=(kind,) * len(widths), choices=(kind,))
        keys.require(len(given) == len(widths), name, f"must have {len(widths)} elements, one for each width", given)
    own_decoder = (
        keys.sizes("decoder_block_out_channels", length=len(widths))
        if is_flux2 and keys.has("decoder_block_out_channels")
        else widths
    )
    keys.text("act_fn", default="silu", choices=("silu",))
    shape = Shape(
        inputs=keys.size("in_channels", default=3),
        outputs=keys.size("out_channels", default=3),
        latents=keys.size("latent_channels", default=32 if is_flux2 else 4),
        widths=widths,
        decoder=own_decoder,
        layers=keys.size("layers_per_block", default=2 if is_flux2 else 1, maximum=100),
        has_attention=keys.flag("mid_block_add_attention", default=True),
        has_quant=keys.flag("use_quant_conv", default=True),
        has_post_quant=keys.flag("use_post_quant_conv", default=True),
    )
    factor = 2 ** (len(widths) - 1)
    return Component(
        name="vae", source=keys.source, class_name=keys.text("_class_name", choices=CLASSES), role="autoencoder",
        parts=lambda sample: _decoder(shape, Area(sample.height, sample.width)),
        encoder=lambda sample: _encoder(shape, Area(sample.height * factor, sample.width * factor)),
        channels=shape.latents, outputs=shape.outputs, spatial=factor,
    )  # fmt: skip


def _decoder(shape: Shape, area: Area) -> tuple[Part, ...]:
    sheet = Sheet()
    wide = shape.decoder[-1]
    if shape.has_post_quant:
        sheet.convolution("post_quant_conv", shape.latents, shape.latents, (1, 1), area)
    sheet.convolution("conv_in", shape.latents, wide, THREE, area)
    with sheet.block("mid"):
        _middle(sheet, shape, wide, area)
    inputs = wide
    for level, outputs in enumerate(reversed(shape.decoder)):
        with sheet.block(f"up_{level}"):
            for _ in range(shape.layers + 1):
                residual_block(sheet, inputs, outputs, area)
                inputs = outputs
            if level < len(shape.decoder) - 1:
                area = area.doubled()
                upsample(sheet, outputs, area)
    _finish(sheet, inputs, shape.outputs, area)
    return sheet.parts


def _encoder(shape: Shape, area: Area) -> tuple[Part, ...]:
    sheet = Sheet()
    inputs = shape.widths[0]
    sheet.convolution("conv_in", shape.inputs, inputs, THREE, area)
    for level, outputs in enumerate(shape.widths):
        with sheet.block(f"down_{level}"):
            for _ in range(shape.layers):
                residual_block(sheet, inputs, outputs, area)
                inputs = outputs
            if level < len(shape.widths) - 1:
                area = downsample(sheet, outputs, area)
    with sheet.block("mid"):
        _middle(sheet, shape, inputs, area)
    _finish(sheet, inputs, 2 * shape.latents, area)
    if shape.has_quant:
        sheet.convolution("quant_conv", 2 * shape.latents, 2 * shape.latents, (1, 1), area)
    return sheet.parts


def _middle(sheet: Sheet, shape: Shape, width: int, area: Area) -> None:
    residual_block(sheet, width, width, area)
    if shape.has_attention:
        single_head_attention(sheet, width, area)
    residual_block(sheet, width, width, area)


def _finish(sheet: Sheet, inputs: int, outputs: int, area: Area) -> None:
    with sheet.block("output"):
        sheet.group_norm("conv_norm_out", inputs, area.positions)
        sheet.activation("silu", inputs * area.positions)
        sheet.convolution("conv_out", inputs, outputs, THREE, area)
