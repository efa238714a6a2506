"""What an operator costs: linear forms over a step's sums, one for each kind of work and of bytes."""

from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from mansard.algebra import Numeric
from mansard.operators.step import Basis, Step, last_of

if TYPE_CHECKING:
    from fractions import Fraction


class Term(NamedTuple):
    """coefficient · basis; `formula` writes the coefficient in the operator's own symbols.

    A fraction is a share of bytes that are whole for all layers together.
    """

    coefficient: "int | float | Fraction"
    basis: Basis
    formula: str


Form: TypeAlias = tuple[Term, ...]


class Cost(NamedTuple):
    """Work and bytes of one operator, or of many: costs add, and multiply by a count."""

    flops: Numeric = 0  # of the matrix units; a multiply-add is 2
    vector_flops: Numeric = 0  # of everything else: softmax, norms, activations, rotations, routing
    weight_bytes: Numeric = 0
    cache_read_bytes: Numeric = 0
    cache_write_bytes: Numeric = 0
    activation_bytes: Numeric = 0

    @property
    def bytes(self) -> Numeric:
        """Bytes to and from device memory."""
        return self.weight_bytes + self.cache_read_bytes + self.cache_write_bytes + self.activation_bytes


class Op(NamedTuple):
    """`count` alike operators of a step. The forms are those of one; `symbols` are what its formulas are written in.

    kind: what a fit of efficiencies groups by ("linear", "experts", "attention", "norm", …). group: the part of the
    model ("attention", "feed_forward", "embedding", "head"). dtype: in which the matrix work is done.
    """

    name: str
    kind: str
    group: str
    dtype: str
    symbols: tuple[tuple[str, int | float, str], ...]  # (symbol, value, what it is)
    flops: Form = ()
    vector_flops: Form = ()
    weight_bytes: Form = ()
    cache_read_bytes: Form = ()
    cache_write_bytes: Form = ()
    activation_bytes: Form = ()
    count: int = 1  # type: ignore[assignment]  # a tuple's own count() is not missed

    @property
    def forms(self) -> tuple[Form, ...]:
        """The six forms in the order of `Cost`."""
        return (
            self.flops,
            self.vector_flops,
            self.weight_bytes,
            self.cache_read_bytes,
            self.cache_write_bytes,
            self.activation_bytes,
        )

    def at_last(self) -> "Op":
        """The same operator for the last position of each sequence alone."""
        flops, vector, weights, read, written, moved = (
            tuple(term._replace(basis=last_of(term.basis)) for term in one) for one in self.forms
        )
        return self._replace(
            flops=flops, vector_flops=vector, weight_bytes=weights, cache_read_bytes=read,
            cache_write_bytes=written, activation_bytes=moved,
        )  # fmt: skip

    def cost(self, step: Step) -> Cost:
        """All of them in a step: each form's terms with their sums put in."""
        sums = (sum(term.coefficient * step.value(term.basis) for term in one) * self.count for one in self.forms)
        return Cost(*sums)

    def times(self, count: int) -> "Op":
        """The same operator, `count` times as often."""
        return self._replace(count=self.count * count)


class Setting(NamedTuple):
    """What an operator needs to know of how it is run: widths of activations and cache, and what the engine fuses.

    fusion: "none" (every operator reads and writes), "usual" (norm with residual, activation with multiply, rotary with
    append, attention in one kernel), "full" (activations never leave the chip).
    """

    activation_dtype: str
    activation_bits: int
    cache_bits: int
    fusion: str
    attention: str  # "fused" | "standard" for heads; "absorbed" | "expanded" for latent attention
    even_routing: bool = True
    norm_bits: "int | Fraction" = 16  # norms, biases and other vectors stay in the model's dtype
    state_bits: int = 32  # the state of recurrent layers

    def activation_bytes(self, elements: int) -> int:
        """Bytes of so many activations, whole bytes."""
        return -(-elements * self.activation_bits // 8)

    def vector_bytes(self, elements: int) -> int:
        """Bytes of so many elements of norms and biases."""
        return -(-elements * self.norm_bits // 8)


def whole(value: "float | Fraction") -> int | float:
    """A fraction as a number that is quick to count with: whole if it is, else rounded as any float."""
    if isinstance(value, (int, float)):
        return value
    return value.numerator if value.denominator == 1 else float(value)


def form(coefficient: "float | Fraction", basis: Basis, formula: str) -> Form:
    """A form of one term; empty if the coefficient is 0."""
    return (Term(coefficient, basis, formula),) if coefficient else ()
