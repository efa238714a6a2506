"""Blocks of two-dimensional convolutions that UNets and autoencoders of images share: residual blocks, resampling."""

from typing import NamedTuple

from mansard.components._sheet import Sheet

THREE = (3, 3)
ONE = (1, 1)


class Area(NamedTuple):
    """Height and width of a feature map."""

    height: int
    width: int

    @property
    def positions(self) -> int:
        return self.height * self.width

    def halved(self) -> "Area":
        """After a stride of 2 with one row and column of padding: an odd side is rounded up."""
        return Area(-(-self.height // 2), -(-self.width // 2))

    def doubled(self) -> "Area":
        return Area(2 * self.height, 2 * self.width)


def residual_block(sheet: Sheet, inputs: int, outputs: int, area: Area, *, time: int = 0, scales: bool = False) -> None:
    """Norm, SiLU and a 3×3 convolution twice; the timestep's vector of `time` elements is projected and added between.

    scales: it is projected to a scale and a shift instead.
    """
    positions = area.positions
    sheet.group_norm("norm1", inputs, positions)
    sheet.activation("silu", inputs * positions)
    sheet.convolution("conv1", inputs, outputs, THREE, area)
    if time:
        sheet.product("time_emb_proj", 1, time, outputs * (2 if scales else 1))
        sheet.residual(positions, outputs)
    sheet.group_norm("norm2", outputs, positions)
    sheet.activation("silu", outputs * positions)
    sheet.convolution("conv2", outputs, outputs, THREE, area)
    if inputs != outputs:
        sheet.convolution("conv_shortcut", inputs, outputs, ONE, area)
    sheet.residual(positions, outputs)


def downsample(sheet: Sheet, channels: int, area: Area) -> Area:
    """A 3×3 convolution with a stride of 2; the area that comes out."""
    smaller = area.halved()
    sheet.convolution("downsample", channels, channels, THREE, smaller, before=area)
    return smaller


def upsample(sheet: Sheet, channels: int, area: Area) -> None:
    """A 3×3 convolution at a size to which the nearest neighbours were repeated; the repeating moves nothing."""
    sheet.convolution("upsample", channels, channels, THREE, area)


def single_head_attention(sheet: Sheet, channels: int, area: Area, heads: int = 1) -> None:
    """Attention of every position to every other, with biases, around which a norm and a residual lie."""
    positions = area.positions
    sheet.group_norm("attention_norm", channels, positions)
    sheet.product("to_qkv", positions, channels, channels, channels, channels)
    sheet.attention(positions, positions, heads, channels // heads)
    sheet.product("to_out", positions, channels, channels)
    sheet.residual(positions, channels)
