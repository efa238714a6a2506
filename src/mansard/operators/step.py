"""The sums of one forward step, from which every operator's cost follows linearly."""

from collections.abc import Callable
from typing import NamedTuple

from mansard.algebra import Numeric


class Basis(NamedTuple):
    """One sum of a step. `window` and `chunk` limit what a query sees; `experts` and `per_token` describe a router.

    `times` and `per`: so many for every so many tokens, or whatever the step (rows of a table). `fixed`: so many for
    each sequence, or at most. `last`: of the last position of each sequence alone.
    """

    kind: str
    window: int | None = None
    chunk: int | None = None
    experts: int = 0
    per_token: int = 0
    times: int = 1
    per: int = 1
    fixed: int = 0
    last: bool = False


ONE = Basis("one")  # what is done once, whatever the step: reading the weights
TOKENS = Basis("tokens")  # T = b·n
SAMPLED = Basis("sampled")  # positions whose logits are computed: one for each sequence
SEQUENCES = Basis("sequences")  # b: whose state is written
RESUMED = Basis("resumed")  # b where something came before: whose state is read
SOURCE = Basis("source")  # tokens of the encoder's output that cross-attention reads: b·S


class Step(NamedTuple):
    """A batch of `batch` sequences with `new` tokens each, behind `cached` tokens that are in the cache already.

    source: tokens of an encoder's output that each sequence attends to. grid: rows and columns of a sequence that is an
    image. before: how many of the cached tokens the same step has made, which need not be read. Ints give exact ints;
    NumPy arrays (float64) broadcast.
    """

    batch: Numeric
    new: Numeric
    cached: Numeric
    source: Numeric = 0
    grid: tuple[int, int] = (0, 0)
    before: Numeric = 0

    def value(self, basis: Basis) -> Numeric:
        """The value of one sum."""
        return _SUMS[basis.kind](self.at_last() if basis.last else self, basis)

    def at_last(self) -> "Step":
        """The step of the last position of each sequence, behind all others."""
        return self._replace(new=1, cached=self.cached + self.new - 1, before=self.new - 1)


def last_of(basis: Basis) -> Basis:
    """The same sum for the last position of each sequence alone, where it depends on how many there are."""
    if basis.kind == "tokens":
        return SAMPLED
    is_whole_read = basis.kind == "reads" and basis.window is None and basis.chunk is None
    return basis if is_whole_read or basis.kind in _OF_SEQUENCES else basis._replace(last=True)


def attended_pairs(new: Numeric, cached: Numeric, window: int | None = None, chunk: int | None = None) -> Numeric:
    """Query-key pairs of one sequence under a causal mask: each query sees the cached tokens, those before it, itself.

    Whole: n·c + n(n+1)/2. Window W: with m = max(0, min(n, W - c)), m·c + m(m+1)/2 + (n - m)·W. Chunks of A: the sum
    over the queries of ((c + i - 1) mod A + 1).

    >>> attended_pairs(1000, 3500, window=4096), attended_pairs(1000, 8000, chunk=8192)
    (3918690, 1881364)
    """
    if chunk is not None:
        return _pairs_before(cached + new, chunk) - _pairs_before(cached, chunk)
    if window is None:
        return new * cached + _triangle(new)
    growing = _clip(window - cached, new)
    return growing * cached + _triangle(growing) + (new - growing) * window


def pairs_both_ways(new: Numeric, window: int | None = None, chunk: int | None = None) -> Numeric:
    """Query-key pairs of one sequence without a mask: n²; with a window W, the keys within (W - 1)/2 on both sides.

    Chunks of A see each other only: ⌊n/A⌋·A² + (n mod A)².

    >>> pairs_both_ways(197), pairs_both_ways(10, window=5), pairs_both_ways(10, chunk=4)
    (38809, 44, 36)
    """
    if chunk is not None:
        return new // chunk * chunk * chunk + (new % chunk) ** 2
    if window is None:
        return new * new
    reach = _clip((window - 1) // 2, new - 1)  # keys on each side
    return new * (2 * reach + 1) - reach * (reach + 1)


def pairs_in_squares(rows: int, columns: int, side: int) -> int:
    """Query-key pairs of an image whose squares of `side` × `side` see themselves only, those at the edges cut off.

    A square of a rows and b columns has (a·b)² pairs, so that all have (Σ a²)·(Σ b²).

    >>> pairs_in_squares(4, 6, side=4)
    320
    """
    return int(pairs_both_ways(rows, chunk=side) * pairs_both_ways(columns, chunk=side))


def cached_tokens_read(cached: Numeric, window: int | None = None, chunk: int | None = None) -> Numeric:
    """Cached tokens of one sequence that a step must read: all, the last W - 1, or those of the open chunk."""
    if chunk is not None:
        return cached % chunk
    return cached if window is None else _clip(cached, window - 1)


def cached_tokens_kept(context: Numeric, window: int | None = None, chunk: int | None = None) -> Numeric:
    """Tokens of one sequence of `context` tokens that a layer must keep: all, or no more than its window or chunk."""
    limit = window if chunk is None else chunk
    return context if limit is None else _clip(context, limit)


def distinct_experts(experts: int, per_token: int, tokens: Numeric) -> Numeric:
    """Experts that T tokens touch, expected for even and independent routing: E·(1 - (1 - k/E)^T).

    >>> distinct_experts(8, 2, 1), distinct_experts(8, 2, 2), round(distinct_experts(256, 8, 32), 4)
    (2, 3.5, 163.3138)
    """
    if isinstance(tokens, int) and tokens <= 1:
        return per_token * tokens
    return experts * (1 - (1 - per_token / experts) ** tokens)


def _triangle(n: Numeric) -> Numeric:
    return n * (n + 1) // 2


def _pairs_before(position: Numeric, chunk: int) -> Numeric:
    full, rest = position // chunk, position % chunk
    return full * _triangle(chunk) + _triangle(rest)


def _clip(value: Numeric, upper: Numeric) -> Numeric:
    """max(0, min(value, upper)), for numbers and arrays."""
    if isinstance(value, (int, float)) and isinstance(upper, (int, float)):
        return max(0, min(value, upper))
    import numpy as np

    return np.clip(value, 0, upper)


def _pairs(step: Step, basis: Basis) -> Numeric:
    return step.batch * attended_pairs(step.new, step.cached, basis.window, basis.chunk)


def _both_ways(step: Step, basis: Basis) -> Numeric:
    return step.batch * pairs_both_ways(step.new, basis.window, basis.chunk)


def _reads(step: Step, basis: Basis) -> Numeric:
    read = cached_tokens_read(step.cached, basis.window, basis.chunk)
    return step.batch * (_clip(read - step.before, read) if basis.last else read)


def _touched(step: Step, basis: Basis) -> Numeric:
    return distinct_experts(basis.experts, basis.per_token, step.batch * step.new)


def _resumed(step: Step, _basis: Basis) -> Numeric:
    if isinstance(step.cached, (int, float)):
        return step.batch if step.cached > 0 else 0
    import numpy as np

    return np.where(np.asarray(step.cached) > 0, step.batch, 0)


def _scaled(step: Step, basis: Basis) -> Numeric:
    return step.batch * (step.new * basis.times // basis.per) if basis.per else step.batch * basis.times


# Sums that are the same however many positions of a sequence are computed.
_OF_SEQUENCES = ("one", "sampled", "sequences", "resumed", "source", "fixed", "fewest_experts")
_SUMS: dict[str, Callable[[Step, Basis], Numeric]] = {
    "one": lambda _step, _basis: 1,
    "rows": lambda _step, basis: basis.times,
    "tokens": lambda step, _basis: step.batch * step.new,
    "sampled": lambda step, _basis: step.batch,
    "sequences": lambda step, _basis: step.batch,
    "resumed": _resumed,
    "source": lambda step, _basis: step.batch * step.source,
    "cross_pairs": lambda step, _basis: step.batch * step.new * step.source,
    "scaled": _scaled,
    "fixed": lambda step, basis: step.batch * basis.fixed,
    "tail": lambda step, basis: step.batch * _clip(step.new, basis.fixed),
    "pairs": _pairs,
    "both_ways": _both_ways,
    "squares": lambda step, basis: step.batch * pairs_in_squares(*step.grid, basis.fixed),
    "square": lambda step, _basis: step.batch * step.new * (step.cached + step.new),
    "reads": _reads,
    "experts": _touched,
    "fewest_experts": lambda _step, basis: basis.per_token,
}
