"""What mansard counts for the pass that a class runs, under the conventions of the class.

The classes multiply the whole square of a prefill and mask it, decode against what their caches hold, and expand latent
attention from the latents of all tokens. Everything else is what an analysis counts.
"""

from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import NamedTuple

from classes import Passes

from mansard.forward import operators
from mansard.inputs.engine import load_engine
from mansard.inputs.model import ModelConfig
from mansard.inputs.scenario import Deployment
from mansard.memory import cache_bytes
from mansard.operators.cost import Op, Term
from mansard.operators.step import Step

BF16 = Deployment(weights="bf16", kv="bf16")
# Classes that cache keys and values broadcast to all query heads, as no engine does.
_BROADCAST_CACHES = ("falcon",)
# Classes whose caches keep every token, and whose windows are a mask over it.
_MASKED_WINDOWS = ("gpt_neo",)
# Classes that keep their states outside of the library's cache.
_OWN_STATES = ("recurrent_gemma", "rwkv")
# Classes that mix the sequences of a batch with each other where each has one new token.
_MIXED_SEQUENCES = ("rwkv",)
# Classes that take every position of a prompt through the layers that keep no cache, and join their streams for all.
_WHOLE_PROMPTS = ("gemma3n_text",)
_FOR_ALL = ("project_out", "altup_unembed_projection")
_KINDS = {
    "linear": "gemm",
    "experts": "gemm",
    "attention": "attention",
    "latent_attention": "attention",
    "index": "attention",
}


class Convention(NamedTuple):
    """What a class does that an engine would not: logits everywhere, every expert for every token, windows as masks."""

    all_logits: bool = False
    all_experts: bool = False
    masked_windows: bool = False


class Counted(NamedTuple):
    """Matrix FLOPs of one step, and elements of the matrices that it multiplies by (all experts of a layer)."""

    gemm_flops: int
    attention_flops: int
    weight_elements: int


def counted(model: ModelConfig, step: Step, convention: Convention) -> Counted:
    """The step's matrix work as the class does it; a prefill is a step behind an empty cache."""
    sums: Counter[str] = Counter()
    for op in operators(model, BF16, load_engine("ideal"), "expanded"):
        if op.name == "streams":  # mixed by a product of [A, A] for each token in the class
            sums["attention"] += op.count * 2 * _value(op, "A") ** 2 * _value(op, "h") * int(step.batch * step.new)
        if op.kind not in _KINDS:
            continue
        # The weighed sum over the index heads is a product in the class, and work of the vector units here.
        weighed = [term._replace(coefficient=2 * _value(op, "H_i")) for term in op.vector_flops if op.kind == "index"]
        for term in (*op.flops, *weighed):
            # Latents of cached tokens are expanded by the same matrix as those of new ones: a product with weights.
            kind = "gemm" if term.basis.kind == "reads" else _KINDS[op.kind]
            sums[kind] += op.count * _flops(op, term, step, convention)
        if _KINDS[op.kind] == "gemm":
            elements = sum(int(term.coefficient) for term in op.flops) // 2
            sums["weights"] += op.count * int(elements * _experts_per_choice(op))
    return Counted(sums["gemm"], sums["attention"], sums["weights"])


class Difference(NamedTuple):
    """A number of which mansard's and the class's differ."""

    what: str
    ours: int
    theirs: int


def differences(model: ModelConfig, passes: Passes, *, batch: int, prompt: int) -> list[Difference]:
    """Everything in which mansard and a class's passes (a prefill, then one decode step) disagree; empty if nothing."""
    masked = model.model_type in _MASKED_WINDOWS
    if model.model_type in _WHOLE_PROMPTS:
        model = replace(model, layers=tuple(layer._replace(last_only=False) for layer in model.layers))
    convention = Convention(passes.all_logits, passes.all_experts, masked_windows=masked)
    found = [Difference("parameters", model.parameters, passes.parameters)]
    if prompt < _narrowest(model) and model.model_type not in _BROADCAST_CACHES:
        found.append(Difference("cache elements", batch * kept_elements(model, prompt), passes.cache_elements))
    states = model.state_elements + model.convolution_state_elements
    if model.model_type not in _OWN_STATES:
        found.append(Difference("state elements", batch * states, passes.state_elements))
    names = _compared(model)
    for phase, new, cached in (("prefill", prompt, 0), ("decode", 1, prompt)):
        if phase == "decode" and model.model_type in _MIXED_SEQUENCES:
            continue
        ours, theirs = counted(model, Step(batch, new, cached), convention), passes.phases[phase]
        found += [Difference(f"{phase} {name}", getattr(ours, name), getattr(theirs, name)) for name in names]
    return [one for one in found if one.ours != one.theirs]


def _compared(model: ModelConfig) -> tuple[str, ...]:
    return ("gemm_flops",) if model.state_elements or model.convolution_state_elements else Counted._fields


def _narrowest(model: ModelConfig) -> float:
    """The narrowest window of the model's layers: from there on a class keeps W - 1 tokens and mansard W."""
    limits = [getattr(layer.mixer, name, None) for layer, _ in model.distinct_layers for name in ("window", "chunk")]
    return min((limit for limit in limits if limit is not None), default=float("inf"))


def kept_elements(model: ModelConfig, tokens: int) -> int:
    """Cache elements of one sequence of so many tokens."""
    return cache_bytes(model, BF16, tokens) // 2


def _flops(op: Op, term: Term, step: Step, convention: Convention) -> int:
    value = step.value(term.basis)
    step = step.at_last() if term.basis.last else step
    if term.basis.kind == "pairs" and (step.cached == step.before or convention.masked_windows):
        value = step.batch * step.new * (step.cached + step.new)
    if term.basis.kind == "pairs" and term.basis.chunk is not None and step.cached:
        value = step.batch * min(step.cached + 1, term.basis.chunk)
    # OPT's class takes all positions back to the embedding's width, Gemma 3n's joins their streams, and then the last
    # alone goes to logits.
    if term.basis.kind == "sampled" and (convention.all_logits or op.name in _FOR_ALL):
        value = step.batch * step.new
    return int(term.coefficient * value * (_experts_per_choice(op) if convention.all_experts else 1))


def _value(op: Op, symbol: str) -> int:
    return next(int(value) for name, value, _ in op.symbols if name == symbol)


def _experts_per_choice(op: Op) -> Fraction:
    """E / k of a mixture, 1 of anything else."""
    symbols = {symbol: int(value) for symbol, value, _ in op.symbols if symbol in ("E", "k")}
    return Fraction(symbols["E"], symbols["k"]) if op.kind == "experts" else Fraction(1)
