"""One operator alone on a device: its intensity, the two clocks, and which of them binds it."""

import json
from typing import Any, NamedTuple

from mansard import registry
from mansard.errors import UsageError, did_you_mean
from mansard.inputs.device import Device, DeviceLike
from mansard.inputs.device_file import load_device
from mansard.inputs.notes import Note
from mansard.operators.alone import OPERATORS, Inputs, OperatorStep, Steps, Work
from mansard.records import Expected, package_version, plain


class OperatorAnalysis(NamedTuple):
    """One operator alone on a device. `beside` is the same operator asked another way, for comparison."""

    name: str
    inputs: tuple[tuple[str, Any], ...]
    steps: tuple[OperatorStep, ...]
    flops: float
    bytes: float
    intensity: float | None
    ridge_point: float
    bound: str
    memory_s: float
    compute_s: float
    best_s: float
    dtype: str
    device: Device
    expected_s: Expected | None = None
    beside: "tuple[OperatorAnalysis, ...]" = ()
    notes: tuple[Note, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """The document of schema `mansard.operator/1`."""
        return {"schema": "mansard.operator/1", "version": package_version(), **_facts(self)}

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON text."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        """What the command prints."""
        return str(_answer(self))

    def __repr__(self) -> str:
        return repr(_answer(self)).replace("Answer", "OperatorAnalysis", 1)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(_answer(self)._repr_html_())


def _facts(found: OperatorAnalysis) -> dict[str, Any]:
    return {
        **{name: plain(value) for name, value in found._asdict().items() if name not in ("device", "beside")},
        "inputs": dict(found.inputs),
        "device": found.device.name,
        "beside": [_facts(other) for other in found.beside],
    }


def _answer(found: OperatorAnalysis) -> Any:
    """The views of an operator's analysis, found by name."""
    return registry.module("mansard.answers", "operator").of(found)


def operator_names() -> tuple[str, ...]:
    """The operators that can be asked for alone."""
    return tuple(OPERATORS)


def operator_inputs(name: str) -> tuple[str, ...]:
    """The inputs of an operator, the needed ones first."""
    return _known(name)[1]


def operator(name: str, *, on: DeviceLike, **inputs: Any) -> OperatorAnalysis:
    """One operator alone on a device.

    Raises:
        UsageError: if there is no such operator, or an input is missing, unknown or out of bounds; all faults at once.

    >>> alone = operator("attention", on="h100-sxm", length=4096, head_dim=128, kind="standard")
    >>> alone.flops, alone.bytes, round(alone.intensity, 2), alone.bound
    (8640266240, 138412032, 62.42, 'memory')
    """
    work, known = _known(name)
    checked = Inputs(name, inputs)
    found = work(checked)
    checked.finish(known)
    device = on if isinstance(on, Device) else load_device(on)
    alone = _judged(name, checked, found, device)
    if name == "attention" and checked.used["kind"] != "decode":
        query = {key: value for key, value in inputs.items() if key not in ("kind", "causal")}
        alone = alone._replace(beside=(operator(name, on=device, **query, kind="decode"),))
    return alone


def _known(name: str) -> Work:
    if name not in OPERATORS:
        hint = did_you_mean(name, operator_names()) or f"one of {', '.join(operator_names())}"
        raise UsageError(f"no operator is called {name[:60]!r}", hint=hint)
    return OPERATORS[name]


def _judged(name: str, inputs: Inputs, found: Steps, device: Device) -> OperatorAnalysis:
    flops = sum(step.flops for step in found.steps)
    moved = sum(step.loads_bytes + step.stores_bytes for step in found.steps)
    peak, bandwidth = device.peak(found.dtype), device.memory_bandwidth.value
    memory_s = moved / bandwidth
    vector_rate = device.vector_peak.value if device.vector_peak else None
    vector_s = found.vector_flops / vector_rate if vector_rate else 0.0
    compute_s = max((flops - found.vector_flops) / peak.flops_per_s, vector_s)
    only_vector = flops > 0 and flops == found.vector_flops and vector_rate is not None
    return OperatorAnalysis(
        name=name,
        inputs=tuple(inputs.used.items()),
        steps=found.steps,
        flops=flops,
        bytes=moved,
        intensity=flops / moved if moved else None,
        ridge_point=(vector_rate if only_vector and vector_rate else peak.flops_per_s) / bandwidth,
        bound="memory" if memory_s > compute_s else "compute",
        memory_s=memory_s,
        compute_s=compute_s,
        best_s=max(memory_s, compute_s),
        dtype=found.dtype,
        device=device,
        notes=(*found.notes, *device.notes, *device.marks(found.dtype)),
    )
