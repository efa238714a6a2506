"""The autoencoder of Mochi 1: causal convolutions; the encoder attends over time at each place, the decoder not at all.

Source: Genmo, Mochi 1 (2024), https://github.com/genmoai/mochi.
"""

from math import prod
from typing import NamedTuple

from mansard.components._levels import level_widths
from mansard.components._sheet import Sheet
from mansard.components._videos import POINT, Volume, residual_block
from mansard.inputs.component import Component
from mansard.inputs.keys import Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("AutoencoderKLMochi",)

_HEAD = 32
_WAVES = 5  # each channel of the video with sines and cosines of two frequencies


class Shape(NamedTuple):
    """The sizes of an autoencoder: widths of its levels from the video down, what divides time and sides between."""

    inputs: int
    outputs: int
    latents: int
    encoder: tuple[int, ...]
    decoder: tuple[int, ...]
    layers: tuple[int, ...]
    times: tuple[int, ...]
    sides: tuple[int, ...]
    attends: tuple[bool, ...]


def read(keys: Keys) -> Component:
    """An autoencoder of videos from its config."""
    encoder = level_widths(keys, "encoder_block_out_channels", (64, 128, 256, 384))
    levels = len(encoder)
    attends = keys.raw("add_attention_block")
    if attends is None:
        keys.note("class-default", "add_attention_block is absent: the default of the class, all but the first")
        attends = [False] + [True] * levels
    if not isinstance(attends, list) or len(attends) != levels + 1 or not all(isinstance(x, bool) for x in attends):
        keys.fault("add_attention_block", f"must be {levels + 1} of true and false", attends)
    inputs = keys.size("in_channels", default=15)
    keys.require(
        inputs % _WAVES == 0, "in_channels", f"must be a multiple of {_WAVES}: channels with their waves", inputs
    )
    keys.text("act_fn", default="silu", choices=("silu", "swish"))
    shape = Shape(
        inputs=inputs,
        outputs=keys.size("out_channels", default=3),
        latents=keys.size("latent_channels", default=12),
        encoder=encoder,
        decoder=keys.sizes("decoder_block_out_channels", default=(128, 256, 512, 768), length=levels),
        layers=keys.sizes("layers_per_block", default=(3, 3, 4, 6, 3), length=levels + 1, maximum=100),
        times=keys.sizes("temporal_expansions", default=(1, 2, 3), length=levels - 1, maximum=64),
        sides=keys.sizes("spatial_expansions", default=(2, 2, 2), length=levels - 1, maximum=64),
        attends=tuple(attends) if isinstance(attends, list) else (),
    )
    keys.finish()
    spatial, temporal = prod(shape.sides), prod(shape.times)
    return Component(
        name="vae", source=keys.source, class_name=CLASSES[0], role="autoencoder",
        parts=lambda sample: _decode(shape, Volume(sample.frames, sample.height, sample.width)),
        encoder=lambda sample: _encode(shape, _pixels(sample, spatial, temporal)),
        channels=shape.latents, outputs=shape.outputs, spatial=spatial, temporal=temporal,
    )  # fmt: skip


def _pixels(sample: Sample, spatial: int, temporal: int) -> Volume:
    return Volume(1 + (sample.frames - 1) * temporal, sample.height * spatial, sample.width * spatial)


def _decode(shape: Shape, volume: Volume) -> tuple[Part, ...]:
    """Every latent frame becomes as many as time is compressed by; of the first, all but the last are dropped after."""
    sheet, widths = Sheet(), shape.decoder
    sheet.convolution("conv_in", shape.latents, widths[-1], POINT, volume)
    _blocks(sheet, widths[-1], shape.layers[-1], volume, attends=False)
    for level in reversed(range(len(widths) - 1)):
        inputs, outputs = widths[level + 1], widths[level]
        time, side = shape.times[level], shape.sides[level]
        with sheet.block(f"up_{level}"):
            _blocks(sheet, inputs, shape.layers[level + 1], volume, attends=False)
            sheet.product("proj", volume.positions, inputs, outputs * time * side * side)
        volume = Volume(volume.frames * time, volume.height * side, volume.width * side)
    _blocks(sheet, widths[0], shape.layers[0], volume, attends=False)
    with sheet.block("output"):
        sheet.activation("silu", widths[0] * volume.positions)
        sheet.product("proj_out", volume.positions, widths[0], shape.outputs)
    return sheet.parts


def _encode(shape: Shape, volume: Volume) -> tuple[Part, ...]:
    sheet, widths = Sheet(), shape.encoder
    sheet.product("proj_in", volume.positions, shape.inputs, widths[0])
    _blocks(sheet, widths[0], shape.layers[0], volume, attends=shape.attends[0])
    for level in range(len(widths) - 1):
        time, side = shape.times[level], shape.sides[level]
        smaller = Volume(1 + (volume.frames - 1) // time, volume.height // side, volume.width // side)
        with sheet.block(f"down_{level}"):
            kernel = (time, side, side)
            sheet.convolution("conv_in", widths[level], widths[level + 1], kernel, smaller, before=volume)
            volume = smaller
            attends = shape.attends[level + 1]
            _blocks(sheet, widths[level + 1], shape.layers[level + 1], volume, attends=attends)
    _blocks(sheet, widths[-1], shape.layers[-1], volume, attends=shape.attends[-1])
    with sheet.block("output"):
        sheet.group_norm("norm_out", widths[-1], volume.positions)
        sheet.activation("silu", widths[-1] * volume.positions)
        sheet.product("proj_out", volume.positions, widths[-1], 2 * shape.latents, bias=False)
    return sheet.parts


def _blocks(sheet: Sheet, channels: int, layers: int, volume: Volume, *, attends: bool) -> None:
    for _ in range(layers):
        residual_block(sheet, channels, channels, volume)
        if attends:
            _attention_over_time(sheet, channels, volume)


def _attention_over_time(sheet: Sheet, channels: int, volume: Volume) -> None:
    """The frames of each place attend to each other; the mask that hides later ones is computed with."""
    places, tokens = volume.height * volume.width, volume.positions
    sheet.group_norm("norm", channels, tokens)
    sheet.product("to_qkv", tokens, channels, channels, channels, channels, bias=False)
    with sheet.block("attention", places):
        sheet.attention(volume.frames, volume.frames, channels // _HEAD, _HEAD)
    sheet.product("to_out", tokens, channels, channels)
    sheet.residual(tokens, channels)
