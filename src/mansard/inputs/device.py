"""A device: dense peaks by dtype, memory, links; every number with its source and how far it can be trusted."""

import os
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeAlias

from mansard.errors import UsageError
from mansard.inputs.notes import Note, Source

Confidence = Literal["vendor", "vendor-quoted", "secondary", "derived", "given"]

# What runs instead where a device lacks a dtype: the next wider one that keeps every value. bf16 has no narrower home
# than fp32: fp16 has not its range, and is only taken where there is nothing wider.
FALLBACKS: dict[str, tuple[str, ...]] = {
    "int4": ("int8", "fp16", "bf16", "fp32"),
    "fp4": ("fp6", "fp8", "bf16", "fp16", "fp32"),
    "fp6": ("fp8", "bf16", "fp16", "fp32"),
    "int8": ("bf16", "fp16", "fp32"),
    "fp8": ("bf16", "fp16", "fp32"),
    "fp16": ("bf16", "fp32"),
    "bf16": ("fp32", "fp16"),
    "tf32": ("fp32",),
    "fp32": (),
    "fp64": (),
}


class Fact(NamedTuple):
    """A number in SI base units (byte, byte/s, FLOP/s, W, Hz) with the source that states it."""

    value: float
    confidence: Confidence
    source: str = ""  # the id of one of the device's sources
    note: str = ""


class Peak(NamedTuple):
    """The dense rate at which a dtype is multiplied, and the dtype in which that happens if it is not the same."""

    flops_per_s: float
    dtype: str
    fact: Fact


@dataclass(frozen=True, slots=True, kw_only=True)
class Device:
    """One accelerator (or processor). Peaks are dense, by the dtype of the arithmetic with fp32 accumulation.

    `facts` holds what else is known (power, clocks, links, caches, price), by name.
    """

    name: str
    title: str
    vendor: str
    bandwidth: Fact | None  # byte/s of the device memory; None: not known
    peaks: tuple[tuple[str, Fact], ...]
    vector_peak: Fact | None = None  # FLOP/s of the vector units in fp32
    memory: Fact | None = None  # bytes, as the driver reports them where that was read
    memory_label: str = ""  # "80 GB", as the vendor writes it
    last_level_cache: Fact | None = None  # bytes
    facts: tuple[tuple[str, Fact], ...] = ()
    texts: tuple[tuple[str, str], ...] = ()  # architecture, form factor, memory type, interconnect, …
    aliases: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    notes: tuple[Note, ...] = ()

    def peak(self, dtype: str) -> Peak:
        """The peak of a dtype, or of the first fallback that the device has.

        Raises:
            UsageError: if it has neither.
        """
        known = dict(self.peaks)
        for candidate in (dtype, *FALLBACKS[dtype]):
            if candidate in known:
                return Peak(known[candidate].value, candidate, known[candidate])
            if candidate == "fp32" and self.vector_peak is not None:
                return Peak(self.vector_peak.value, candidate, self.vector_peak)
        raise UsageError(
            f"{self.name} has no known peak for {dtype}, nor for what could run instead",
            hint=f"it has {', '.join(known) or 'none'}; choose with --activations, or give peak=…,bandwidth=…",
        )

    def marks(self, dtype: str) -> tuple[Note, ...]:
        """What a reader must know of the numbers used for a dtype: fallbacks, weak sources, disputes."""
        peak = self.peak(dtype)
        found = []
        if peak.dtype != dtype:
            found.append(Note(level="warning", code="dtype-fallback", text=self._fallback(dtype, peak)))
        for what, fact in ((f"peak in {peak.dtype}", peak.fact), ("memory bandwidth", self.memory_bandwidth)):
            if fact.confidence in ("secondary", "derived"):
                size = f"{fact.value / 1e12:.4g} {'TB/s' if what == 'memory bandwidth' else 'TFLOP/s'}"
                text = f"the {what} of {self.name}, {size}, is {fact.confidence}: {self._title(fact.source)}"
                found.append(Note(level="warning", code="low-confidence", text=text))
            if "disputed:" in fact.note:
                unit = "TB/s" if what == "memory bandwidth" else "TFLOP/s"
                text = f"the {what} of {self.name} [{unit}] is disputed: {fact.note.partition('disputed:')[2].strip()}"
                found.append(Note(level="info", code="disputed", text=text))
        return tuple(found)

    def _fallback(self, dtype: str, peak: Peak) -> str:
        rate = f"{peak.flops_per_s / 1e12:.4g} TFLOP/s"
        text = f"{self.name} has no known rate in {dtype}: computed in {peak.dtype} at {rate}"
        half = dict(self.peaks).get("fp16")
        if dtype == "bf16" and half is not None and half.value > peak.flops_per_s:
            text += f"; in fp16 it would run at {half.value / 1e12:.4g} TFLOP/s (--activations fp16)"
        return text

    def _title(self, source: str) -> str:
        return next((one.title for one in self.sources if one.id == source), "no source")

    @property
    def memory_bandwidth(self) -> Fact:
        """The bandwidth of the device memory.

        Raises:
            UsageError: if it is not known, since nothing can be said without it.
        """
        if self.bandwidth is None:
            raise UsageError(
                f"the memory bandwidth of {self.name} is not known, and nothing can be said without it",
                hint="give the device as peak=…,bandwidth=…",
            )
        return self.bandwidth

    @property
    def memory_bytes(self) -> int | None:
        return None if self.memory is None else int(self.memory.value)


# How a device is given to a verb: a name, a path, numbers, or the device itself.
DeviceLike: TypeAlias = str | os.PathLike[str] | Device
