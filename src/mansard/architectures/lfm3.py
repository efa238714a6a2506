"""The LFM3 family: LFM2's gated short convolutions with windowed and whole attention, gated by head, and more norms.

`layer_types` says which layer is which; without it, of each four layers from the third on one sees everything, one a
window, and two convolve. Attention has norms and, with `use_attention_gate`, a gate on each head [h, heads]; windowed
layers rotate whole heads, others half of each. With `use_sandwich_norm` each part has a norm before and after it.

Sources: arXiv:2511.23404 for the convolutions; the class Lfm3ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, stack
from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._reading import decoder, layer_count, quiet_flag
from mansard.architectures._short_convolutions import gated_convolution
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Attention, Mixer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("lfm3",)
ARCHITECTURES = ("Lfm3ForCausalLM",)
_PROJECTIONS = (("gate_proj", "w1"), ("up_proj", "w3"), ("down_proj", "w2"))
MODULES = {
    "mixer.in_proj": "conv.in_proj",
    "mixer.out_proj": "conv.out_proj",
    "mixer.g_proj": "self_attn.g_proj",
    **{f"feed_forward.{name}": f"feed_forward.{own}" for name, own in _PROJECTIONS},
}
_FULL, _WINDOWED, _CONVOLVED = "full_attention", "sliding_attention", "conv"
# What the class rotates of each head where the configuration does not say it.
_ROTATED = {_FULL: 0.5, _WINDOWED: 1.0}


def read(keys: Keys) -> ModelConfig:
    """An LFM3-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    bias = quiet_flag(keys, "conv_bias", default=False)
    mixers: dict[str, Mixer] = {
        _FULL: _attention(keys, hidden_size, _FULL),
        _WINDOWED: _attention(keys, hidden_size, _WINDOWED),
        _CONVOLVED: gated_convolution(hidden_size, kernel=keys.size("conv_L_cache", default=7), bias=bias),
    }
    count = layer_count(keys, default=24)
    kinds = _kinds(keys, count)
    norms = (Norm(kind="rms", size=hidden_size),) * (4 if quiet_flag(keys, "use_sandwich_norm", default=True) else 2)
    part = gated(keys.size("intermediate_size", default=7680))
    layers = stack(count, lambda index: mixers[kinds[index]], norms, part)
    return decoder(keys, hidden_size, layers, vocab_size=128000, tied=True)


def _attention(keys: Keys, hidden_size: int, kind: str) -> Attention:
    mixer = head_attention(
        keys,
        hidden_size,
        heads=16,
        kv_heads=4,
        head_dim=128,
        bias=quiet_flag(keys, "attention_bias", default=False),
        rotary=_rotated(keys, kind),
    )
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    window = keys.size("sliding_window", default=256) if kind == _WINDOWED else None
    gate = mixer.heads if quiet_flag(keys, "use_attention_gate", default=True) else 0
    return mixer._replace(q_norm=q_norm, k_norm=k_norm, window=window, gate_size=gate)


def _rotated(keys: Keys, kind: str) -> float:
    """The part of each head that layers of a kind rotate, from their own rotary parameters."""
    outer = keys.nested("rope_parameters")
    if not outer.has(kind):
        return _ROTATED[kind]
    inner = outer.nested(kind)
    return inner.number("partial_rotary_factor", default=1.0, minimum=0.0, maximum=1.0)


def _kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    if keys.has("layer_types"):
        return keys.texts("layer_types", length=layers, choices=(_CONVOLVED, _FULL, _WINDOWED))
    keys.note(
        "class-default", "layer_types is absent: attention on every second layer from the third, the rest convolve"
    )
    return tuple(
        _FULL if index % 4 == 2 else _WINDOWED if index and index % 4 == 0 else _CONVOLVED for index in range(layers)
    )
