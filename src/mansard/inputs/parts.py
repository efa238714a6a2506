"""What a diffusion component is made of at one size: products, convolutions, attention, norms, work on elements."""

from math import prod
from typing import NamedTuple, TypeAlias

from mansard.inputs.weights import Matrix, Norm


class Sample(NamedTuple):
    """One item that a component works on: latent frames, height and width, and tokens of the text.

    `timesteps`: 1, or as many as there are latent tokens where each has its own. `pixels`: of the image that is made.
    """

    height: int
    width: int
    frames: int = 1
    text: int = 0
    timesteps: int = 1


class Product(NamedTuple):
    """Matrix products [rows, K]·[K, N] of one input, `count` times; `stored` is False where weights serve again."""

    name: str
    group: str
    matrices: tuple[Matrix, ...]
    rows: int
    count: int = 1  # type: ignore[assignment]  # a tuple's own count() is not missed
    stored: bool = True

    @property
    def parameters(self) -> int:
        return sum(matrix.parameters for matrix in self.matrices) if self.stored else 0

    @property
    def moved(self) -> int:
        """Elements in and out."""
        return self.rows * (self.matrices[0].rows + sum(matrix.columns for matrix in self.matrices))


class Convolution(NamedTuple):
    """A convolution of any rank: `kernel` over `inputs`/`groups` channels, at `positions` of its output.

    A transposed one is applied at positions of its input. before, after: positions that are read and written.
    """

    name: str
    group: str
    inputs: int
    outputs: int
    kernel: tuple[int, ...]
    positions: int
    before: int
    after: int
    groups: int = 1
    bias: bool = True
    count: int = 1  # type: ignore[assignment]
    stored: bool = True

    @property
    def elements(self) -> int:
        return self.inputs // self.groups * self.outputs * prod(self.kernel)

    @property
    def parameters(self) -> int:
        return self.elements + (self.outputs if self.bias else 0) if self.stored else 0

    @property
    def moved(self) -> int:
        """Elements in and out."""
        return self.before * self.inputs + self.after * self.outputs


class Attended(NamedTuple):
    """Attention of `queries` to `keys` without a mask, `count` times: over all tokens, or within windows.

    linear: without a softmax, keys and values multiplied first, with a column of ones that gives the normaliser.
    """

    name: str
    group: str
    heads: int
    head_dim: int
    queries: int
    keys: int
    kv_heads: int
    linear: bool = False
    count: int = 1  # type: ignore[assignment]

    @property
    def parameters(self) -> int:
        return 0

    @property
    def moved(self) -> int:
        """Elements of queries, keys, values and output."""
        return 2 * (self.queries * self.heads + self.keys * self.kv_heads) * self.head_dim


class Normalised(NamedTuple):
    """A norm of each of so many vectors."""

    name: str
    group: str
    norm: Norm
    rows: int
    count: int = 1  # type: ignore[assignment]
    stored: bool = True

    @property
    def parameters(self) -> int:
        return self.norm.parameters if self.stored else 0

    @property
    def moved(self) -> int:
        """Elements in and out."""
        return 2 * self.rows * self.norm.size * self.norm.repeats


class Pointwise(NamedTuple):
    """Work on each element by itself, `flops` each: activations, gates, sums; `learned` elements are read with it."""

    name: str
    group: str
    elements: int
    flops: int
    learned: int = 0
    count: int = 1  # type: ignore[assignment]
    stored: bool = True

    @property
    def parameters(self) -> int:
        return self.learned if self.stored else 0

    @property
    def moved(self) -> int:
        """Elements in and out."""
        return 2 * self.elements


Part: TypeAlias = Product | Convolution | Attended | Normalised | Pointwise
