"""Convolutions of one, two or three dimensions: plain, grouped, strided, causal and transposed."""

from mansard.inputs.parts import Convolution
from mansard.operators.cost import Op, Setting, form
from mansard.operators.step import ONE, Basis
from mansard.precision import WeightFormat, arithmetic_dtype


def convolution(part: Convolution, weights: WeightFormat, setting: Setting) -> Op:
    """One convolution of every item: the kernel's products at each position of its output.

    FLOPs 2·P·K·(C_in/groups)·C_out with K the kernel's elements and P the positions of the output, those at the edges
    counted whole: that is what kernels do, and what a trace shows. Causal ones differ in where they are padded alone.
    Transposed: P are the positions of the input. Bytes: the weights, and input and output unless they stay on the chip.
    """
    moved = 0 if setting.fusion == "full" else part.moved
    bias = part.outputs if part.bias else 0
    kernel = part.elements // (part.inputs // part.groups * part.outputs)
    stored = weights.matrix_bytes(part.elements // part.outputs, part.outputs) + setting.vector_bytes(bias)
    positions = Basis("fixed", fixed=part.positions)
    return Op(
        name=part.name,
        kind="convolution",
        group=part.group,
        dtype=arithmetic_dtype(weights, setting.activation_dtype),
        symbols=(
            ("C_in", part.inputs // part.groups, "input channels, of one group"),
            ("C_out", part.outputs, "output channels"),
            ("K", kernel, f"elements of the kernel, {'×'.join(map(str, part.kernel))}"),
            ("w", weights.bits_per_weight / 8, f"bytes per weight, {weights.name}"),
        ),
        flops=form(2 * part.elements, positions, "2·K·C_in·C_out"),
        vector_flops=form(bias, Basis("fixed", fixed=part.after), "C_out"),
        weight_bytes=form(stored, ONE, "K·C_in·C_out·w" + (" + C_out·a" if bias else "")),
        activation_bytes=form(setting.activation_bytes(moved), Basis("fixed", fixed=1), "in + out"),
    )
