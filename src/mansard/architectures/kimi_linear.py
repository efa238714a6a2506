"""The Kimi-Linear family: layers of Kimi Delta Attention, then one of latent attention; experts after the dense layers.

`linear_attn_config` names the layers of each kind, counted from 1, and the sizes of delta layers; `layer_types` and the
keys `linear_…` say the same in another way, and the former goes before the lists. Latent attention is DeepSeek-V3's
without rotation. The first `first_k_dense_replace` layers are dense, unless `mlp_layer_types` lists them. The router's
correction [num_experts] is a buffer. The class never ties its head.

Sources: arXiv:2510.26692; the class KimiLinearForCausalLM of Hugging Face transformers.
"""

from collections.abc import Callable

from mansard.architectures._experts import (
    dense_first,
    gated,
    latent_attention,
    routed,
    sparse_layers,
    stack,
)
from mansard.architectures._linear_attention import FULL, LINEAR, kimi_delta, note_chunks
from mansard.architectures._prediction import note_prediction_layers
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair, untied
from mansard.architectures._state_space import scanned
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mixers import LatentAttention, Recurrence
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("kimi_linear",)
ARCHITECTURES = ("KimiLinearForCausalLM",)
_OLDER = (("gate_proj", "w1"), ("up_proj", "w3"), ("down_proj", "w2"))
MODULES = {
    **{f"mixer.{name}": f"self_attn.{name}" for name in ("b_proj", "g_a_proj", "g_b_proj")},
    **{f"mixer.{name}": f"self_attn.{name} self_attn.forget_gate.{name}" for name in ("f_a_proj", "f_b_proj")},
    **{
        f"expert.{name}": f"mlp.experts.{{expert}}.{name} block_sparse_moe.experts.{{expert}}.{older}"
        for name, older in _OLDER
    },
    **{
        f"shared_expert.{name}": f"mlp.shared_experts.{name} block_sparse_moe.shared_experts.{name}"
        for name, _ in _OLDER
    },
    "router.router": "mlp.gate block_sparse_moe.gate",
}
_NESTED = "linear_attn_config"
_EXPERTS = ("num_experts", "num_local_experts")


def read(keys: Keys) -> ModelConfig:
    """A Kimi-Linear-class configuration."""
    hidden_size = keys.size("hidden_size", default=2304)
    count = layer_count(keys, default=27)
    kinds = _kinds(keys, count)
    attention, linear = _latent(keys), _delta(keys, hidden_size)
    width = keys.size("moe_intermediate_size", default=1024)
    sparse = routed(
        keys,
        names=_EXPERTS,
        top_names=("num_experts_per_token", "num_experts_per_tok"),
        experts=256,
        top_k=8,
        expert=gated(width),
        shared_width=keys.size("num_shared_experts", "n_shared_experts", default=1, minimum=0) * width,
        buffered=True,
    )
    note_prediction_layers(keys)
    layers = stack(
        count,
        lambda index: linear if kinds[index] == LINEAR else attention,
        rms_pair(hidden_size),
        sparse,
        dense=gated(keys.size("intermediate_size", default=9216)),
        is_sparse=_sparse(keys, count),
    )
    return scanned(keys, untied(keys, decoder(keys, hidden_size, layers, vocab_size=163840, tied=False)))


def _latent(keys: Keys) -> LatentAttention:
    bare = quiet_flag(keys, "mla_use_nope", default=True)
    keys.require(bare, "mla_use_nope", "must be true: the class does not rotate", bare)
    bias = quiet_flag(keys, "attention_bias", default=False)
    mixer = latent_attention(keys, heads=32, q_rank=None, kv_rank=512, nope=128, rope=64, value=128, bias=bias)
    return mixer._replace(rotates=False)


def _delta(keys: Keys, hidden_size: int) -> Recurrence:
    inner = keys.nested(_NESTED)
    mixer = kimi_delta(
        hidden_size,
        heads=_size(keys, inner, "num_heads", "linear_num_heads", default=32),
        head_dim=_size(keys, inner, "head_dim", "linear_head_dim", default=128),
        kernel=_size(keys, inner, "short_conv_kernel_size", "linear_conv_kernel_dim", default=4),
    )
    note_chunks(keys, mixer)
    return mixer


def _size(keys: Keys, inner: Keys, nested: str, flat: str, *, default: int) -> int:
    """A size of delta layers: of the nested object, else of the flat key."""
    return inner.size(nested) if inner.has(nested) else keys.size(flat, default=default)


def _kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    """The kind of each layer: listed, or named by number, else latent attention on every fourth after the first."""
    inner = keys.nested(_NESTED)
    named = inner.has("full_attn_layers", "kda_layers")
    full = inner.sizes("full_attn_layers", default=(), maximum=MOST_LAYERS) if named else ()
    delta = inner.sizes("kda_layers", default=(), maximum=MOST_LAYERS) if named else ()
    if keys.has("layer_types"):
        return keys.texts("layer_types", length=layers, choices=(LINEAR, FULL))
    if not named:
        keys.note("class-default", "layer_types is absent: every fourth layer after the first has latent attention")
        return tuple(FULL if index and index % 4 == 0 else LINEAR for index in range(layers))
    problem = f"and full_attn_layers must name each of the {layers} layers once, counted from 1"
    inner.require(sorted((*full, *delta)) == [*range(1, layers + 1)], "kda_layers", problem, inner.raw("kda_layers"))
    chosen = frozenset(full)
    return tuple(FULL if index + 1 in chosen else LINEAR for index in range(layers))


def _sparse(keys: Keys, layers: int) -> Callable[[int], bool]:
    if keys.has("mlp_layer_types"):
        return sparse_layers(keys, layers, dense=0)
    return dense_first(keys, layers, name="first_k_dense_replace", default=1)
