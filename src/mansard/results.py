"""An analysis: what was asked, what was found, and all that is worked out only when it is read."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from mansard import registry
from mansard.inputs.device import Device
from mansard.inputs.model import ModelConfig
from mansard.inputs.notes import Note, Source
from mansard.inputs.scenario import Deployment, Workload
from mansard.records import Advice, Memory, Phase, Request, Saturation, package_version, plain


class Answers(Protocol):
    """What an analysis works out only when it is asked for: given by the scenario that it came from."""

    def request(self, phases: Mapping[str, Phase]) -> Request: ...
    def memory(self) -> Memory: ...
    def fits(self) -> bool | None: ...
    def saturation(self) -> Saturation: ...
    def notes(self, phases: tuple[Phase, ...]) -> tuple[Note, ...]: ...
    def sources(self) -> tuple[Source, ...]: ...
    def model_facts(self) -> dict[str, Any]: ...


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Analysis:
    """What limits a model on a device for a workload: its phases, the request, memory, saturation, advice.

    The phases, by name in the order in which they run, are worked out at once, the rest when it is read.
    """

    model: ModelConfig
    device: Device
    workload: Workload
    deployment: Deployment
    phases: dict[str, Phase]
    answers: Answers
    advisor: Callable[[Any], tuple[Advice, ...]]

    @property
    def prefill(self) -> Phase | None:
        """None for a model that makes no tokens."""
        return self.phases.get("prefill")

    @property
    def decode(self) -> Phase | None:
        """None if only one token is asked for, or none is made."""
        return self.phases.get("decode")

    @property
    def main(self) -> Phase:
        """The phase that an answer speaks of first: decode, denoise, or else the last one."""
        known = [self.phases[name] for name in ("decode", "denoise") if name in self.phases]
        return known[0] if known else [*self.phases.values()][-1]

    @property
    def request(self) -> Request:
        return self.answers.request(self.phases)

    @property
    def memory(self) -> Memory:
        return self.answers.memory()

    @property
    def fits(self) -> bool | None:
        """Whether it fits, without the searches for the largest that `memory` makes; None if that is not known."""
        return self.answers.fits()

    @property
    def saturation(self) -> Saturation:
        return self.answers.saturation()

    @property
    def advice(self) -> tuple[Advice, ...]:
        return self.advisor(self.answers)

    @property
    def notes(self) -> tuple[Note, ...]:
        return self.answers.notes(tuple(self.phases.values()))

    @property
    def sources(self) -> tuple[Source, ...]:
        return self.answers.sources()

    def to_dict(self) -> dict[str, Any]:
        """The document of schema `mansard.analysis/1`."""
        deployment = plain(self.deployment)
        return {
            "schema": "mansard.analysis/1",
            "version": package_version(),
            "model": self.answers.model_facts(),
            "device": device_facts(self.device),
            "workload": workload_facts(self.workload),
            "deployment": {**deployment, "devices": self.deployment.devices},
            "phases": {name: plain(phase) for name, phase in self.phases.items()},
            "request": plain(self.request),
            "memory": plain(self.memory),
            "saturation": plain(self.saturation),
            "advice": plain(self.advice),
            "notes": plain(self.notes),
            "sources": plain(self.sources),
        }

    def chart(self, kind: str = "roofline", *, theme: str = "light", width: int = 600, along: str | None = None) -> Any:
        """A chart: roofline, clocks, operators, batch, context, memory, request or hardware.

        It shows itself in a notebook; `save("roof.svg")` writes it as svg, png, pdf, html or json. width: pixels of the
        plot. along: "batch" or "context", for a trajectory of decode in the roofline.

        Raises:
            UsageError: if there is no such chart or theme.
        """
        return _drawing().draw(kind, self, theme=theme, width=width, along=along)

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON text; never NaN or Infinity."""
        return json.dumps(self.to_dict(), indent=indent, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        """What the command prints."""
        return str(_answer(self))

    def __repr__(self) -> str:
        return repr(_answer(self)).replace("Answer", "Analysis", 1)

    def _repr_html_(self) -> str:
        """What a notebook shows."""
        return str(_answer(self)._repr_html_())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The operators of all phases as an Arrow stream, for polars, pandas, duckdb or pyarrow."""
        return _answer(self).__arrow_c_stream__(requested_schema)

    def _repr_mimebundle_(self, **_: Any) -> dict[str, Any]:
        """The roofline, live or as a picture; the tables; plain text, for what can show neither."""
        return {**self.chart()._repr_mimebundle_(), "text/html": self._repr_html_(), "text/plain": str(self)}


def _drawing() -> Any:
    """Charts, found by name as well."""
    return registry.module("mansard.views", "drawing")


def _answer(found: Analysis) -> Any:
    """The views of an analysis, found by name: results import none of them."""
    return registry.module("mansard.answers", "analyze").of(found)


def workload_facts(work: Workload) -> dict[str, Any]:
    """The `workload` object of an analysis: what was asked, and what encoders make of it for the decoder."""
    media = work.media
    return {
        "batch": work.batch,
        "prompt_tokens": work.prompt,
        "output_tokens": work.output,
        "cached_tokens": work.cached,
        "context_tokens": work.decode_context,
        "images": media.images,
        "height": media.height,
        "width": media.width,
        "frames": media.frames,
        "seconds": media.seconds,
        "steps": media.steps,
        "guidance": media.guidance,
        "encoder_tokens": work.given or work.source,
        "decoder_prompt_tokens": work.decoder_prompt,
    }


def device_facts(device: Device) -> dict[str, Any]:
    """The `device` object of an analysis."""
    return {
        "name": device.name,
        "title": device.title,
        "count": 1,
        "peak_flops_per_s": {dtype: fact.value for dtype, fact in device.peaks},
        "vector_flops_per_s": device.vector_peak.value if device.vector_peak else None,
        "memory_bandwidth_bytes_per_s": device.bandwidth.value if device.bandwidth else None,
        "memory_bytes": device.memory_bytes,
        "sources": [source.id for source in device.sources],
    }
