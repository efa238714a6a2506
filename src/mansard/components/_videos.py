"""Blocks of three-dimensional convolutions that autoencoders of videos share; causal ones differ in padding alone."""

from typing import NamedTuple

from mansard.components._sheet import Sheet

CUBE = (3, 3, 3)
POINT = (1, 1, 1)


class Volume(NamedTuple):
    """Frames, height and width of features."""

    frames: int
    height: int
    width: int

    @property
    def positions(self) -> int:
        return self.frames * self.height * self.width


def residual_block(sheet: Sheet, inputs: int, outputs: int, volume: Volume, *, norm: str = "layer") -> None:
    """Norm, SiLU and a 3×3×3 convolution twice; norm: "layer" for group norms, "rms" without a bias."""
    positions = volume.positions
    sheet.norm("norm1", norm, inputs, positions)
    sheet.activation("silu", inputs * positions)
    sheet.convolution("conv1", inputs, outputs, CUBE, volume)
    sheet.norm("norm2", norm, outputs, positions)
    sheet.activation("silu", outputs * positions)
    sheet.convolution("conv2", outputs, outputs, CUBE, volume)
    if inputs != outputs:
        sheet.convolution("conv_shortcut", inputs, outputs, POINT, volume)
    sheet.residual(positions, outputs)


def finish(sheet: Sheet, inputs: int, outputs: int, volume: Volume, *, norm: str = "layer") -> None:
    """The last norm, SiLU and a 3×3×3 convolution."""
    with sheet.block("output"):
        sheet.norm("norm_out", norm, inputs, volume.positions)
        sheet.activation("silu", inputs * volume.positions)
        sheet.convolution("conv_out", inputs, outputs, CUBE, volume)
