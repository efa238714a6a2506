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
    Source: arXiv:1603.07285.

    512 channels to 512 with a kernel of 3 × 3, on 64 × 64 latents:

    >>> from mansard.operators.step import Step
    >>> from mansard.precision import WEIGHT_FORMATS
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> part = Convolution("conv", "mid", 512, 512, (3, 3), positions=4096, before=4096, after=4096, bias=False)
    >>> cost = convolution(part, WEIGHT_FORMATS["bf16"], setting).cost(Step(batch=2, new=4096, cached=0))
    >>> cost.flops, 2 * 2 * 4096 * 3 * 3 * 512 * 512
    (38654705664, 38654705664)
    >>> cost.weight_bytes, 3 * 3 * 512 * 512 * 2
    (4718592, 4718592)
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
