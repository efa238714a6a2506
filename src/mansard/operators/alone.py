"""Each operator by itself: its inputs, checked, become what it loads, works and stores, step by step."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple, TypeAlias

from mansard.errors import Fault, InputError, UsageError, did_you_mean
from mansard.inputs.mixers import LatentAttention
from mansard.inputs.notes import Note
from mansard.operators.attention import SOFTMAX_FLOPS, latent_attention
from mansard.operators.cost import Form, Setting
from mansard.operators.elementwise import ACTIVATION_FLOPS, GELU_FLOPS, NORM_FLOPS, ROTARY_FLOPS, SAMPLING_FLOPS
from mansard.operators.step import Step, attended_pairs, distinct_experts
from mansard.precision import DTYPE_BITS, arithmetic_dtype, dtype_name, weight_format

_LARGEST = 1 << 40


class OperatorStep(NamedTuple):
    """One step of a single operator: what it loads, works and stores."""

    name: str
    loads_bytes: float
    flops: float
    stores_bytes: float


class Steps(NamedTuple):
    """What an operator does, step by step; the dtype of its matrix work; and the FLOPs that are vector work."""

    steps: tuple[OperatorStep, ...]
    dtype: str
    vector_flops: float = 0
    notes: tuple[Note, ...] = ()


class Inputs:
    """The inputs of an operator, checked one by one; every fault is kept, and a key that none asked for is one."""

    def __init__(self, name: str, given: Mapping[str, Any]) -> None:
        self.name = name
        self.given = dict(given)
        self.used: dict[str, Any] = {}
        self.faults: list[Fault] = []

    def size(self, key: str, default: int | None = None, minimum: int = 1) -> int:
        """A whole number."""
        value = self.value(key, default)
        try:
            number = int(value) if not isinstance(value, float) or value.is_integer() else None
        except (TypeError, ValueError):
            number = None
        if number is None or isinstance(value, bool) or not minimum <= number <= _LARGEST:
            self.fault(key, f"must be a whole number between {minimum} and {_LARGEST}", value)
            return minimum
        self.used[key] = number
        return number

    def word(self, key: str, default: str, choices: tuple[str, ...], also: Mapping[str, str] | None = None) -> str:
        """One of the choices, or another name of one."""
        value = str(self.value(key, default))
        value = self.used[key] = (also or {}).get(value, value)
        if value not in choices:
            self.fault(key, "is not known", value, did_you_mean(value, choices) or f"one of {', '.join(choices)}")
            return default
        return value

    def dtype(self, key: str = "dtype", default: str = "bf16") -> str:
        """A dtype by any of its spellings."""
        value = str(self.value(key, default))
        found = dtype_name(value)
        if found is None:
            self.fault(key, "is no dtype that is known", value, f"one of {', '.join(DTYPE_BITS)}")
            return default
        self.used[key] = found
        return found

    def finish(self, known: tuple[str, ...]) -> None:
        """Raises one error with every fault; keys that the operator does not have are among them."""
        for key in self.given:
            if key not in self.used:
                hint = did_you_mean(key, known) or f"{self.name} takes {', '.join(known)}"
                self.fault(key, f"is no input of {self.name}", self.given[key], hint)
        if self.faults:
            raise UsageError(str(InputError(self.faults)), faults=self.faults)

    def value(self, key: str, default: Any) -> Any:
        """An input as it was given; a fault if it is needed and missing."""
        value = self.given.get(key, default)
        self.used[key] = value
        if value is None:
            self.fault(key, f"is needed by {self.name}", None, f"{key}=…")
            return 1
        return value

    def fault(self, key: str, problem: str, value: Any, hint: str = "") -> None:
        """Adds a fault, unless the input has one already."""
        if not any(fault.key == key for fault in self.faults):
            self.faults.append(Fault(problem=problem, key=key, value=value, hint=hint))


def _gemm(inputs: Inputs) -> Steps:
    """[m, k]·[k, n]: 2·m·n·k FLOPs; both factors are loaded once and the product is stored once."""
    m, n, k = inputs.size("m"), inputs.size("n"), inputs.size("k")
    dtype = inputs.dtype()
    weights = weight_format(str(inputs.value("weights", dtype)))
    if weights is None:
        inputs.fault("weights", "is no weight format that is known", inputs.given.get("weights"))
        return Steps((), dtype)
    loads = _bytes(m * k, dtype) + weights.matrix_bytes(k, n)
    step = OperatorStep(name="product", loads_bytes=loads, flops=2 * m * n * k, stores_bytes=_bytes(m * n, dtype))
    return Steps((step,), arithmetic_dtype(weights, dtype))


def _attention(inputs: Inputs) -> Steps:
    """Attention of one sequence over itself: standard writes its scores, flash keeps them; decode is one query."""
    length, head_dim = inputs.size("length"), inputs.size("head_dim")
    kind = inputs.word("kind", "flash", ("standard", "flash", "decode"), also={"fused": "flash"})
    heads = inputs.size("heads", 1)
    kv_heads = inputs.size("kv_heads", heads)
    causal = inputs.word("causal", "no", ("no", "yes")) == "yes"
    dtype = inputs.dtype()
    if heads % kv_heads:
        inputs.fault("kv_heads", f"must divide heads, {heads}", kv_heads)
    batch, window = inputs.size("batch", 1), inputs.size("window", 0, minimum=0) or None
    if window and kind != "decode" and not (kind == "flash" and causal):
        inputs.fault("window", "limits what is attended to only in decode, or with kind=flash causal=yes", window)
    queries = 1 if kind == "decode" else length
    seen = length * length if kind == "standard" or not causal else attended_pairs(length, 0, window)
    pairs = batch * heads * (attended_pairs(1, length - 1, window) if kind == "decode" else seen)
    q = _bytes(batch * heads * queries * head_dim, dtype)
    kept = min(length, window) if kind == "decode" and window else length
    kv = _bytes(batch * kv_heads * kept * head_dim, dtype)
    scores = _bytes(pairs, dtype) if kind == "standard" else 0
    product, softmax = 2 * pairs * head_dim, SOFTMAX_FLOPS * pairs
    steps = (
        OperatorStep(name="S = Q·Kᵀ", loads_bytes=q + kv, flops=product, stores_bytes=scores),
        OperatorStep(name="P = softmax(S)", loads_bytes=scores, flops=softmax, stores_bytes=scores),
        OperatorStep(name="O = P·V", loads_bytes=scores + kv, flops=product, stores_bytes=q),
    )
    return Steps(steps, dtype, softmax, _attention_notes(kind, length, causal))


def _latent(inputs: Inputs) -> Steps:
    """Latent attention (MLA) of `new` tokens that end a context of `length`: absorbed, or expanded from the latents."""
    length, new = inputs.size("length"), inputs.size("new", 1)
    batch, heads = inputs.size("batch", 1), inputs.size("heads", 128)
    how = inputs.word("form", "absorbed", ("absorbed", "expanded"))
    mixer = LatentAttention(
        heads=heads, q_lora_rank=None, kv_lora_rank=inputs.size("kv_lora_rank", 512),
        qk_nope_head_dim=inputs.size("qk_nope_head_dim", 128), qk_rope_head_dim=inputs.size("qk_rope_head_dim", 64),
        v_head_dim=inputs.size("v_head_dim", 128),
    )  # fmt: skip
    dtype = inputs.dtype()
    if new > length:
        inputs.fault("new", f"must not exceed length, {length}", new)
        return Steps((), dtype)
    bits = DTYPE_BITS[dtype]
    op = latent_attention(mixer, Setting(dtype, bits, bits, fusion="usual", attention=how))
    step = Step(batch=batch, new=new, cached=length - new)
    flops, vector = _worth(op.flops, step), _worth(op.vector_flops, step)
    stores = _bytes(batch * new * heads * mixer.v_head_dim, dtype)
    loads = _worth(op.activation_bytes, step) - stores + _worth(op.cache_read_bytes, step)
    work = OperatorStep(name=f"attention, {how}", loads_bytes=loads, flops=flops + vector, stores_bytes=stores)
    kept = f"{mixer.cache_elements_per_token} elements each"
    text = f"{new:,} of {length:,} tokens are new; the others are read from the cache, {kept}"
    return Steps((work,), dtype, vector, (Note(level="info", code="latent-attention", text=text),))


def _worth(form: Form, step: Step) -> Any:
    """The value of a form in a step."""
    return sum(term.coefficient * step.value(term.basis) for term in form)


def _attention_notes(kind: str, length: int, causal: bool) -> tuple[Note, ...]:
    if kind == "decode":
        text = f"one query over {length:,} cached keys and values: what a decode step does for each sequence and head"
        return (Note(level="info", code="decode-query", text=text),)
    part = "lower half of the " if causal and kind == "flash" else "full "
    square = f"the {part}square of {length:,} queries by {length:,} keys"
    found = [Note(level="info", code="full-square", text=f"{square}: a prompt, not a decode step, which is one query")]
    if kind == "standard" and causal:
        text = "standard attention computes the whole square, and the mask hides half of it"
        found.append(Note(level="info", code="standard-square", text=text))
    return tuple(found)


def _moe(inputs: Inputs) -> Steps:
    """A mixture of gated experts: weights of the experts that the tokens touch, work of k experts for each token."""
    tokens, hidden, width = inputs.size("tokens"), inputs.size("hidden"), inputs.size("intermediate")
    experts = inputs.size("experts")
    chosen = inputs.size("per_token")
    dtype = inputs.dtype()
    if chosen > experts:
        inputs.fault("per_token", f"must not exceed experts, {experts}", chosen)
    touched = distinct_experts(experts, chosen, tokens)
    gate_up, down = 2 * hidden * width, width * hidden
    activations = _bytes(tokens * chosen, dtype)
    steps = (
        OperatorStep(name="gate and up", loads_bytes=touched * _bytes(gate_up, dtype) + activations * hidden,
                     flops=2 * tokens * chosen * gate_up, stores_bytes=activations * 2 * width),
        OperatorStep(name="down", loads_bytes=touched * _bytes(down, dtype) + activations * width,
                     flops=2 * tokens * chosen * down, stores_bytes=activations * hidden),
    )  # fmt: skip
    text = f"{tokens:,} tokens touch {touched:.4g} of {experts:,} experts, expected for even routing"
    return Steps(steps, dtype, 0, (Note(level="info", code="expert-routing", text=text),))


def _norm(inputs: Inputs) -> Steps:
    """A norm of each token's vector: in and out once, and its weight."""
    tokens, hidden = inputs.size("tokens"), inputs.size("hidden")
    kind = inputs.word("kind", "rms", tuple(NORM_FLOPS))
    dtype = inputs.dtype()
    flops = NORM_FLOPS[kind] * tokens * hidden
    weights = _bytes({"layer": 2, "none": 0}.get(kind, 1) * hidden, dtype)
    return _vector("norm", _bytes(tokens * hidden, dtype) + weights, flops, _bytes(tokens * hidden, dtype), dtype)


def _activation(inputs: Inputs) -> Steps:
    """A non-linearity, times a gate unless gated=no."""
    tokens, width = inputs.size("tokens"), inputs.size("intermediate")
    kind = inputs.word("kind", "silu", (*ACTIVATION_FLOPS, "gelu"))
    gated = inputs.word("gated", "yes", ("yes", "no")) == "yes"
    dtype = inputs.dtype()
    flops = (ACTIVATION_FLOPS.get(kind, GELU_FLOPS) + gated) * tokens * width
    return _vector(
        "activation", _bytes((1 + gated) * tokens * width, dtype), flops, _bytes(tokens * width, dtype), dtype
    )


def _rotary(inputs: Inputs) -> Steps:
    """Rotary positions of every query and key head."""
    tokens, heads, head_dim = inputs.size("tokens"), inputs.size("heads"), inputs.size("head_dim")
    kv_heads = inputs.size("kv_heads", heads)
    dtype = inputs.dtype()
    elements = tokens * (heads + kv_heads) * head_dim
    return _vector("rotary", _bytes(elements, dtype), ROTARY_FLOPS * elements, _bytes(elements, dtype), dtype)


def _residual(inputs: Inputs) -> Steps:
    """The sum of two vectors per token."""
    tokens, hidden = inputs.size("tokens"), inputs.size("hidden")
    dtype = inputs.dtype()
    elements = tokens * hidden
    return _vector("sum", _bytes(2 * elements, dtype), elements, _bytes(elements, dtype), dtype)


def _embedding(inputs: Inputs) -> Steps:
    """A look-up: a row of the table for each token, no arithmetic."""
    tokens, hidden = inputs.size("tokens"), inputs.size("hidden")
    dtype = inputs.dtype()
    return _vector("look-up", _bytes(tokens * hidden, dtype), 0, _bytes(tokens * hidden, dtype), dtype)


def _append(inputs: Inputs) -> Steps:
    """New keys and values written to one layer's cache."""
    tokens, kv_heads, head_dim = inputs.size("tokens"), inputs.size("kv_heads"), inputs.size("head_dim")
    dtype = inputs.dtype()
    elements = 2 * tokens * kv_heads * head_dim
    return _vector("append", _bytes(elements, dtype), 0, _bytes(elements, dtype), dtype)


def _sampling(inputs: Inputs) -> Steps:
    """A softmax over the logits of each sequence, and one token out (4 bytes)."""
    batch, vocabulary = inputs.size("batch"), inputs.size("vocab")
    dtype = inputs.dtype()
    elements = batch * vocabulary
    return _vector("sampling", _bytes(elements, dtype), SAMPLING_FLOPS * elements, 4 * batch, dtype)


# What works an operator's steps out, and the inputs that it takes, the needed ones first.
Work: TypeAlias = tuple[Callable[[Inputs], Steps], tuple[str, ...]]

OPERATORS: dict[str, Work] = {
    "gemm": (_gemm, ("m", "n", "k", "weights", "dtype")),
    "attention": (
        _attention,
        ("length", "head_dim", "kind", "heads", "kv_heads", "causal", "batch", "window", "dtype"),
    ),
    "latent_attention": (
        _latent,
        (
            "length",
            "new",
            "batch",
            "heads",
            "form",
            "kv_lora_rank",
            "qk_nope_head_dim",
            "qk_rope_head_dim",
            "v_head_dim",
            "dtype",
        ),
    ),
    "moe": (_moe, ("tokens", "hidden", "intermediate", "experts", "per_token", "dtype")),
    "norm": (_norm, ("tokens", "hidden", "kind", "dtype")),
    "activation": (_activation, ("tokens", "intermediate", "kind", "gated", "dtype")),
    "rotary": (_rotary, ("tokens", "heads", "kv_heads", "head_dim", "dtype")),
    "residual": (_residual, ("tokens", "hidden", "dtype")),
    "embedding": (_embedding, ("tokens", "hidden", "dtype")),
    "append": (_append, ("tokens", "kv_heads", "head_dim", "dtype")),
    "sampling": (_sampling, ("batch", "vocab", "dtype")),
}


def _vector(name: str, loads: float, flops: float, stores: float, dtype: str) -> Steps:
    return Steps((OperatorStep(name=name, loads_bytes=loads, flops=flops, stores_bytes=stores),), dtype, flops)


def _bytes(elements: int, dtype: str) -> int:
    return -(-elements * DTYPE_BITS[dtype] // 8)
