"""Matrix products against weights: dense, and grouped by the experts that the tokens are sent to."""

from collections.abc import Callable, Iterator, Sequence

from mansard.inputs.weights import Matrix
from mansard.operators.cost import Op, Setting, form
from mansard.operators.step import ONE, TOKENS, Basis
from mansard.precision import WeightFormat, arithmetic_dtype


def linear(
    name: str,
    matrices: Sequence[Matrix],
    weights: WeightFormat,
    setting: Setting,
    *,
    group: str,
    basis: Basis = TOKENS,
) -> Op:
    """One or more products [T, K]·[K, N] of the same input, done as one: q, k and v, or gate and up.

    FLOPs 2·T·K·N; bytes K·N·w of weights with their scales, and the biases; T·K·a in and T·N·a out unless activations
    stay on the chip. K is the sum over different inputs where the matrices follow each other. `basis` counts the rows
    T: tokens, or sampled positions for the head.

    Gate and up of Llama-3.1-8B for 32 tokens, weights of two bytes:

    >>> from mansard.operators.step import Step
    >>> from mansard.precision import WEIGHT_FORMATS
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> both = [Matrix("gate_proj", 4096, 14336), Matrix("up_proj", 4096, 14336)]
    >>> cost = linear("gate_up_proj", both, WEIGHT_FORMATS["bf16"], setting, group="feed_forward").cost(Step(32, 1, 99))
    >>> cost.flops, 2 * 32 * 4096 * (2 * 14336)
    (7516192768, 7516192768)
    >>> cost.weight_bytes, 4096 * (2 * 14336) * 2
    (234881024, 234881024)
    """
    elements = sum(matrix.elements for matrix in matrices)
    bias = sum(matrix.columns for matrix in matrices if matrix.bias)
    moved = 0 if setting.fusion == "full" else matrices[0].rows + sum(matrix.columns for matrix in matrices)
    stored = sum(weights.share_bytes(matrix.rows, matrix.columns) for matrix in matrices)
    return Op(
        name=name,
        kind="linear",
        group=group,
        dtype=arithmetic_dtype(weights, setting.activation_dtype),
        symbols=_symbols(matrices, weights),
        flops=form(2 * elements, basis, f"2·{_shapes(matrices)}"),
        vector_flops=form(bias, basis, "N"),
        weight_bytes=form(
            stored + setting.vector_bytes(bias), ONE, f"{_shapes(matrices)}·w" + (" + N·a" if bias else "")
        ),
        activation_bytes=form(setting.activation_bytes(moved), basis, "(K + N)·a"),
    )


def by_format(
    name: str, matrices: Sequence[Matrix], weights: Callable[[Matrix], WeightFormat]
) -> Iterator[tuple[str, Sequence[Matrix], WeightFormat]]:
    """Products of one input as those that can be done as one: matrices of one format, named after what they hold.

    `name` is what they are called together, where all have the same format.
    """
    formats = {weights(matrix): None for matrix in matrices}
    for one in formats:
        own = [matrix for matrix in matrices if weights(matrix) == one]
        yield name if len(formats) == 1 else "+".join(matrix.name for matrix in own), own, one


def linears(
    name: str,
    matrices: Sequence[Matrix],
    weights: Callable[[Matrix], WeightFormat],
    setting: Setting,
    *,
    group: str,
    basis: Basis = TOKENS,
) -> Iterator[Op]:
    """Products of one input, as one operator for each format that they are stored in."""
    for own_name, own, one in by_format(name, matrices, weights):
        yield linear(own_name, own, one, setting, group=group, basis=basis)


def expert_linear(
    name: str,
    matrices: Sequence[Matrix],
    weights: WeightFormat,
    setting: Setting,
    *,
    num_experts: int,
    per_token: int,
) -> Op:
    """The same products, each token's with the k experts that it is sent to; one expert's matrices are given.

    FLOPs 2·T·k·K·N; weights of the experts that the tokens touch, E·(1 - (1 - k/E)^T) expected for even routing, or k
    where the bound must hold for any routing. Source: arXiv:1701.06538, section 2.

    Mixtral-8x7B, two tokens: each takes 2 of 8 experts, and together they touch 8·(1 - (6/8)²) = 3.5 of them.

    >>> from mansard.operators.step import Step
    >>> from mansard.precision import WEIGHT_FORMATS
    >>> setting = Setting("bf16", 16, 16, fusion="full", attention="fused")
    >>> down = [Matrix("down_proj", 14336, 4096)]
    >>> op = expert_linear("down", down, WEIGHT_FORMATS["bf16"], setting, num_experts=8, per_token=2)
    >>> op.cost(Step(2, 1, 99)).flops, 2 * 2 * 2 * 14336 * 4096
    (469762048, 469762048)
    >>> op.cost(Step(2, 1, 99)).weight_bytes, 3.5 * 14336 * 4096 * 2
    (411041792.0, 411041792.0)
    """
    one = linear(name, matrices, weights, setting, group="experts")
    kind = "experts" if setting.even_routing else "fewest_experts"
    touched = Basis(kind, experts=num_experts, per_token=per_token)
    return Op(
        name=name,
        kind="experts",
        group="experts",
        dtype=one.dtype,
        symbols=(*one.symbols, ("E", num_experts, "experts"), ("k", per_token, "experts per token")),
        flops=tuple(t._replace(coefficient=t.coefficient * per_token, formula=f"{t.formula}·k") for t in one.flops),
        vector_flops=tuple(t._replace(coefficient=t.coefficient * per_token) for t in one.vector_flops),
        weight_bytes=tuple(t._replace(basis=touched) for t in one.weight_bytes),
        activation_bytes=tuple(
            t._replace(coefficient=t.coefficient * per_token, formula=f"{t.formula}·k") for t in one.activation_bytes
        ),
    )


def opaque(parameters: int, weights: WeightFormat, setting: Setting) -> Op:
    """All of a model of which only the parameter count is known: each is read once and used once for each token."""
    return Op(
        name="all_weights",
        kind="linear",
        group="weights",
        dtype=arithmetic_dtype(weights, setting.activation_dtype),
        symbols=(("N", parameters, "parameters"), ("w", float(weights.bits) / 8, "bytes per weight")),
        flops=form(2 * parameters, TOKENS, "2·N"),
        weight_bytes=form(weights.matrix_bytes(parameters, 1), ONE, "N·w"),
    )


def _shapes(matrices: Sequence[Matrix]) -> str:
    if len({matrix.rows for matrix in matrices}) == 1:
        return "K·N"
    return "(" + " + ".join(f"{matrix.rows}·{matrix.columns}" for matrix in matrices) + ")"


def _symbols(matrices: Sequence[Matrix], weights: WeightFormat) -> tuple[tuple[str, int | float, str], ...]:
    names = " + ".join(f"{matrix.columns} ({matrix.name})" for matrix in matrices)
    return (
        ("K", matrices[0].rows, "inputs"),
        ("N", sum(matrix.columns for matrix in matrices), f"outputs: {names}"),
        ("w", weights.bits_per_weight / 8, f"bytes per weight, {weights.name}"),
    )
