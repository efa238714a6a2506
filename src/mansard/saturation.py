"""The batch at which compute catches up with memory in decode, if there is one."""

from math import ceil

from mansard.binding import Binding
from mansard.operators.step import Step
from mansard.records import Saturation
from mansard.rooflines import Compiled, Plan

_WEIGHTS = 2  # the places of the forms in a Cost
_MOST_BATCH = 1 << 40
_OF_CACHE = ("pairs", "square", "reads", "cross_pairs", "source")
_LOOKED_UP = ("embedding", "head")  # groups whose activations are the step's inputs and its logits


def saturating_batch(binding: Binding, context: int | None, source: int = 0) -> Saturation:
    """The smallest batch whose decode step keeps compute as busy as memory; None is "never".

    Per sequence let ΣF_d/P_d be its matrix time and K the bytes of cache that it reads and writes, W the weights that
    the batch shares: a batch exists only if ΣF_d/P_d > K/B, and then b* = (W/B)/(ΣF_d/P_d - K/B). Experts make W grow
    with the batch until all are touched. K has the activations that the engine moves, too; looked-up rows and logits,
    which even full fusion moves, are left out of it.

    context: tokens that each query attends to, itself included; None counts the weights alone. source: tokens of an
    encoder that it attends to as well.
    """
    alone = _batch(binding, None, source)
    batch = alone if context is None else _batch(binding, context, source)
    plan = _decode_plan(binding, context or 1)
    bandwidth = plan.device.memory_bandwidth.value
    matrix_s, flops, moved = _per_sequence(plan, context, source)
    ridge = flops / matrix_s / bandwidth
    plateau = flops / moved if moved else None
    return Saturation(
        batch=batch,
        reason=_reason(batch, plateau, ridge, context),
        plateau_intensity=plateau,
        ridge_point=ridge,
        context_tokens=context,
        batch_weights_alone=alone,
    )


def _reason(batch: int | None, plateau: float | None, ridge: float, context: int | None) -> str:
    where = "with the weights alone, without a cache," if context is None else f"at a context of {context:,}"
    if batch is not None:
        return f"{where} compute catches up with memory at a batch of {batch:,}"
    return (
        f"never {where}: each sequence brings its own cache to read, so that intensity levels off at about "
        f"{plateau:.4g} FLOP/byte, below the ridge of {ridge:.4g}"
    )


def saturating_inputs(plan: Plan, step: Step, batch: int) -> Saturation:
    """The smallest number of inputs whose pass through an encoder keeps compute as busy as memory; None is "never".

    The same rule with an input's whole pass for a sequence's token: W the weights, K the activations that are moved.
    step: of `batch` inputs.
    """
    one = step._replace(batch=step.batch // batch)
    sums, bandwidth = [one.value(basis) for basis in plan.bases], plan.device.memory_bandwidth.value
    matrix_s, flops = sum(_dot(form, sums) / rate for rate, form in plan.matrix), _dot(plan.total[0], sums)
    moved = _dot(plan.total[3], sums) + _dot(plan.total[4], sums) + _dot(plan.total[5], sums)
    # What is done once a pass, whatever the batch, is no input's own.
    whole = [value if basis.kind == "rows" else 0 for basis, value in zip(plan.bases, sums, strict=True)]
    once_s = sum(_dot(form, whole) / rate for rate, form in plan.matrix)
    gain = matrix_s - once_s - moved / bandwidth
    needed_s = _dot(plan.total[_WEIGHTS], sums) / bandwidth - once_s
    found = max(1, ceil(needed_s / gain)) if gain > 0 else None
    size = f"for inputs of {one.batch * one.new:,} tokens"
    reached = f"{size} compute catches up with memory at a batch of {found:,}" if found else ""
    never = f"never {size}: the activations that are moved keep memory busier than compute, at any batch"
    return Saturation(
        batch=found,
        reason=reached or never,
        plateau_intensity=flops / moved if moved else None,
        ridge_point=flops / matrix_s / bandwidth,
        context_tokens=None,
        batch_weights_alone=max(1, ceil(_dot(plan.total[_WEIGHTS], sums) / bandwidth / matrix_s)),
    )


def _batch(binding: Binding, context: int | None, source: int) -> int | None:
    plan = _decode_plan(binding, context or 1)
    bandwidth = plan.device.memory_bandwidth.value
    matrix_s, _, moved = _per_sequence(plan, context, source)
    gain = matrix_s - moved / bandwidth
    if gain <= 0:
        return None
    # With every expert read the batch is an upper limit; below it fewer weights are read, so that one may do. One more,
    # since the quotient is rounded: the search below finds the edge itself.
    upper = max(1, ceil(_weights(plan, _MOST_BATCH) / bandwidth / gain)) + 1
    lower = 0 if _has_experts(plan) else max(0, upper - 3)
    while upper - lower > 1:  # weights per sequence only fall as the batch grows: bisection finds the edge
        middle = (lower + upper) // 2
        if (_weights(plan, middle) + middle * moved) / bandwidth <= middle * matrix_s:
            upper = middle
        else:
            lower = middle
    return upper


def _decode_plan(binding: Binding, context: int) -> Plan:
    return binding.plan(Step(batch=1, new=1, cached=context - 1))


def _has_experts(plan: Plan) -> bool:
    return any(basis.kind == "experts" for basis in plan.bases)


def _per_sequence(plan: Plan, context: int | None, source: int) -> tuple[float, int | float, int | float]:
    """(matrix seconds, matrix FLOPs, bytes) of one sequence's token; without its cache if context is None."""
    step = Step(batch=1, new=1, cached=(context or 1) - 1, source=source)
    sums = [0 if context is None and basis.kind in _OF_CACHE else step.value(basis) for basis in plan.bases]
    matrix_s = sum(_dot(form, sums) / rate for rate, form in plan.matrix)
    flops = _dot(plan.total[0], sums)
    if context is None:
        return matrix_s, flops, 0
    cache = _dot(plan.total[3], sums) + _dot(plan.total[4], sums)
    activations = sum(_dot(op.activation_bytes, sums) for op in plan.ops if op.label[1] not in _LOOKED_UP)
    return matrix_s, flops, cache + activations


def _weights(plan: Plan, batch: int) -> float:
    """Bytes of weights that a batch reads, without the looked-up rows of the embedding."""
    step = Step(batch=batch, new=1, cached=0)
    shared = tuple((place, c) for place, c in plan.total[_WEIGHTS] if plan.bases[place].kind != "tokens")
    return _dot(shared, [step.value(basis) for basis in plan.bases])


def _dot(form: Compiled, sums: list[int | float]) -> int | float:
    return sum(coefficient * sums[place] for place, coefficient in form)
