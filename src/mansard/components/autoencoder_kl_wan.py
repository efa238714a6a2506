"""The autoencoders of Wan 2.1, Wan 2.2 and Qwen-Image: causal convolutions over time, frame by frame with what is kept.

A latent frame is decoded after another; the first becomes one frame and every other as many as time is compressed by,
so that products over time leave out the first. Source: Wan team, arXiv:2503.20314, section 4.1.
"""

from typing import NamedTuple

from mansard.components._levels import level_widths
from mansard.components._sheet import Sheet
from mansard.components._videos import CUBE, POINT, Volume, finish, residual_block
from mansard.inputs.component import Component
from mansard.inputs.keys import Keys
from mansard.inputs.parts import Part

CLASSES = ("AutoencoderKLWan", "AutoencoderKLQwenImage")


class Shape(NamedTuple):
    """The sizes of an autoencoder: channels of each level from the video down, and which of them halve time too."""

    inputs: int
    outputs: int
    latents: int
    encoder: tuple[int, ...]
    decoder: tuple[int, ...]
    first: tuple[int, int]  # channels of the first convolutions, of the encoder and of the decoder
    layers: int
    halves_time: tuple[bool, ...]
    is_residual: bool
    patch: int

    @property
    def temporal(self) -> int:
        return 1 << sum(self.halves_time)


def read(keys: Keys) -> Component:
    """An autoencoder of videos from its config."""
    base = keys.size("base_dim", default=96)
    decoder_base = keys.optional_size("decoder_base_dim") or base
    multiples = level_widths(keys, "dim_mult", (1, 2, 4, 4))
    levels = len(multiples)
    halves = keys.raw("temperal_downsample")
    if halves is None:
        keys.note("class-default", "temperal_downsample is absent: the default of the class, false, true, true")
        halves = [False, True, True]
    if not isinstance(halves, list) or len(halves) != levels - 1 or not all(isinstance(one, bool) for one in halves):
        keys.fault("temperal_downsample", f"must be {levels - 1} of true and false", halves)
        halves = [False] * (levels - 1)
    if keys.raw("attn_scales"):
        keys.fault("attn_scales", "turns on a mechanism that is not supported yet", keys.raw("attn_scales"))
    shape = Shape(
        inputs=keys.size("in_channels", "input_channels", default=3),
        outputs=keys.size("out_channels", "input_channels", default=3),
        latents=keys.size("z_dim", default=16),
        encoder=tuple(base * one for one in multiples),
        decoder=tuple(decoder_base * one for one in multiples),
        first=(base, decoder_base * multiples[-1]),
        layers=keys.size("num_res_blocks", default=2, maximum=100),
        halves_time=tuple(halves),
        is_residual=keys.flag("is_residual", default=False),
        patch=keys.optional_size("patch_size") or 1,
    )
    keys.finish()
    factor = 2 ** (levels - 1)
    return Component(
        name="vae", source=keys.source, class_name=keys.text("_class_name", choices=CLASSES), role="autoencoder",
        parts=lambda sample: _decoder(shape, Volume(sample.frames, sample.height, sample.width)),
        encoder=lambda sample: _encoder(
            shape, Volume(1 + (sample.frames - 1) * shape.temporal, sample.height * factor, sample.width * factor)
        ),
        channels=shape.latents, outputs=shape.outputs // shape.patch**2, spatial=factor * shape.patch,
        temporal=shape.temporal,
        frames_at_once=2,  # one and what is kept of the one before it
    )  # fmt: skip


def _decoder(shape: Shape, volume: Volume) -> tuple[Part, ...]:
    sheet = Sheet()
    sheet.convolution("post_quant_conv", shape.latents, shape.latents, POINT, volume)
    sheet.convolution("conv_in", shape.latents, shape.first[1], CUBE, volume)
    inputs = shape.first[1]
    _middle(sheet, inputs, volume)
    last = len(shape.decoder) - 1
    for level, outputs in enumerate(reversed(shape.decoder)):
        with sheet.block(f"up_{level}"):
            for _ in range(shape.layers + 1):
                residual_block(sheet, inputs, outputs, volume, norm="rms")
                inputs = outputs
            if level < last:
                narrow = outputs if shape.is_residual else outputs // 2
                volume = _upsample(sheet, outputs, narrow, volume, over_time=shape.halves_time[last - 1 - level])
                if shape.is_residual:
                    sheet.residual(volume.positions, narrow)
                inputs = narrow
    finish(sheet, inputs, shape.outputs, volume, norm="rms")
    return sheet.parts


def _encoder(shape: Shape, volume: Volume) -> tuple[Part, ...]:
    sheet = Sheet()
    inputs = shape.first[0]
    sheet.convolution("conv_in", shape.inputs, inputs, CUBE, volume)
    for level, outputs in enumerate(shape.encoder):
        with sheet.block(f"down_{level}"):
            for _ in range(shape.layers):
                residual_block(sheet, inputs, outputs, volume, norm="rms")
                inputs = outputs
            if level < len(shape.encoder) - 1:
                volume = _downsample(sheet, outputs, volume, over_time=shape.halves_time[level])
            if shape.is_residual:
                sheet.residual(volume.positions, outputs)
    _middle(sheet, inputs, volume)
    finish(sheet, inputs, 2 * shape.latents, volume, norm="rms")
    sheet.convolution("quant_conv", 2 * shape.latents, 2 * shape.latents, POINT, volume)
    return sheet.parts


def _middle(sheet: Sheet, channels: int, volume: Volume) -> None:
    """Two residual blocks, and between them attention within each frame, whose projections are 1×1 convolutions."""
    area = volume.height * volume.width
    with sheet.block("mid"):
        residual_block(sheet, channels, channels, volume, norm="rms")
        sheet.norm("norm", "rms", channels, volume.positions)
        sheet.convolution("to_qkv", channels, 3 * channels, (1, 1), volume)
        with sheet.block("mid", volume.frames):
            sheet.attention(area, area, 1, channels)
        sheet.convolution("proj", channels, channels, (1, 1), volume)
        sheet.residual(volume.positions, channels)
        residual_block(sheet, channels, channels, volume, norm="rms")


def _upsample(sheet: Sheet, inputs: int, outputs: int, volume: Volume, *, over_time: bool) -> Volume:
    """Twice the height and the width; over time every frame but the first becomes two."""
    if over_time:
        after = volume._replace(frames=volume.frames - 1)
        sheet.convolution("time_conv", inputs, 2 * inputs, (3, 1, 1), after)
        volume = volume._replace(frames=2 * volume.frames - 1)
    volume = Volume(volume.frames, 2 * volume.height, 2 * volume.width)
    sheet.convolution("resample", inputs, outputs, (3, 3), volume)
    return volume


def _downsample(sheet: Sheet, channels: int, volume: Volume, *, over_time: bool) -> Volume:
    """Half the height and the width; over time every two frames after the first become one."""
    smaller = Volume(volume.frames, volume.height // 2, volume.width // 2)
    sheet.convolution("resample", channels, channels, (3, 3), smaller, before=volume)
    if not over_time:
        return smaller
    after = smaller._replace(frames=(volume.frames - 1) // 2)
    sheet.convolution("time_conv", channels, channels, (3, 1, 1), after, before=smaller)
    return smaller._replace(frames=1 + after.frames)
