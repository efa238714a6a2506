"""Operators whose sizes an item fixes, images and video above all: b items cost b times as much, weights apart."""

from mansard.inputs.parts import Attended, Normalised, Pointwise, Product
from mansard.operators import elementwise, matmul
from mansard.operators.attention import SOFTMAX_FLOPS
from mansard.operators.cost import Form, Op, Setting, Term, form
from mansard.operators.step import ONE, Basis, Step
from mansard.precision import WeightFormat

_ITEM = Basis("fixed", fixed=1)


def product(part: Product, weights: WeightFormat, setting: Setting) -> Op:
    """Matrix products over `rows` of each item."""
    rows = Basis("fixed", fixed=part.rows)
    return matmul.linear(part.name, part.matrices, weights, setting, group=part.group, basis=rows)


def attention(part: Attended, setting: Setting) -> Op:
    """Attention without a mask over n queries and m keys of each item: 4·n·m·d·H FLOPs, fused or not.

    Standard attention writes and reads scores and probabilities; fused it moves queries, keys, values and output alone,
    and not even those with full fusion. Source: arXiv:2205.14135.
    """
    if part.linear:
        return _linear_attention(part, setting)
    pairs = Basis("fixed", fixed=part.queries * part.keys)
    moved = form(setting.activation_bytes(0 if setting.fusion == "full" else part.moved), _ITEM, "(q + k + v + o)·a")
    if setting.attention == "standard":
        moved += form(4 * setting.activation_bytes(part.heads), pairs, "4·H·a")
    return Op(
        name=part.name,
        kind="attention",
        group=part.group,
        dtype=setting.activation_dtype,
        symbols=_symbols(part),
        flops=form(4 * part.head_dim * part.heads, pairs, "4·d·H"),
        vector_flops=form(SOFTMAX_FLOPS * part.heads, pairs, f"{SOFTMAX_FLOPS}·H"),
        activation_bytes=moved,
    )


def _linear_attention(part: Attended, setting: Setting) -> Op:
    """Linear attention: per head and token 4·d·(d + 1) FLOPs, no pairs. A rectifier and a division beside it.

    The values have a row of ones appended, whose product with the keys is the normaliser. Source: Katharopoulos et al.,
    arXiv:2006.16236; Xie et al., Sana, arXiv:2410.10629.
    """
    tokens, size = Basis("fixed", fixed=part.queries), part.head_dim
    return Op(
        name=part.name,
        kind="attention",
        group=part.group,
        dtype=setting.activation_dtype,
        symbols=_symbols(part),
        flops=form(4 * size * (size + 1) * part.heads, tokens, "4·d·(d + 1)·H"),
        vector_flops=form(3 * size * part.heads, tokens, "3·d·H"),
        activation_bytes=form(
            setting.activation_bytes(0 if setting.fusion == "full" else part.moved), _ITEM, "(q + k + v + o)·a"
        ),
    )


def norm(part: Normalised, setting: Setting) -> Op:
    """A norm of `rows` vectors of each item."""
    return over(elementwise.norm(part.name, part.norm, setting, group=part.group), Step(1, part.rows, 0))


def pointwise(part: Pointwise, setting: Setting) -> Op:
    """So many vector FLOPs an element of each item; it moves with a neighbour unless nothing is fused."""
    moved = part.moved if setting.fusion == "none" else 0
    return Op(
        name=part.name,
        kind="elementwise",
        group=part.group,
        dtype=setting.activation_dtype,
        symbols=(("N", part.elements, "elements of an item"),),
        vector_flops=form(part.flops, Basis("fixed", fixed=part.elements), f"{part.flops}"),
        weight_bytes=form(setting.vector_bytes(part.learned), ONE, "N·w"),
        activation_bytes=form(setting.activation_bytes(moved), _ITEM, "2·N·a"),
    )


def latents(elements_in: int, elements_out: int, setting: Setting) -> Op:
    """What comes in and goes out of a whole component: it moves, whatever is fused."""
    return Op(
        name="in_and_out",
        kind="elementwise",
        group="output",
        dtype=setting.activation_dtype,
        symbols=(("N", elements_in + elements_out, "elements of an item, in and out"),),
        activation_bytes=form(setting.activation_bytes(elements_in + elements_out), _ITEM, "N·a"),
    )


def over(op: Op, step: Step) -> Op:
    """The same operator with every sum fixed to what one item has of it; what is read once stays so.

    step: that of one sequence. The forms must be linear in the number of sequences: experts are not.
    """
    return op._replace(
        flops=_fixed(op.flops, step),
        vector_flops=_fixed(op.vector_flops, step),
        weight_bytes=_fixed(op.weight_bytes, step),
        cache_read_bytes=_fixed(op.cache_read_bytes, step),
        cache_write_bytes=_fixed(op.cache_write_bytes, step),
        activation_bytes=_fixed(op.activation_bytes, step),
    )


def _fixed(whole: Form, step: Step) -> Form:
    return tuple(
        term
        if term.basis == ONE
        else Term(term.coefficient, Basis("fixed", fixed=int(step.value(term.basis))), term.formula)
        for term in whole
    )


def _symbols(part: Attended) -> tuple[tuple[str, int | float, str], ...]:
    return (
        ("H", part.heads, "query heads"),
        ("H_kv", part.kv_heads, "key/value heads"),
        ("d", part.head_dim, "size of a head"),
        ("n", part.queries, "queries of an item"),
        ("m", part.keys, "keys of an item"),
    )
