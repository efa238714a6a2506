"""The autoencoder of HunyuanVideo: causal convolutions, attention over whole stretches, which overlap in time.

A longer video is cut into stretches that share frames; what they share is made twice. Source: Kong et al.,
arXiv:2412.03603, section 4.1.
"""

from typing import NamedTuple

from mansard.components._levels import level_widths
from mansard.components._sheet import Sheet
from mansard.components._videos import CUBE, POINT, Volume, finish, residual_block
from mansard.inputs.component import Component
from mansard.inputs.keys import Keys
from mansard.inputs.parts import Part, Sample

CLASSES = ("AutoencoderKLHunyuanVideo",)

_TEMPORAL = 4
# Frames of a stretch, and from the start of one to that of the next; each takes one frame more than its length.
_STRETCH, _STRIDE = 16, 12


class Shape(NamedTuple):
    """The sizes of an autoencoder: `widths` of its levels from the video down, and how many of them halve the sides."""

    inputs: int
    outputs: int
    latents: int
    widths: tuple[int, ...]
    layers: int
    halvings: int
    has_attention: bool

    def step(self, level: int) -> tuple[int, int]:
        """By how much a level, the first or the last alike, changes time and the sides."""
        last = len(self.widths) - 1
        return 2 if last - 2 <= level < last else 1, 2 if level < self.halvings else 1


def read(keys: Keys) -> Component:
    """An autoencoder of videos from its config."""
    widths = level_widths(keys, "block_out_channels", (128, 256, 512, 512))
    for name, kind in (("down_block_types", "HunyuanVideoDownBlock3D"), ("up_block_types", "HunyuanVideoUpBlock3D")):
        keys.texts(name, default=(kind,) * len(widths), length=len(widths), choices=(kind,))
    keys.text("act_fn", default="silu", choices=("silu",))
    spatial = keys.size("spatial_compression_ratio", default=8)
    halvings = spatial.bit_length() - 1
    keys.require(
        spatial == 1 << halvings and halvings <= len(widths), "spatial_compression_ratio",
        "must be a power of two, a level for each halving", spatial,
    )  # fmt: skip
    temporal = keys.size("temporal_compression_ratio", default=_TEMPORAL)
    keys.require(
        temporal == _TEMPORAL, "temporal_compression_ratio", f"is not supported other than {_TEMPORAL}", temporal
    )
    keys.require(len(widths) > 2, "block_out_channels", "must have three levels or more, two of which halve time")
    shape = Shape(
        inputs=keys.size("in_channels", default=3),
        outputs=keys.size("out_channels", default=3),
        latents=keys.size("latent_channels", default=16),
        widths=widths,
        layers=keys.size("layers_per_block", default=2, maximum=100),
        halvings=halvings,
        has_attention=keys.flag("mid_block_add_attention", default=True),
    )
    keys.note("stretches", f"the autoencoder works through stretches of {_STRETCH} frames that overlap by a quarter")
    return Component(
        name="vae", source=keys.source, class_name=CLASSES[0], role="autoencoder",
        parts=lambda sample: _in_stretches(shape, sample, decodes=True),
        encoder=lambda sample: _in_stretches(shape, sample, decodes=False),
        channels=shape.latents, outputs=shape.outputs, spatial=spatial, temporal=temporal,
        frames_at_once=_STRETCH // _TEMPORAL + 1,
    )  # fmt: skip


def _in_stretches(shape: Shape, sample: Sample, *, decodes: bool) -> tuple[Part, ...]:
    """The parts of every stretch; only the first brings the weights."""
    unit = _TEMPORAL if decodes else 1
    scale = 1 if decodes else 1 << shape.halvings
    frames = sample.frames if decodes else 1 + (sample.frames - 1) * _TEMPORAL
    write = _decode if decodes else _encode
    stretches = [frames]
    if frames > _STRETCH // unit:
        stretches = [min(_STRETCH // unit + 1, frames - start) for start in range(0, frames, _STRIDE // unit)]
    sheet = Sheet()
    sides = sample.height * scale, sample.width * scale
    write(sheet, shape, Volume(stretches[0], *sides))
    with sheet.again():
        for length in sorted(set(stretches[1:])):
            with sheet.block("embedding", stretches[1:].count(length)):
                write(sheet, shape, Volume(length, *sides))
    return sheet.parts


def _decode(sheet: Sheet, shape: Shape, volume: Volume) -> None:
    inputs = shape.widths[-1]
    sheet.convolution("post_quant_conv", shape.latents, shape.latents, POINT, volume)
    sheet.convolution("conv_in", shape.latents, inputs, CUBE, volume)
    _middle(sheet, shape, inputs, volume)
    for level, outputs in enumerate(reversed(shape.widths)):
        with sheet.block(f"up_{level}"):
            for _ in range(shape.layers + 1):
                residual_block(sheet, inputs, outputs, volume)
                inputs = outputs
            time, side = shape.step(level)
            if time * side > 1:
                volume = Volume(1 + (volume.frames - 1) * time, volume.height * side, volume.width * side)
                sheet.convolution("upsample", outputs, outputs, CUBE, volume)
    finish(sheet, inputs, shape.outputs, volume)


def _encode(sheet: Sheet, shape: Shape, volume: Volume) -> None:
    inputs = shape.widths[0]
    sheet.convolution("conv_in", shape.inputs, inputs, CUBE, volume)
    for level, outputs in enumerate(shape.widths):
        with sheet.block(f"down_{level}"):
            for _ in range(shape.layers):
                residual_block(sheet, inputs, outputs, volume)
                inputs = outputs
            time, side = shape.step(level)
            if time * side > 1:
                smaller = Volume(-(-volume.frames // time), -(-volume.height // side), -(-volume.width // side))
                sheet.convolution("downsample", outputs, outputs, CUBE, smaller, before=volume)
                volume = smaller
    _middle(sheet, shape, inputs, volume)
    finish(sheet, inputs, 2 * shape.latents, volume)
    sheet.convolution("quant_conv", 2 * shape.latents, 2 * shape.latents, POINT, volume)


def _middle(sheet: Sheet, shape: Shape, channels: int, volume: Volume) -> None:
    """Attention with one head between two residual blocks; the mask that hides later frames is computed with."""
    tokens = volume.positions
    with sheet.block("mid"):
        residual_block(sheet, channels, channels, volume)
        if shape.has_attention:
            sheet.group_norm("group_norm", channels, tokens)
            sheet.product("to_qkv", tokens, channels, channels, channels, channels)
            sheet.attention(tokens, tokens, 1, channels)
            sheet.product("to_out", tokens, channels, channels)
            sheet.residual(tokens, channels)
        residual_block(sheet, channels, channels, volume)
