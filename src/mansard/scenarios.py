"""A scenario: the words of the interface, checked and loaded, and every question on them but advice."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from mansard import memory as memory_of
from mansard.binding import Binding, binding_of, decode_step, encode_step, phase, prefill_step
from mansard.errors import Fault, InputError, UsageError
from mansard.inputs import scenario as asked
from mansard.inputs.device import Device, DeviceLike
from mansard.inputs.device_file import load_device
from mansard.inputs.folders import spelled
from mansard.inputs.model import ModelConfig, ModelLike
from mansard.inputs.notes import Note, Source
from mansard.inputs.perception import Reading
from mansard.inputs.scenario import Deployment, Workload
from mansard.models import load_model
from mansard.operators.step import Step
from mansard.perceiving import filled, readings, taken
from mansard.records import Memory, Phase, Request, Saturation, Times
from mansard.remarks import remarks
from mansard.rooflines import Plan, step_bound, step_clocks, summed_decode_s
from mansard.saturation import saturating_batch, saturating_inputs


def scenario(
    model: ModelLike,
    *,
    on: DeviceLike,
    batch: int | None = None,
    prompt: int | None = None,
    output: int | None = None,
    cached: int | None = None,
    context: int | None = None,
    images: int | None = None,
    resolution: str | int | None = None,
    frames: int | None = None,
    seconds: float | None = None,
    weights: str | None = None,
    activations: str | None = None,
    kv: str | None = None,
    state: str | None = None,
    attention: str | None = None,
    routing: str | None = None,
    engine: str | None = None,
    mtp: bool = False,
    online: bool = False,
) -> "Scenario":
    """The words of the interface, checked and loaded, as one scenario."""
    work, defaults = asked.workload(
        batch=batch, prompt=prompt, output=output, cached=cached, context=context,
        images=images, resolution=resolution, frames=frames, seconds=seconds,
    )  # fmt: skip
    _words({"weights": weights, "activations": activations, "kv": kv, "state": state, "attention": attention,
            "routing": routing, "engine": engine})  # fmt: skip
    deployed = _deployment(weights, activations, kv, state, attention, routing, engine, mtp)
    found_model = model if isinstance(model, ModelConfig) else _model(spelled(model, "model"), online)
    device = on if isinstance(on, Device) else _device(spelled(on, "device"))
    work, notes = filled(found_model, work, defaults)
    return Scenario(binding=binding_of(found_model, device, deployed), asked=work, defaults=defaults, filled=notes)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Scenario:
    """A binding and a workload: what every verb on a whole model answers for.

    asked: the workload in words, media filled in. defaults: the sizes that were not given. filled: notes on the others.
    """

    binding: Binding
    asked: Workload
    defaults: tuple[str, ...] = ()
    filled: tuple[Note, ...] = ()

    @property
    def workload(self) -> Workload:
        """The workload as the decoder has it, with what encoders give."""
        return taken(self.binding.model, self.asked)

    @property
    def has_decode(self) -> bool:
        """Whether there is a decode step: not for a single output token, unless a context is asked for."""
        return self.binding.model.has_decoder and (self.asked.output > 1 or self.asked.context is not None)

    @property
    def phase_names(self) -> tuple[str, ...]:
        """The phases in the order in which they run: encoders that have something to read, then the decoder's."""
        decoder = ("prefill",) * self.binding.model.has_decoder + ("decode",) * self.has_decode
        return (*(name for name, reading in self._readings() if reading.sequences), *decoder)

    def _readings(self) -> Iterator[tuple[str, Reading]]:
        found = readings(self.binding.model, self.asked)
        return ((one.name, reading) for one, reading in zip(self.binding.encodings, found, strict=True))

    def step_of(self, name: str) -> tuple[Plan, Step]:
        """A phase's plan and step.

        Raises:
            UsageError: if the model has no such phase.
        """
        if name in ("prefill", "decode") and self.binding.model.has_decoder:
            step = prefill_step(self.workload) if name == "prefill" else decode_step(self.workload)
            return self.binding.plan(step), step
        for one, (_, reading) in zip(self.binding.encodings, self._readings(), strict=True):
            if one.name == name and reading.sequences:
                return one.plan, encode_step(self.asked, reading)
        raise UsageError(f"no phase is called {name[:60]!r}", hint=f"one of {', '.join(self.phase_names)}")

    def phase(self, name: str) -> Phase:
        """One phase alone."""
        plan, step = self.step_of(name)
        return phase(plan, name, step)

    def phases(self) -> dict[str, Phase]:
        """All phases by name, in the order in which they run."""
        return {name: self.phase(name) for name in self.phase_names}

    def request(self, phases: Mapping[str, Phase]) -> Request:
        """A whole request, integrated over all of its decode steps; the gaps' mean is their sum over their number."""
        work = self.workload
        ttft_s = sum(found.best_s for name, found in phases.items() if name != "decode")
        if not self.binding.model.has_decoder:
            return Request(e2e_s=Times(ttft_s), requests_per_s_per_device=Times(work.batch / ttft_s))
        gaps = work.output - 1
        decoding_s = self._decoding_s() if gaps else 0.0
        e2e_s = ttft_s + decoding_s
        itl_s = decoding_s / gaps if gaps else None
        return Request(
            ttft_s=Times(ttft_s),
            itl_s=Times(itl_s),
            itl_first_s=Times(self._gap_s(work.decoder_prompt + 1) if gaps else None),
            itl_last_s=Times(self._gap_s(work.decoder_prompt + gaps) if gaps else None),
            tpot_s=Times(itl_s),
            e2e_s=Times(e2e_s),
            decode_tokens_per_s_per_user=Times(1 / itl_s if itl_s else None),
            output_tokens_per_s_per_user=Times(work.output / e2e_s),
            output_tokens_per_s_per_device=Times(work.batch * work.output / e2e_s),
            requests_per_s_per_device=Times(work.batch / e2e_s),
        )

    def _gap_s(self, context: int) -> float:
        step = decode_step(self.workload, context)
        return step_bound(step_clocks(self.binding.plan(step), step))

    def _decoding_s(self) -> float:
        work = self.workload
        first = Step(batch=work.batch, new=1, cached=work.decoder_prompt, source=work.source)
        # One decode step's choice of latent attention holds for all: only an empty cache would make the other cheaper.
        return summed_decode_s(self.binding.plan(first), first, work.decoder_prompt + work.output - 2)

    def memory(self) -> Memory:
        """What fills the device at the end of the request, and what would still fit."""
        work, device = self.workload, self.binding.device
        knows_cache = not self.binding.model.opaque_parameters
        per_sequence = self._cache_bytes(work.last_context)
        room = device.memory_bytes
        largest = None if room is None else self._largest(room, lambda b: self.needed_bytes(b, work.last_context))
        return Memory(
            weights_bytes=self.binding.weight_bytes,
            cache_bytes=work.batch * per_sequence if knows_cache else None,
            state_bytes=work.batch * self.binding.state_bytes,
            activations_bytes=self._activation_bytes(work.batch) if knows_cache else None,
            reserve_bytes=self.binding.engine.reserve_bytes,
            total_bytes=self.needed_bytes(work.batch, work.last_context),
            device_bytes=room,
            device_label=device.memory_label,
            fits=self.fits(),
            max_batch=largest,
            max_context_tokens=None
            if room is None or not self.binding.model.has_decoder
            else self._largest(room, lambda c: self.needed_bytes(work.batch, c)),
            max_concurrent_requests=largest,
            cache_bytes_per_sequence=per_sequence if knows_cache else None,
            tokens_per_sequence=work.last_context if self.binding.model.has_decoder else 0,
        )

    def fits(self) -> bool | None:
        """Whether it fits; None if the device's memory is not known."""
        room, work = self.binding.device.memory_bytes, self.workload
        return None if room is None else self.needed_bytes(work.batch, work.last_context) <= room

    def _cache_bytes(self, context: int) -> int:
        model, deployed = self.binding.model, self.binding.deployment
        source = memory_of.source_bytes(model, deployed, self.workload.source) if model.encoders else 0
        return memory_of.cache_bytes(model, deployed, context) + source

    def _activation_bytes(self, batch: int) -> int:
        """Those of the widest phase: encoders run before the decoder, and leave nothing but their output."""
        work, binding = self.workload, self.binding
        model, deployed, engine = binding.model, binding.deployment, binding.engine
        found = [
            memory_of.encoder_activation_bytes(
                model, deployed, engine, widest=one.widest_elements, tokens=reading.tokens,
                sequences=batch * reading.sequences,
            )
            for one, (_, reading) in zip(binding.encodings, self._readings(), strict=True)
        ]  # fmt: skip
        if model.has_decoder:
            tokens = batch * (work.decoder_prompt - work.cached)
            widest = binding.widest_elements
            found.append(memory_of.activation_bytes(model, deployed, engine, widest=widest, tokens=tokens, batch=batch))
        return max(found)

    def needed_bytes(self, batch: int, context: int) -> int:
        """Bytes of weights, cache, state, activations and reserve for so many sequences of so many tokens."""
        fixed = self.binding.weight_bytes + self.binding.engine.reserve_bytes
        per_sequence = self._cache_bytes(context) + self.binding.state_bytes
        return fixed + batch * per_sequence + self._activation_bytes(batch)

    def _largest(self, room: int, needed: Any) -> int | None:
        """The largest count that fits: 0 if not even 1 does, None if there is no end to it."""
        if needed(1) > room:
            return 0
        lower, upper = 1, 2
        while needed(upper) <= room:
            lower, upper = upper, upper * 2
            if upper > asked.MOST_TOKENS:
                return None
        while upper - lower > 1:
            middle = (lower + upper) // 2
            lower, upper = (middle, upper) if needed(middle) <= room else (lower, middle)
        return lower

    def saturation(self) -> Saturation:
        """The batch at which compute catches up, at the context of the decode step."""
        model, work = self.binding.model, self.workload
        if not model.has_decoder:
            return saturating_inputs(*self.step_of(self.phase_names[-1]), work.batch)
        context = None if model.opaque_parameters else work.decode_context
        return saturating_batch(self.binding, context, work.source)

    def notes(self, phases: tuple[Phase, ...]) -> tuple[Note, ...]:
        """Every default, fallback and low-confidence number behind the answer."""
        return remarks(self.binding, self.workload, self.defaults, self.filled, phases)

    def sources(self) -> tuple[Source, ...]:
        """Where the numbers of the device and the shapes of the model come from."""
        model = Source(id="model", title=self.binding.model.source or self.binding.model.name)
        return (model, *self.binding.device.sources)

    def model_facts(self) -> dict[str, Any]:
        """The `model` object of an analysis."""
        model, deployed = self.binding.model, self.binding.deployment
        return {
            "name": model.name,
            "source": model.source,
            "model_type": model.model_type,
            "architecture": model.architecture,
            "parameters": model.parameters,
            "parameters_active": model.parameters_active,
            "parameters_active_no_embedding": model.parameters_active_no_embedding,
            "weight_bytes": self.binding.weight_bytes,
            "kv_bytes_per_token": memory_of.cache_bytes_per_token(model, deployed),
            "state_bytes_per_sequence": None if model.opaque_parameters else self.binding.state_bytes,
            "layers": len(model.layers),
            "notes": [note.text for note in model.notes],
        }


def with_deployment(where: Scenario, deployed: Deployment) -> Scenario:
    """The same question for another deployment."""
    return replace(where, binding=binding_of(where.binding.model, where.binding.device, deployed))


def with_device(where: Scenario, device: Device) -> Scenario:
    """The same question for another device."""
    return replace(where, binding=binding_of(where.binding.model, device, where.binding.deployment))


def _words(given: dict[str, object]) -> None:
    """Raises one error for every word that is none."""
    faults = [Fault(problem=f"must be a word, not a {type(value).__name__}", key=name, value=value)
              for name, value in given.items() if value is not None and not isinstance(value, str)]  # fmt: skip
    if faults:
        raise UsageError(str(InputError(faults)), faults=faults)


@lru_cache(maxsize=256)
def _deployment(*words: Any) -> Deployment:
    names = ("weights", "activations", "kv", "state", "attention", "routing", "engine", "mtp")
    return asked.deployment(**dict(zip(names, words, strict=True)))


# What was loaded by a catalogue name, with the folders that were searched. What is read from a document is not kept,
# since it may change.
_KEPT: dict[tuple[str, str | None], Any] = {}
_MOST_KEPT = 256


def _model(text: str, online: bool) -> ModelConfig:
    key = (text, os.environ.get("MANSARD_PATH"))
    kept: ModelConfig | None = _KEPT.get(key)
    if kept is not None:
        return kept
    found = load_model(text, online=online)
    if text != "-" and not text.endswith(".json") and not os.path.exists(text):
        _keep(key, found)
    return found


def _device(text: str) -> Device:
    key = (f"on {text}", os.environ.get("MANSARD_PATH"))
    kept: Device | None = _KEPT.get(key)
    if kept is not None:
        return kept
    found = load_device(text)
    if not text.endswith(".toml"):
        _keep(key, found)
    return found


def _keep(key: tuple[str, str | None], found: ModelConfig | Device) -> None:
    if len(_KEPT) >= _MOST_KEPT:
        _KEPT.clear()
    _KEPT[key] = found
