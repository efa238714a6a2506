"""The Llama-Nemotron family from architecture search: Llama's layers, some without attention, each of its own width.

`block_configs` says of each layer what its attention is (grouped by `n_heads_in_group`, no operation, or one matrix
[hidden, hidden] in its place), and its feed-forward part (a width as `intermediate_size` or `ffn_mult`, no operation,
or one matrix). A part that is no operation has no norm. The width of ffn_mult m is 2·m·hidden/3, rounded up to a
multiple of 256: 2.625 of 8,192 gives 14,336.

Sources: arXiv:2411.19146; arXiv:2505.00949; the published remote code of nvidia/Llama-3_3-Nemotron-Super-49B-v1.
"""

from mansard.architectures._reading import decoder, nullable_size, quiet_flag
from mansard.inputs.keys import MOST_LAYERS, WIDEST, Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("nemotron-nas",)
ARCHITECTURES = ("DeciLMForCausalLM",)
MODULES = {"extras.attention_linear": "self_attn.linear_attn", "extras.feed_forward_linear": "mlp.linear_mlp"}
_KEYS_OF_ATTENTION = ("n_heads_in_group", "no_op", "replace_with_linear", "window_length")
_KEYS_OF_FEED_FORWARD = ("ffn_mult", "no_op", "replace_with_linear", "intermediate_size", "gated", "hidden_act")


def read(keys: Keys) -> ModelConfig:
    """A Nemotron-NAS configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    heads = keys.size("num_attention_heads", default=32)
    bias = quiet_flag(keys, "attention_bias", default=False)
    size = nullable_size(keys, "head_dim", default=None) or max(1, hidden_size // heads)
    whole = Attention(heads=heads, kv_heads=heads, head_dim=size, qkv_bias=bias, o_bias=bias, rotary_dim=size)
    wide = quiet_flag(keys, "mlp_bias", default=False)
    layers: dict[str, Layer] = {}  # alike layers are one object
    found = []
    for block in _blocks(keys):
        mark = repr(block.document)
        if mark not in layers:
            layers[mark] = _layer(block, whole, hidden_size, wide=wide)
        found.append(layers[mark])
    return decoder(keys, hidden_size, found, vocab_size=32000, tied=False)


def _blocks(keys: Keys) -> list[Keys]:
    stated = keys.raw("block_configs")
    if not isinstance(stated, list) or not stated or not all(isinstance(one, dict) for one in stated):
        keys.refuse("block_configs", "must be a list with an object for each layer", None)
    count = keys.size("num_hidden_layers", default=len(stated), maximum=MOST_LAYERS)
    if count != len(stated):
        keys.refuse("block_configs", f"must have {count} elements, one for each layer, and has {len(stated)}")
    return [
        Keys(one, keys.source, f"{keys.prefix}block_configs[{place}].", faults=keys.faults, notes=keys.notes)
        for place, one in enumerate(stated)
    ]


def _layer(block: Keys, whole: Attention, hidden_size: int, *, wide: bool) -> Layer:
    attention, feed_forward = block.nested("attention"), block.nested("ffn")
    _require_known(attention, _KEYS_OF_ATTENTION)
    _require_known(feed_forward, _KEYS_OF_FEED_FORWARD)
    mixer = None if _is_away(attention) else _attention(attention, whole)
    part = None if _is_away(feed_forward) else _feed_forward(feed_forward, hidden_size, wide=wide)
    linear = [
        Matrix(name, hidden_size, hidden_size, bias)
        for name, one, bias in (
            ("attention_linear", attention, whole.o_bias),
            ("feed_forward_linear", feed_forward, wide),
        )
        if _is_linear(one)
    ]
    norms = (Norm(kind="rms", size=hidden_size),) * ((mixer is not None) + (part is not None) + len(linear))
    return Layer(mixer=mixer, feed_forward=part, norms=norms, extras=tuple(linear))


def _require_known(part: Keys, known: tuple[str, ...]) -> None:
    """A fault for each key that says something and is not understood: sinks, sparsity, other kinds of mixers."""
    for name, value in list(part.document.items())[:64]:
        if name not in known and value:
            part.fault(str(name)[:100], "of a single layer is not understood", value)


def _is_linear(part: Keys) -> bool:
    return quiet_flag(part, "replace_with_linear", default=False) and not quiet_flag(part, "no_op", default=False)


def _is_away(part: Keys) -> bool:
    return quiet_flag(part, "no_op", default=False) or _is_linear(part)


def _attention(part: Keys, whole: Attention) -> Attention:
    group = part.size("n_heads_in_group")
    part.require(whole.heads % group == 0, "n_heads_in_group", f"must divide num_attention_heads {whole.heads}", group)
    return whole._replace(kv_heads=max(1, whole.heads // group), window=part.optional_size("window_length"))


def _feed_forward(part: Keys, hidden_size: int, *, wide: bool) -> FeedForward:
    gated = quiet_flag(part, "gated", default=True)
    if part.has("intermediate_size"):
        return FeedForward(intermediate_size=part.size("intermediate_size"), gated=gated, bias=wide)
    least = int(2 * part.number("ffn_mult", minimum=1e-6, maximum=1024.0) * hidden_size / 3)
    width = max(256, -(-least // 256) * 256)
    part.require(width <= WIDEST, "ffn_mult", "is too wide", part.raw("ffn_mult"))
    return FeedForward(intermediate_size=width, gated=gated, bias=wide)
