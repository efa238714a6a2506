"""Which format each matrix of a model is stored in, from rules that name modules, compiled into its layers."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from mansard.inputs.encoder import Encoder
from mansard.inputs.expressions import UnreadableError
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Layer, MixtureOfExperts, Quantization
from mansard.inputs.model import ModelConfig
from mansard.inputs.modules import ModuleNames, Stored, stored_matrices
from mansard.inputs.rules import Rule, RuleBook
from mansard.precision import WEIGHT_FORMATS, WeightFormat

# Kept in the model's dtype unless a rule names them: quantisers leave them alone, and what is one column wide.
WIDE = frozenset({"head", "embedding", "router", "gate", "index_weights", "joining"})
_OWN_KINDS = {"shared_expert.shared_expert_gate": "gate", "mixer.index_weights_proj": "index_weights",
              "extras.eh_proj": "joining"}  # fmt: skip
_EXPERT = re.compile(r"experts\\?\.(\d{1,6})")
_LAYER = re.compile(r"(?:layers|blocks|h)\\?\.(\d{1,6})")
# Modules that hold no matrix which is counted as one, or stand beside the language model.
_ELSEWHERE = re.compile(
    r"norm|conv1d|embed|bias|visual|vision|audio|image|speech|projector|connector|mtp|nextn|eh_proj|shared_head|rotary"
)
_MOST_TRIALS = 2_000_000
LEAVE_OUT = "leave quantization_config out and give --weights, for one format of all layers"


class Scheme(NamedTuple):
    """How a checkpoint says that it stores its weights, before it is known which modules there are.

    `default` is the format of what no rule names; None: the model's dtype. `wide`: parts that keep the model's dtype
    unless a rule names them; `by_part`: parts with a format of their own. `cache`: the dtype of the cache that the
    checkpoint is made for. `key`: where the rules stand.
    """

    method: str
    default: WeightFormat | None
    rules: tuple[Rule, ...] = ()
    wide: frozenset[str] = WIDE
    by_part: tuple[tuple[str, WeightFormat], ...] = ()
    cache: str | None = None
    key: str = "quantization_config"


def stored(model: ModelConfig, scheme: Scheme, names: ModuleNames, keys: Keys) -> ModelConfig:
    """The model with the format of each of its matrices. Faults are kept in `keys`; what names nothing is noted."""
    try:
        book = RuleBook(scheme.rules)
    except UnreadableError as wrong:
        keys.fault(scheme.key, f"has an expression that {wrong}", hint=LEAVE_OUT)
        return model
    if book.slow * len(model.layers) * 12 > _MOST_TRIALS:
        keys.fault(scheme.key, "has more patterns than can be tried in reasonable time", len(scheme.rules), LEAVE_OUT)
        return model
    plan = _Plan(model, scheme, names, book)
    layers = tuple(plan.layer(index, layer) for index, layer in enumerate(model.layers))
    first = len(layers) if names.numbers_on() else 0
    drafting = tuple(
        plan.layer(first + index, layer, of="prediction") for index, layer in enumerate(model.prediction_layers)
    )
    outer = {part: plan.outer(part) for part in ("head", "embedding")}
    if plan.mixed:
        problem = f"gives the experts of {plan.mixed} different formats, which cannot be counted apart"
        keys.fault(scheme.key, problem, hint=LEAVE_OUT)
    _note_unused(plan, keys)
    if plan.has_unnamed_router and scheme.default:
        keys.note(
            "router-format", f"no rule names the routers: they are counted in {model.dtype}, as quantisers leave them"
        )
    encoders = tuple(_default_stored(encoder, scheme) for encoder in model.encoders)
    if model.encoders:
        held = scheme.default.name if scheme.default and not scheme.rules else model.dtype
        text = f"matrices of the encoders' layers are counted in {held}, those around them in {model.dtype}"
        keys.note("encoder-formats", text, "warning")
    if scheme.cache:
        text = f"the checkpoint is made for a cache in {scheme.cache}, which is taken; --kv asks for another"
        keys.note("cache-format", text)
    quantization = Quantization(
        method=scheme.method, cache=scheme.cache, head=outer["head"], embedding=outer["embedding"]
    )
    return replace(model, layers=layers, prediction_layers=drafting, encoders=encoders, quantization=quantization)


def _default_stored(encoder: Encoder, scheme: Scheme) -> Encoder:
    """An encoder whose layers have the format of what no rule names; as it is where rules name modules.

    What checkpoints call the modules of encoders is not known.
    """
    if scheme.default is None or scheme.rules:
        return encoder
    made: dict[int, Layer] = {}
    for layer in encoder.layers:
        if id(layer) not in made:
            keys = [one.key for one in stored_matrices(layer, encoder.hidden_size)]
            made[id(layer)] = layer._replace(storage=tuple((key, scheme.default) for key in keys))
    return encoder._replace(layers=tuple(made[id(layer)] for layer in encoder.layers))


class _Plan:
    """The formats of one model's matrices while they are worked out."""

    def __init__(self, model: ModelConfig, scheme: Scheme, names: ModuleNames, book: RuleBook) -> None:
        self.model, self.scheme, self.names, self.book = model, scheme, names, book
        self.plain = WEIGHT_FORMATS[model.dtype]
        self.unnamed: dict[str, None] = {}
        self.mixed = ""
        self.has_unnamed_router = False
        self._numbers = {int(found[1]) for rule in scheme.rules for found in _EXPERT.finditer(rule.pattern)}
        self._layers: dict[tuple[int, tuple[tuple[str, WeightFormat], ...]], Layer] = {}
        self._matrices: dict[int, tuple[Stored, ...]] = {}

    def layer(self, index: int, layer: Layer, *, of: str = "layer") -> Layer:
        """The layer with its storage; one object for alike ones, as families make them."""
        if id(layer) not in self._matrices:
            self._matrices[id(layer)] = tuple(stored_matrices(layer, self.model.hidden_size))
        formats = tuple((one.key, self._format(one, layer, index, of)) for one in self._matrices[id(layer)])
        key = (id(layer), formats)
        if key not in self._layers:
            self._layers[key] = layer._replace(storage=formats)
        return self._layers[key]

    def outer(self, part: str) -> WeightFormat:
        """The format of the head or the embedding; a tied head is the embedding's table."""
        tied = self.model.head is not None and self.model.head.tied
        found = self._chosen(self.names.whole("embedding" if tied else part))
        return self._otherwise("embedding" if tied else part) if found is None else found

    def _format(self, one: Stored, layer: Layer, index: int, of: str) -> WeightFormat:
        part = _OWN_KINDS.get(one.key, one.part)
        names = self.names.in_layer(one.key, index, of=of)
        if part == "router" and _is_corrected(layer):
            self._chosen(names)
            return self.plain  # a parameter of a class of its own, no linear layer, whatever names it
        if not names:
            self.unnamed[one.matrix.name] = None
        if one.copies == 1 or not any("{expert}" in name for name in names):
            found = self._chosen(names)
            return self._otherwise(part) if found is None else found
        formats = [self._of_expert(part, names, number) for number in self._tried(one.copies)]
        if any(other != formats[0] for other in formats):
            self.mixed = self.mixed or f"layer {index}"
        return formats[0]

    def _of_expert(self, part: str, names: Sequence[str], number: int) -> WeightFormat:
        found = self._chosen(tuple(name.replace("{expert}", str(number)) for name in names))
        return self._otherwise(part) if found is None else found

    def _tried(self, experts: int) -> list[int]:
        """Experts by which all are known: some, and each whose number a rule bears."""
        return sorted({0, min(1, experts - 1), experts // 2, experts - 1} | {n for n in self._numbers if n < experts})

    def _chosen(self, names: Sequence[str]) -> WeightFormat | None:
        rule = self.book.first(names) if self.scheme.rules else None
        return None if rule is None else rule.format or self.plain

    def _otherwise(self, part: str) -> WeightFormat:
        own = dict(self.scheme.by_part).get(part)
        self.has_unnamed_router |= part == "router" and part in self.scheme.wide
        return own or (self.plain if part in self.scheme.wide else self.scheme.default or self.plain)


def _is_corrected(layer: Layer) -> bool:
    part = layer.feed_forward
    return isinstance(part, MixtureOfExperts) and part.correction_buffer > 0


def _note_unused(plan: _Plan, keys: Keys) -> None:
    """Says which rules name nothing that is counted; refuses them where it is not known what modules are called."""
    shown = [rule.pattern for rule in plan.book.unused() if not _is_elsewhere(rule, plan)]
    if not shown:
        return
    listed = ", ".join(repr(pattern[:60]) for pattern in shown[:3]) + (f" and {len(shown) - 3} more" * (len(shown) > 3))
    if plan.unnamed:
        problem = f"names modules ({listed}), and what checkpoints call {', '.join(plan.unnamed)} is not known"
        keys.fault(plan.scheme.key, problem, hint=LEAVE_OUT)
    keys.note("unknown-modules", f"{plan.scheme.key} names no module that is counted: {listed}", "warning")


def _is_elsewhere(rule: Rule, plan: _Plan) -> bool:
    """Whether what a rule names is known, and no matrix of the layers."""
    pattern = rule.pattern
    if _ELSEWHERE.search(pattern):
        return True
    numbers = [int(found[1]) for found in _LAYER.finditer(pattern)]
    if numbers and min(numbers) >= len(plan.model.layers):
        return True  # an extra prediction layer
    is_head = pattern.rsplit(".", 1)[-1].strip("*$") == "lm_head"
    return is_head and (plan.model.head is None or plan.model.head.tied or "head" in plan.scheme.wide)


def format_shares(model: ModelConfig) -> tuple[tuple[str, float], ...]:
    """The formats that a model's parameters are stored in, by name, with the share of each; the largest first."""
    elements: dict[str, int] = {}
    for name, count in _stored_elements(model):
        elements[name] = elements.get(name, 0) + count
    total = sum(elements.values())
    ordered = sorted(elements.items(), key=lambda item: -item[1])
    return tuple((name, count / total) for name, count in ordered) if total else ()


def _stored_elements(model: ModelConfig) -> Iterator[tuple[str, int]]:
    matrices = 0
    for layer, count in model.distinct_layers:
        formats = dict(layer.storage)
        for one in stored_matrices(layer, model.hidden_size):
            found = one.copies * one.matrix.elements * (1 if layer.shared else count)
            matrices += found
            yield (formats[one.key].name if one.key in formats else model.dtype), found
    quantization, head = model.quantization, model.head
    if quantization is not None and model.embedding is not None:
        matrices += model.embedding.token_parameters
        yield quantization.embedding.name, model.embedding.token_parameters
    if quantization is not None and head is not None and not head.tied:
        matrices += head.matrix.elements
        yield quantization.head.name, head.matrix.elements
    yield model.dtype, model.parameters - matrices
