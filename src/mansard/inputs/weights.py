"""The weights that a model is made of: matrices and normalisations, each stated once."""

from typing import Literal, NamedTuple


class Matrix(NamedTuple):
    """A weight matrix [rows = inputs, columns = outputs], with a bias of `columns` elements if `bias`."""

    name: str
    rows: int
    columns: int
    bias: bool = False

    @property
    def elements(self) -> int:
        return self.rows * self.columns

    @property
    def parameters(self) -> int:
        return self.rows * self.columns + (self.columns if self.bias else 0)


class Norm(NamedTuple):
    """A normalisation: `rms` (a weight), `layer` (a weight and a bias), `layer-no-bias`, or `none` (no parameters).

    `size` is the width of its weight; it is applied `repeats` times per token with the same weight (per head).
    """

    kind: Literal["rms", "layer", "layer-no-bias", "none"]
    size: int
    repeats: int = 1

    @property
    def parameters(self) -> int:
        return {"rms": 1, "layer": 2, "layer-no-bias": 1, "none": 0}[self.kind] * self.size
