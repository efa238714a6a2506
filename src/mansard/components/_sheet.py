"""A sheet on which a family writes its parts in the order in which they run; blocks that repeat are written once."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from math import prod

from mansard.inputs.parts import Attended, Convolution, Normalised, Part, Pointwise, Product
from mansard.inputs.weights import Matrix, Norm
from mansard.operators.elementwise import ACTIVATION_FLOPS, GELU_FLOPS, ROTARY_FLOPS


class Sheet:
    """Collects parts. Sizes are of one item; `block` says to which part of the component they belong, and how often."""

    def __init__(self) -> None:
        self._parts: list[Part] = []
        self._group = "embedding"
        self._count = 1
        self._stored = True

    @property
    def parts(self) -> tuple[Part, ...]:
        """What was written so far."""
        return tuple(self._parts)

    @contextmanager
    def block(self, group: str, count: int = 1) -> Iterator[None]:
        """What is written inside belongs to a group, and is there `count` times."""
        before = self._group, self._count
        self._group, self._count = group, self._count * count
        yield
        self._group, self._count = before

    @contextmanager
    def again(self) -> Iterator[None]:
        """What is written inside runs with weights that are on the sheet already."""
        self._stored = False
        yield
        self._stored = True

    def product(self, name: str, rows: int, inputs: int, *outputs: int, bias: bool = True) -> None:
        """[rows, inputs]·[inputs, outputs], for several outputs of the same input at once."""
        matrices = tuple(Matrix(name, inputs, columns, bias) for columns in outputs)
        self._parts.append(Product(name, self._group, matrices, rows, self._count, self._stored))

    def convolution(
        self,
        name: str,
        inputs: int,
        outputs: int,
        kernel: Sequence[int],
        size: Sequence[int],
        *,
        before: Sequence[int] | None = None,
        groups: int = 1,
        bias: bool = True,
        transposed: bool = False,
    ) -> None:
        """A convolution to an output of `size` from an input of size `before`, by default the same.

        A transposed one is applied once at each position of its input.
        """
        after, came = prod(size), prod(size if before is None else before)
        positions = came if transposed else after
        self._parts.append(
            Convolution(
                name, self._group, inputs, outputs, tuple(kernel), positions, came, after, groups, bias, self._count,
                self._stored,
            )
        )  # fmt: skip

    def attention(
        self,
        queries: int,
        keys: int,
        heads: int,
        head_dim: int,
        *,
        kv_heads: int | None = None,
        name: str = "attention",
    ) -> None:
        """Every query attends to every key."""
        self._parts.append(
            Attended(name, self._group, heads, head_dim, queries, keys, kv_heads or heads, False, self._count)
        )

    def linear_attention(self, tokens: int, heads: int, head_dim: int) -> None:
        """Keys and values are multiplied first, and the queries with their product."""
        self._parts.append(
            Attended("linear_attention", self._group, heads, head_dim, tokens, tokens, heads, True, self._count)
        )

    def norm(self, name: str, kind: str, size: int, rows: int, repeats: int = 1) -> None:
        """A norm of `rows` vectors of `size`, `repeats` of them with one weight."""
        norm = Norm(kind, size, repeats)  # type: ignore[arg-type]
        self._parts.append(Normalised(name, self._group, norm, rows, self._count, self._stored))

    def group_norm(self, name: str, channels: int, positions: int) -> None:
        """A group norm, which has a weight and a bias for each channel: as much work an element as a layer norm."""
        self.norm(name, "layer", channels, positions)

    def pointwise(self, name: str, elements: int, flops: int, learned: int = 0) -> None:
        """So many vector FLOPs for each element."""
        self._parts.append(Pointwise(name, self._group, elements, flops, learned, self._count, self._stored))

    def activation(self, kind: str, elements: int, *, gated: bool = False) -> None:
        """A non-linearity of each element, times a gate."""
        self.pointwise("activation", elements, ACTIVATION_FLOPS.get(kind, GELU_FLOPS) + gated)

    def rotary(self, tokens: int, width: int) -> None:
        """Rotary positions of queries and keys of `width` elements each."""
        self.pointwise("rotary", 2 * tokens * width, ROTARY_FLOPS)

    def modulated(self, tokens: int, width: int) -> None:
        """x·(1 + scale) + shift."""
        self.pointwise("modulate", tokens * width, 2)

    def gated_residual(self, tokens: int, width: int) -> None:
        """X + gate·y."""
        self.pointwise("gated_residual", tokens * width, 2)

    def residual(self, tokens: int, width: int) -> None:
        """X + y."""
        self.pointwise("residual", tokens * width, 1)

    def learned(self, name: str, elements: int, used: int | None = None) -> None:
        """A table or vectors that are added: one FLOP for each element that is used."""
        self.pointwise(name, elements if used is None else used, 1, elements)

    def vector_mlp(self, name: str, inputs: int, hidden: int, outputs: int | None = None, rows: int = 1) -> None:
        """Two products with a SiLU between them, for one vector an item: timesteps, guidance, pooled text."""
        self.product(f"{name}.linear_1", rows, inputs, hidden)
        self.activation("silu", rows * hidden)
        self.product(f"{name}.linear_2", rows, hidden, outputs or hidden)
