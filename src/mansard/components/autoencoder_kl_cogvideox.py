"""The autoencoder of CogVideoX: causal convolutions; in the decoder, norms that the latents scale and shift.

It goes through a few frames at a time and keeps what the next ones need; the first turn takes the frames that are over.
Source: Yang et al., arXiv:2408.06072, section 2.1.
"""

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

from mansard.components._levels import level_widths
from mansard.components._sheet import Sheet
from mansard.components._videos import CUBE, POINT, Volume, finish, residual_block
from mansard.inputs.component import Component
from mansard.inputs.keys import Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("AutoencoderKLCogVideoX",)

_LATENTS_AT_ONCE, _FRAMES_AT_ONCE = 2, 8
Turns: TypeAlias = tuple[int, ...]  # frames of each turn


class Shape(NamedTuple):
    """The sizes of an autoencoder: `widths` of its levels from the video down, and how many of them halve time."""

    inputs: int
    outputs: int
    latents: int
    widths: tuple[int, ...]
    layers: int
    halvings: int

    @property
    def factor(self) -> int:
        return 1 << (len(self.widths) - 1)


def read(keys: Keys) -> Component:
    """An autoencoder of videos from its config."""
    widths = level_widths(keys, "block_out_channels", (128, 256, 256, 512))
    for name, kind in (("down_block_types", "CogVideoXDownBlock3D"), ("up_block_types", "CogVideoXUpBlock3D")):
        keys.texts(name, default=(kind,) * len(widths), length=len(widths), choices=(kind,))
    keys.text("act_fn", default="silu", choices=("silu",))
    for name in ("use_quant_conv", "use_post_quant_conv"):
        keys.require(not keys.flag(name, default=False), name, "is not supported yet", True)
    temporal = keys.size("temporal_compression_ratio", default=4)
    halvings = temporal.bit_length() - 1
    keys.require(
        temporal == 1 << halvings and halvings < len(widths), "temporal_compression_ratio",
        "must be a power of two, a level for each halving", temporal,
    )  # fmt: skip
    shape = Shape(
        inputs=keys.size("in_channels", default=3),
        outputs=keys.size("out_channels", default=3),
        latents=keys.size("latent_channels", default=16),
        widths=widths,
        layers=keys.size("layers_per_block", default=3, maximum=100),
        halvings=halvings,
    )
    return Component(
        name="vae", source=keys.source, class_name=CLASSES[0], role="autoencoder",
        parts=lambda sample: _decoder(shape, sample), encoder=lambda sample: _encoder(shape, sample, temporal),
        channels=shape.latents, outputs=shape.outputs, spatial=shape.factor, temporal=temporal,
        frames_at_once=_LATENTS_AT_ONCE + 1,
    )  # fmt: skip


def _turns(frames: int, at_once: int) -> Turns:
    """As many frames at once, and the rest of the division with the first.

    >>> _turns(13, 2)
    (3, 2, 2, 2, 2, 2)
    """
    count = max(frames // at_once, 1)
    return (frames - (count - 1) * at_once, *(at_once,) * (count - 1))


def _doubled(frames: int) -> int:
    """A first frame that is over stays one."""
    return 2 * frames - frames % 2


def _halved(frames: int) -> int:
    return -(-frames // 2)


def _decoder(shape: Shape, sample: Sample) -> tuple[Part, ...]:
    sheet, turns = Sheet(), _turns(sample.frames, _LATENTS_AT_ONCE)
    volume = Volume(sum(turns), sample.height, sample.width)
    inputs = shape.widths[-1]
    sheet.convolution("conv_in", shape.latents, inputs, CUBE, volume)
    with sheet.block("mid"):
        for _ in range(2):
            _guided_block(sheet, shape, inputs, inputs, volume)
    for level, outputs in enumerate(reversed(shape.widths)):
        with sheet.block(f"up_{level}"):
            for _ in range(shape.layers + 1):
                _guided_block(sheet, shape, inputs, outputs, volume)
                inputs = outputs
            if level < len(shape.widths) - 1:
                turns = _over_time(turns, _doubled, shape, level)
                volume = Volume(sum(turns), 2 * volume.height, 2 * volume.width)
                sheet.convolution("upsample", outputs, outputs, (3, 3), volume)
    with sheet.block("output"):
        _guided(sheet, shape, inputs, volume)
    finish(sheet, inputs, shape.outputs, volume)
    return sheet.parts


def _encoder(shape: Shape, sample: Sample, temporal: int) -> tuple[Part, ...]:
    sheet, turns = Sheet(), _turns(1 + (sample.frames - 1) * temporal, _FRAMES_AT_ONCE)
    volume = Volume(sum(turns), sample.height * shape.factor, sample.width * shape.factor)
    inputs = shape.widths[0]
    sheet.convolution("conv_in", shape.inputs, inputs, CUBE, volume)
    for level, outputs in enumerate(shape.widths):
        with sheet.block(f"down_{level}"):
            for _ in range(shape.layers):
                residual_block(sheet, inputs, outputs, volume)
                inputs = outputs
            if level < len(shape.widths) - 1:
                turns = _over_time(turns, _halved, shape, level)
                smaller = Volume(sum(turns), volume.height // 2, volume.width // 2)
                sheet.convolution("downsample", outputs, outputs, (3, 3), smaller, before=volume)
                volume = smaller
    with sheet.block("mid"):
        for _ in range(2):
            residual_block(sheet, inputs, inputs, volume)
    finish(sheet, inputs, 2 * shape.latents, volume)
    return sheet.parts


def _over_time(turns: Turns, change: Callable[[int], int], shape: Shape, level: int) -> Turns:
    return tuple(map(change, turns)) if level < shape.halvings else turns


def _guided_block(sheet: Sheet, shape: Shape, inputs: int, outputs: int, volume: Volume) -> None:
    _guided(sheet, shape, inputs, volume)
    _guided(sheet, shape, outputs, volume)
    residual_block(sheet, inputs, outputs, volume)


def _guided(sheet: Sheet, shape: Shape, channels: int, volume: Volume) -> None:
    """What makes a norm's scale and shift of the latents, brought to the size of the features."""
    for name in ("conv_y", "conv_b"):
        sheet.convolution(f"norm.{name}", shape.latents, channels, POINT, volume)
    sheet.modulated(volume.positions, channels)
