"""What a number costs to store and in which dtype it is multiplied: dtypes, and weight formats with their scales."""

from math import ceil
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from fractions import Fraction  # only files that store several types need it

DTYPE_BITS: dict[str, int] = {
    "fp64": 64,
    "fp32": 32,
    "tf32": 32,  # stored as fp32; only the multiplication is shorter
    "bf16": 16,
    "fp16": 16,
    "fp8": 8,
    "int8": 8,
    "fp6": 6,
    "fp4": 4,
    "int4": 4,
}

DTYPE_ALIASES: dict[str, str] = {
    "float64": "fp64",
    "double": "fp64",
    "float32": "fp32",
    "float": "fp32",
    "bfloat16": "bf16",
    "float16": "fp16",
    "half": "fp16",
    "float8_e4m3fn": "fp8",
    "float8_e5m2": "fp8",
    "fp8_e4m3": "fp8",
    "fp8_e5m2": "fp8",
    "e4m3": "fp8",
    "e5m2": "fp8",
}


def dtype_name(text: str) -> str | None:
    """The dtype that a spelling means (`bfloat16`, `torch.bfloat16`, `BF16` are `bf16`), or None if it is not known."""
    folded = text.strip().lower().removeprefix("torch.")
    folded = DTYPE_ALIASES.get(folded, folded)
    return folded if folded in DTYPE_BITS else None


class WeightFormat(NamedTuple):
    """How the elements of a weight matrix are stored, and in which dtype they are multiplied.

    Bits are per element; `group_size` elements along the input dimension share one scale (and one zero point);
    `block` is a (rows, columns) tile that shares one scale instead, with partial tiles at the edges counted whole.
    `row_bits` are kept for each input (the group that it belongs to, a scale), `column_bits` for each output beside
    what `per_column_scale` says, `tensor_bits` once for the matrix (a scale of the scales, one of the inputs).
    Bits are a fraction where they are the mean of what a file stores, scales included.
    """

    name: str
    bits: "int | Fraction"
    dtype: str  # the dtype of the arithmetic when the activations are as wide: a weight-only format follows them
    group_size: int | None = None
    block: tuple[int, int] | None = None
    per_column_scale: bool = False
    scale_bits: float = 0  # a fraction where scales are themselves scaled
    zero_bits: int = 0
    weight_only: bool = False
    row_bits: int = 0
    column_bits: int = 0
    tensor_bits: int = 0

    @property
    def bits_per_weight(self) -> float:
        """Bits per element with scales and zero points of groups and blocks, of a matrix without ragged edges.

        What is kept once for a row, a column or a tensor depends on the matrix: `matrix_bytes` counts it.
        """
        shared = self.group_size or (self.block[0] * self.block[1] if self.block else 0)
        bits = self.bits if isinstance(self.bits, int) else float(self.bits)
        return bits + ((self.scale_bits + self.zero_bits) / shared if shared else 0)

    def share_bytes(self, rows: int, columns: int) -> "int | Fraction":
        """Bytes of a matrix as a share of its part: of a mean format a fraction, whose sum over the part is whole."""
        if isinstance(self.bits, int):
            return self.matrix_bytes(rows, columns)
        share = rows * columns * self.bits / 8
        return share.numerator if share.denominator == 1 else share

    def matrix_bytes(self, rows: int, columns: int) -> int:
        """Bytes of a (rows = inputs, columns = outputs) matrix: elements, scales and zero points, in whole bytes.

        >>> WEIGHT_FORMATS["int4-g128"].matrix_bytes(4096, 4096), 4096 * 4096 // 2 + 4096 // 128 * 4096 * (16 + 4) // 8
        (8716288, 8716288)
        >>> WEIGHT_FORMATS["fp8-block128"].matrix_bytes(7168, 576), 7168 * 576 + 56 * 5 * 4  # 4.5 tiles, counted as 5
        (4129888, 4129888)
        """
        scales = 0
        if self.block:
            scales = ceil(rows / self.block[0]) * ceil(columns / self.block[1])
        elif self.group_size:
            scales = ceil(rows / self.group_size) * columns
        elif self.per_column_scale:
            scales = columns
        bits = rows * columns * self.bits + scales * (self.scale_bits + self.zero_bits)
        bits += rows * self.row_bits + columns * self.column_bits + self.tensor_bits
        return int(-(-bits // 8))


def _plain(dtype: str) -> WeightFormat:
    return WeightFormat(name=dtype, bits=DTYPE_BITS[dtype], dtype=dtype)


WEIGHT_FORMATS: dict[str, WeightFormat] = {
    **{dtype: _plain(dtype) for dtype in ("fp32", "bf16", "fp16")},
    # One scale a tensor, 4 bytes: not counted.
    "fp8": WeightFormat(name="fp8", bits=8, dtype="fp8"),
    "int8": WeightFormat(name="int8", bits=8, dtype="int8"),
    "fp8-weights": WeightFormat(name="fp8-weights", bits=8, dtype="fp8", weight_only=True),
    "int8-weights": WeightFormat(name="int8-weights", bits=8, dtype="int8", weight_only=True),
    # DeepSeek-V3's checkpoints: one fp32 scale for each tile of 128 x 128.
    "fp8-block128": WeightFormat(name="fp8-block128", bits=8, dtype="fp8", block=(128, 128), scale_bits=32),
    # AWQ and GPTQ as they are usually made: groups of 128 inputs, a 16-bit scale and a 4-bit zero point each.
    "int4-g128": WeightFormat(
        name="int4-g128", bits=4, dtype="int4", group_size=128, scale_bits=16, zero_bits=4, weight_only=True
    ),
    "int4-g128-sym": WeightFormat(
        name="int4-g128-sym", bits=4, dtype="int4", group_size=128, scale_bits=16, weight_only=True
    ),
    # bitsandbytes: 64 elements share one fp32 scale.
    "nf4": WeightFormat(name="nf4", bits=4, dtype="int4", group_size=64, scale_bits=32, weight_only=True),
    # NVIDIA's: 16 elements share an fp8 scale, and a tensor one fp32 scale, which is not counted; products are in fp4.
    "nvfp4": WeightFormat(name="nvfp4", bits=4, dtype="fp4", group_size=16, scale_bits=8),
    # OCP microscaling: 32 elements share one 8-bit exponent.
    "mxfp4": WeightFormat(name="mxfp4", bits=4, dtype="fp4", group_size=32, scale_bits=8, weight_only=True),
}

WEIGHT_FORMAT_ALIASES: dict[str, str] = {
    **{spelling: name for spelling, name in DTYPE_ALIASES.items() if name in WEIGHT_FORMATS},
    "int4": "int4-g128",
    "w4a16": "int4-g128",
    "awq": "int4-g128",
    "gptq": "int4-g128",
    "w8a16": "int8-weights",
    "w8a8": "int8",
    "16": "bf16",
    "8": "int8-weights",
    "4": "int4-g128",
}


def weight_format(text: str) -> WeightFormat | None:
    """The weight format of a name or a common spelling (`int4`, `awq`, `bfloat16`), or None if it is not known."""
    folded = text.strip().lower().removeprefix("torch.")
    return WEIGHT_FORMATS.get(WEIGHT_FORMAT_ALIASES.get(folded, folded))


def arithmetic_dtype(weights: WeightFormat, activations: str) -> str:
    """The dtype in which a product is computed.

    Weight-only formats are widened to the activations' dtype before they are multiplied: they move the memory clock and
    leave the compute clock where it was. With other short formats the activations are quantised on the fly; two wide
    ones meet in the wider.
    """
    if weights.weight_only:
        return activations
    if DTYPE_BITS[weights.dtype] < 16 or DTYPE_BITS[weights.dtype] > DTYPE_BITS[activations]:
        return weights.dtype
    return activations if DTYPE_BITS[activations] >= 16 else weights.dtype
