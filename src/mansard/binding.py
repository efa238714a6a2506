"""A model bound to a device and a deployment: its plans, made once and kept, and the phases that they answer."""

from collections import OrderedDict
from dataclasses import dataclass, field
from functools import reduce
from typing import Any, NamedTuple

from mansard import memory
from mansard.algebra import Numeric
from mansard.encoding import encoder_operators
from mansard.forward import has_latent_attention, operators
from mansard.inputs.device import Device
from mansard.inputs.encoder import Encoder
from mansard.inputs.engine import load_engine
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import Reading
from mansard.inputs.scenario import Deployment, Engine, Workload
from mansard.operators.cost import Cost
from mansard.operators.step import Step
from mansard.perceiving import encode_phase
from mansard.records import Bytes, Clocks, Phase
from mansard.rooflines import OperatorResult, Plan, StepClocks, bind, clocks, operator_results, total_cost


class Encoding(NamedTuple):
    """An encoder bound to a device. name: of its phase."""

    name: str
    encoder: Encoder
    plan: Plan
    widest_elements: int


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Binding:
    """What does not change from one workload to the next.

    plans: one of the decoder, or for latent attention both of its forms; none if there is no decoder.
    """

    model: ModelConfig
    device: Device
    deployment: Deployment
    engine: Engine
    plans: tuple[Plan, ...]
    encodings: tuple[Encoding, ...]
    weight_bytes: int
    state_bytes: int
    widest_elements: int
    runs: dict[Any, Any] = field(default_factory=dict)  # what a pipeline does, by the sizes that it was asked for

    def plan(self, step: Step) -> Plan:
        """The plan with the fewest matrix FLOPs in a step; absorbed where they are equal."""
        if len(self.plans) == 1:
            return self.plans[0]
        return min(self.plans, key=lambda plan: total_cost(plan, plan.sums(step)).flops)


def latent_forms(model: ModelConfig, deployment: Deployment) -> tuple[str, ...]:
    """The ways in which latent attention may be computed: both, or the one that was asked for."""
    if not model.has_decoder:
        return ()
    if has_latent_attention(model) and deployment.attention in ("absorbed", "expanded"):
        return (deployment.attention,)
    return ("absorbed", "expanded") if has_latent_attention(model) else ("absorbed",)


# The last bindings that were made, by identity: hashing a whole model would cost more than an analysis.
_KEPT: "OrderedDict[tuple[int, int, Deployment], Binding]" = OrderedDict()
_MOST_KEPT = 64


def binding_of(model: ModelConfig, device: Device, deployment: Deployment) -> Binding:
    """The binding of a model, a device and a deployment, made on first use."""
    key = (id(model), id(device), deployment)
    kept = _KEPT.get(key)
    if kept is None:
        engine = load_engine(deployment.engine)
        kept = Binding(
            model=model,
            device=device,
            deployment=deployment,
            engine=engine,
            plans=tuple(
                bind(operators(model, deployment, engine, how), device) for how in latent_forms(model, deployment)
            ),
            encodings=tuple(_encoding(encoder, model, device, deployment, engine) for encoder in model.encoders),
            weight_bytes=memory.weight_bytes(model, deployment),
            state_bytes=memory.state_bytes(model, deployment),
            widest_elements=memory.widest_elements(model),
        )
        _KEPT[key] = kept  # holds the model and the device, so that their ids stay theirs
        if len(_KEPT) > _MOST_KEPT:
            _KEPT.popitem(last=False)
    return kept


def _encoding(encoder: Encoder, model: ModelConfig, device: Device, deployment: Deployment, engine: Engine) -> Encoding:
    return Encoding(
        name=encode_phase(model, encoder),
        encoder=encoder,
        plan=bind(encoder_operators(encoder, model, deployment, engine), device),
        widest_elements=memory.widest_of_encoder(encoder),
    )


def encode_step(workload: Workload, reading: Reading) -> Step:
    """All sequences of one encoder; what it gives to cross-attention is spread over them."""
    # An image's tokens need not divide evenly among its tiles.
    whole, rest = divmod(reading.given, reading.sequences or 1)
    source = reading.given / reading.sequences if rest else whole
    return Step(
        batch=workload.batch * reading.sequences, new=reading.tokens, cached=0, source=source, grid=reading.grid
    )


def prefill_step(workload: Workload) -> Step:
    """The prompt behind what is cached of it; or what an encoder-decoder begins with."""
    new = workload.decoder_prompt - workload.cached
    return Step(batch=workload.batch, new=new, cached=workload.cached, source=workload.source)


def decode_step(workload: Workload, context: int | None = None) -> Step:
    """One token of each sequence, attending to `context` tokens, itself included."""
    cached = (context or workload.decode_context) - 1
    return Step(batch=workload.batch, new=1, cached=cached, source=workload.source)


def phase(plan: Plan, name: str, step: Step, repeats: int = 1) -> Phase:
    """One step: its work, bytes and clocks, what binds it, and every operator of it."""
    sums = plan.sums(step)
    rows, operator_bound_s = operator_results(plan, sums)
    total = total_cost(plan, sums)
    times = clocks(plan, sums, total)
    compute_s = max(times.matrix_s, times.vector_s)
    best_s = max(times.memory_s, compute_s)
    bandwidth, moved = plan.device.memory_bandwidth.value, total.bytes
    peak = total.flops / times.matrix_s if times.matrix_s else plan.ops[0].peak
    return Phase(
        name=name,
        tokens=step.batch * step.new,
        context_tokens=step.cached + step.new,
        flops=total.flops,
        vector_flops=total.vector_flops,
        bytes=Bytes(
            total=moved,
            weights=total.weight_bytes,
            cache_read=total.cache_read_bytes,
            cache_write=total.cache_write_bytes,
            activations=total.activation_bytes,
        ),
        intensity=total.flops / moved,
        ridge_point=peak / bandwidth,
        bound="memory" if compute_s < times.memory_s else "compute",
        clocks=Clocks(
            memory_s=times.memory_s,
            memory_warm_s=_warm_s(plan.device, moved),
            compute_s=compute_s,
            matrix_s=times.matrix_s,
            vector_s=times.vector_s if plan.vector_peak is not None else None,
        ),
        best_s=best_s,
        operator_bound_s=operator_bound_s,
        expected_s=None,
        mfu=times.matrix_s / best_s,
        mbu=times.memory_s / best_s,
        dtype=plan.peaks[0][0] if len(plan.peaks) == 1 else _main_dtype(rows),
        operators=rows,
        repeats=repeats,
    )


def _warm_s(device: Device, moved: float) -> float | None:
    if device.last_level_cache is None:
        return None
    return max(0.0, moved - device.last_level_cache.value) / device.memory_bandwidth.value


def _main_dtype(rows: tuple[OperatorResult, ...]) -> str:
    """The dtype of most of the matrix work."""
    by_dtype: dict[str, float] = {}
    for row in rows:
        by_dtype[row.dtype] = by_dtype.get(row.dtype, 0) + row.flops
    return max(by_dtype, key=lambda dtype: by_dtype[dtype])


class Grid(NamedTuple):
    """Many steps at once, as arrays of one shape: work, bytes, clocks and the best time of each. SI base units."""

    phase: str
    flops: Numeric
    bytes: Numeric
    memory_s: Numeric
    compute_s: Numeric
    best_s: Numeric
    memory_bound: Numeric  # true where memory binds

    @property
    def intensity(self) -> Numeric:
        return self.flops / self.bytes


def grid_of(binding: Binding, name: str, step: Step) -> Grid:
    """The totals of steps whose sizes are float64 arrays that broadcast; the same formulas as for one step."""
    import numpy as np

    cost, times = reduce(_fewer, (_totals(plan, step) for plan in binding.plans))
    compute_s = np.maximum(times.matrix_s, times.vector_s)
    return Grid(
        phase=name,
        flops=cost.flops,
        bytes=cost.bytes,
        memory_s=times.memory_s,
        compute_s=compute_s,
        best_s=np.maximum(times.memory_s, compute_s),
        memory_bound=times.memory_s > compute_s,
    )


def _totals(plan: Plan, step: Step) -> tuple[Cost, StepClocks]:
    sums = plan.sums(step)
    cost = total_cost(plan, sums)
    return cost, clocks(plan, sums, cost)


def _fewer(one: tuple[Cost, StepClocks], other: tuple[Cost, StepClocks]) -> tuple[Cost, StepClocks]:
    import numpy as np

    takes_other = other[0].flops < one[0].flops
    cost = Cost(*(np.where(takes_other, its, mine) for mine, its in zip(one[0], other[0], strict=True)))
    times = StepClocks(*(np.where(takes_other, its, mine) for mine, its in zip(one[1], other[1], strict=True)))
    return cost, times
