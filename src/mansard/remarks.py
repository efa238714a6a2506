"""The notes of a result: every default, fallback, choice and doubt that stands behind its numbers."""

from collections.abc import Iterator
from dataclasses import replace

from mansard.binding import Binding
from mansard.forward import has_latent_attention
from mansard.inputs.notes import Note
from mansard.inputs.scenario import Deployment, Workload
from mansard.memory import weight_bytes
from mansard.records import Phase

# Below this the last-level cache is no more than a rounding.
_WARM_SHARE = 0.02


def remarks(
    binding: Binding,
    workload: Workload,
    defaults: tuple[str, ...],
    filled: tuple[Note, ...],
    phases: tuple[Phase, ...],
) -> tuple[Note, ...]:
    """All notes, in the order in which a reader would ask, each once. defaults: sizes that were not given."""
    found = [
        *_defaults(binding, workload, defaults),
        *filled,
        *_workload(binding, workload),
        *binding.model.notes,
        *binding.device.notes,
        *_stored(binding),
        *_dtypes(binding),
        *_choices(binding, phases),
        *_unused(binding),
        *_positions(binding, workload),
        *_pieces(binding, workload),
        *_warm(phases),
        Note(
            level="info",
            code="not-calibrated",
            text="expected times are not given: no efficiency has been fitted to measurements yet; best is a bound",
        ),
    ]
    return tuple(dict.fromkeys(found))


def _defaults(binding: Binding, workload: Workload, defaults: tuple[str, ...]) -> Iterator[Note]:
    """A note for each size that was taken for granted and that the model has a use for."""
    model = binding.model
    reads_text = any("prompt" in encoder.reads.words for encoder in model.encoders)
    used = {"batch", *(("prompt",) if reads_text or (model.layers and not model.start_tokens) else ())}
    used |= {"prompt", "output"} if model.opaque_parameters else {"output"} if model.has_decoder else set()
    for name in defaults:
        if name in used:
            text = f"{name} was not given: {getattr(workload, name)} is taken"
            yield Note(level="info", code="default-workload", text=text)


def _workload(binding: Binding, workload: Workload) -> Iterator[Note]:
    model = binding.model
    if not model.has_decoder:
        return
    if workload.given:
        whole = f"{workload.decoder_prompt:,} in all"
        text = f"what the encoders read becomes {workload.given:,} tokens of the prompt: {whole}"
        yield Note(level="info", code="encoder-tokens", text=text)
    if model.start_tokens:
        begins = "token" if workload.start == 1 else "tokens"
        text = f"the decoder begins with {workload.start} {begins}; each step reads what the encoder left"
        yield Note(level="info", code="decoder-start", text=text)
    if workload.context is None and workload.output > 1:
        text = f"decode is the step in the middle of the output, attending to {workload.decode_context:,} tokens"
        yield Note(level="info", code="decode-step", text=text)
    if workload.output == 1:
        yield Note(
            level="info", code="no-decode", text="one output token: it comes from prefill, there is no decode step"
        )


def _stored(binding: Binding) -> Iterator[Note]:
    """Where the files of the weights and the configuration, or the words of the scenario, disagree."""
    stored = binding.model.stored
    if stored is None:
        return
    if binding.deployment.weights:
        text = f"weights are counted as {binding.deployment.weights}, as asked, and not as the model's files hold them"
        yield Note(level="info", code="stored-unused", text=text)
    elif stored.has_config:
        configured = weight_bytes(replace(binding.model, stored=None), Deployment())
        held = weight_bytes(binding.model, Deployment())
        if configured != held:
            text = (
                f"the files hold {held:,} bytes of weights, and the configuration says {configured:,}: theirs are taken"
            )
            yield Note(level="warning", code="stored-bytes", text=text)


def _dtypes(binding: Binding) -> Iterator[Note]:
    for dtype, _ in binding.main_plan.peaks:
        yield from binding.device.marks(dtype)
    if binding.main_plan.vector_peak is None:
        text = f"the rate of {binding.device.name}'s vector units is not known: their clock is left out"
        yield Note(level="info", code="no-vector-peak", text=text)
    if binding.device.memory_bytes is None:
        text = f"the memory of {binding.device.name} is not known: whether it fits is not said"
        yield Note(level="info", code="no-memory-size", text=text)


def _choices(binding: Binding, phases: tuple[Phase, ...]) -> Iterator[Note]:
    engine = binding.engine
    text = f"engine {engine.name}: {engine.title[0].lower()}{engine.title[1:]}; no overhead is counted"
    yield Note(level="info", code="engine", text=text)
    if any(basis.kind == "experts" for basis in binding.main_plan.bases):
        text = "experts touched are those that even routing is expected to; skewed loads touch fewer (--routing least)"
        yield Note(level="info", code="expert-routing", text=text)
    if any(basis.kind == "fewest_experts" for basis in binding.main_plan.bases):
        text = "experts touched are the fewest that any routing can touch: each token goes to the same"
        yield Note(level="info", code="expert-routing", text=text)
    for phase in phases:
        for row in phase.operators:
            if row.kind == "latent_attention":
                how = row.name.removeprefix("attention_")
                why = "fewer FLOPs for this step" if len(binding.plans) > 1 else "as asked"
                yield Note(
                    level="info", code="latent-attention", text=f"{phase.name}: latent attention is {how} ({why})"
                )


def _positions(binding: Binding, workload: Workload) -> Iterator[Note]:
    most, model = binding.model.max_position_embeddings, binding.model
    length = workload.last_context if model.has_decoder else workload.prompt
    reads_text = model.has_decoder or any("prompt" in encoder.reads.words for encoder in model.encoders)
    if most is not None and reads_text and length > most:
        text = f"{length:,} tokens are more than the {most:,} positions that {binding.model.name} states"
        yield Note(level="warning", code="beyond-positions", text=text)


def _pieces(binding: Binding, workload: Workload) -> Iterator[Note]:
    most = binding.engine.max_num_batched_tokens
    if binding.model.layers and workload.batch * (workload.decoder_prompt - workload.cached) > most:
        text = f"memory holds the activations of {most:,} tokens at once: longer prompts are prefilled in pieces"
        yield Note(level="info", code="prefill-pieces", text=text)


def _unused(binding: Binding) -> Iterator[Note]:
    """Words that change nothing for this model, and dtypes that are mixed."""
    deployed, kinds = binding.deployment, {basis.kind for basis in binding.main_plan.bases}
    if deployed.attention in ("absorbed", "expanded") and not has_latent_attention(binding.model):
        text = f"attention {deployed.attention} changes nothing: {binding.model.name} has no latent attention"
        yield Note(level="info", code="unused-word", text=text)
    if deployed.routing == "least" and not kinds & {"experts", "fewest_experts"}:
        text = f"routing changes nothing: {binding.model.name} has no experts"
        yield Note(level="info", code="unused-word", text=text)
    if deployed.mtp and not binding.model.prediction_layers:
        text = f"mtp changes nothing: no layers that draft tokens are known of {binding.model.name}"
        yield Note(level="info", code="unused-word", text=text)
    dtypes = [dtype for dtype, _ in binding.main_plan.peaks]
    if len(dtypes) > 1:
        text = f"{' and '.join(dtypes)} are mixed: a phase's ridge point weighs their peaks by the work in each"
        yield Note(level="info", code="mixed-dtypes", text=text)


def _warm(phases: tuple[Phase, ...]) -> Iterator[Note]:
    for phase in phases:
        warm_s = phase.clocks.memory_warm_s
        if warm_s is not None and warm_s < (1 - _WARM_SHARE) * phase.clocks.memory_s:
            text = (
                f"{phase.name}: what stays in the last-level cache from one step to the next need not be read again: "
                f"the floor of the memory clock is {warm_s:.4g} s, {phase.clocks.memory_s:.4g} s with cold caches"
            )
            yield Note(level="warning", code="warm-cache", text=text)
