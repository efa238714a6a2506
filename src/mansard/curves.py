"""Decode along one of its sizes: the same scenario at many batches, or at many contexts."""

from dataclasses import replace
from typing import Literal

from mansard.errors import UsageError
from mansard.inputs.scenario import MOST_SEQUENCES, MOST_TOKENS
from mansard.records import Curve, CurvePoint
from mansard.scenarios import Scenario

Over = Literal["batch", "context"]
SIZES: tuple[Over, ...] = ("batch", "context")

_PER_DOUBLING = 4
_LEAST_END = {"batch": 512, "context": 32_768}
_START = {"batch": 1, "context": 128}
_MOST = {"batch": MOST_SEQUENCES, "context": MOST_TOKENS}


def curve(where: Scenario, over: Over) -> Curve:
    """Decode steps of a scenario at sizes that grow evenly in the logarithm, past its own, its knee and what fits.

    Raises:
        UsageError: if the model makes no tokens.
    """
    if not where.binding.model.has_decoder:
        name = where.binding.model.name
        raise UsageError(f"{name} makes no tokens: there is no decode to draw along {over}", hint="draw another chart")
    memory, saturation = where.memory(), where.saturation()
    here = where.workload.batch if over == "batch" else where.workload.decode_context
    largest = memory.max_batch if over == "batch" else memory.max_context_tokens
    knee = saturation.batch if over == "batch" else None
    marks = [2 * size for size in (here, largest, knee) if size]
    positions = [where.binding.model.max_position_embeddings or 0] if over == "context" else []
    end = min(max(_LEAST_END[over], *marks, *positions), _LEAST_END[over] * 1024, _MOST[over])
    return Curve(
        model=where.binding.model.name,
        device=where.binding.device.title,
        over=over,
        here=here,
        points=tuple(_point(where, over, size) for size in sizes(_START[over], end, here)),
        knee=knee,
        reason=saturation.reason,
        largest=largest,
        ridge_point=saturation.ridge_point,
    )


def sizes(start: int, end: int, *also: int) -> list[int]:
    """Whole numbers from start to end, four to a doubling, and those that are asked for beside them."""
    found, exponent = {start, end, *also}, 0
    while (size := round(start * 2 ** (exponent / _PER_DOUBLING))) < end:
        found.add(size)
        exponent += 1
    return sorted(found)


def _point(where: Scenario, over: Over, size: int) -> CurvePoint:
    asked = where.asked
    other = asked._replace(batch=size) if over == "batch" else asked._replace(context=size)
    step = replace(where, asked=other).phase("decode")
    batch = other.batch
    context = where.workload.last_context if over == "batch" else size
    needed = where.needed_bytes(batch, context)
    room = where.binding.device.memory_bytes
    return CurvePoint(
        value=size,
        flops=step.flops,
        bytes=step.bytes.total,
        intensity=step.intensity,
        best_s=step.best_s,
        bound=step.bound,
        tokens_per_s_per_user=1 / step.best_s,
        tokens_per_s_per_device=batch / step.best_s,
        memory_bytes=needed,
        fits=None if room is None else needed <= room,
    )
