"""What a configuration says beside what its family reads: mechanisms it lacks, activations, other classes.

A family's class ignores keys that it doesn't know. Counting must not: a key that names a mechanism says that the file
was written for a model which has it, and then nothing of the family's shape can be trusted.
"""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from mansard.errors import did_you_mean
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer, MixtureOfExperts
from mansard.inputs.model import ModelConfig

# Keys that only a model with the mechanism has.
_MECHANISMS: Mapping[str, tuple[str, ...]] = {
    "experts": (
        "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "num_moe_experts", "n_experts",
        "num_routed_experts", "moe_config", "moe_layers", "n_shared_experts",
    ),
    "a latent cache": ("kv_lora_rank", "q_lora_rank", "qk_rope_head_dim", "qk_nope_head_dim"),
    "values of another size": ("v_head_dim",),
    "windows": ("window_size", "attention_window"),
    "ALiBi": ("alibi",),
    "a recurrent state": (
        "mamba_d_state", "mamba_d_conv", "mamba_num_heads", "ssm_state_size", "ssm_cfg", "state_size",
        "linear_num_value_heads", "linear_num_key_heads", "linear_attn_config", "linear_conv_kernel_dim",
        "attn_layer_period", "attn_layer_indices", "attn_layer_idx", "hybrid_override_pattern", "hybrid_layer_ids",
        "block_types", "layers_block_type", "full_attention_interval", "conv_L_cache", "time_step_rank", "lru_width",
    ),
    "sparse attention": ("index_topk", "index_n_heads", "sparse_config", "nsa_config", "moba_chunk_size"),
    "layers that share a cache": ("num_kv_shared_layers", "cla_share_factor", "use_cla"),
    "embeddings of each layer": ("hidden_size_per_layer_input", "vocab_size_per_layer_input"),
    "cross-attention": ("cross_attention_layers", "add_cross_attention", "encoder_layers", "num_encoder_layers"),
    "shapes of each layer's own": ("block_configs", "num_query_heads", "ffn_multipliers"),
    "chunks of attention": ("attention_chunk_size",),
    "attention in both directions": ("use_bidirectional_attention",),
}  # fmt: skip
# Keys that say which layers are of which kind: a hybrid's own are read, and another's cannot be.
_LAYER_KINDS = (
    "attn_layer_idx", "attn_layer_indices", "attn_layer_period", "block_types", "full_attention_interval",
    "hybrid_layer_ids", "hybrid_override_pattern", "layers_block_type",
)  # fmt: skip
_WHOLE_ATTENTION = ("full_attention", "attention", "full", "global")
_WINDOWS = ("sliding_attention", "sliding", "local", "chunked_attention")

# What configurations call their activation, where the family doesn't read the key by itself.
_ACTIVATION_KEYS = ("mlp_hidden_act", "hidden_activation", "hidden_act", "activation_function", "ffn_act")
# Those of Hugging Face transformers' ACT2FN; all kinds of GELU count the same.
ACTIVATIONS = (
    "gelu", "gelu_10", "gelu_accurate", "gelu_fast", "gelu_new", "gelu_python", "gelu_python_tanh", "gelu_pytorch_tanh",
    "laplace", "leaky_relu", "linear", "mish", "prelu", "quick_gelu", "relu", "relu2", "relu6", "sigmoid", "silu",
    "swiglu", "swish", "tanh", "xielu",
)  # fmt: skip


def check(keys: Keys, model_type: str) -> None:
    """A fault for each mechanism that is stated and not read; a note where the class is known to ignore the key."""
    for mechanism, names in _MECHANISMS.items():
        if any(keys.prefix + name in keys.asked for name in names):
            continue  # the family has it, and the other names are its aliases
        for name in names:
            if _says_something(keys.document.get(name), 2 if mechanism == "experts" else 1):
                keys.fault(
                    name,
                    f"says {mechanism}, which {model_type} does not have",
                    keys.document[name],
                    hint="is the model_type right? remove the key if the model ignores it",
                )
    _check_kinds(keys, model_type)
    if keys.document.get("is_causal") is False:
        hint = "embedding models that attend in both directions are not counted yet"
        keys.fault("is_causal", "says attention in both directions, and a decoder's is causal", False, hint)
    _check_windows(keys, model_type)


def _check_kinds(keys: Keys, model_type: str) -> None:
    """A fault where layers of several kinds are stated in another way than the family's."""
    for name in _LAYER_KINDS:
        if keys.prefix + name not in keys.asked and keys.is_sound(name) and _says_something(keys.document.get(name)):
            problem = f"says which layers are of which kind, in a way that {model_type} does not know"
            keys.fault(name, problem, keys.document[name], hint="is the model_type right?")


def _says_something(value: Any, least: int = 1) -> bool:
    """Whether a value turns a mechanism on: zero or an empty list does not."""
    if isinstance(value, (bool, int, float)):
        return value is True or value >= least
    return bool(value)


def _check_windows(keys: Keys, model_type: str) -> None:
    kinds = keys.document.get("layer_types")
    if keys.prefix + "layer_types" not in keys.asked and isinstance(kinds, list):
        for kind in dict.fromkeys(str(kind) for kind in kinds[:4096]):
            if kind not in (*_WHOLE_ATTENTION, *_WINDOWS):
                keys.fault("layer_types", f"names a kind of layer that {model_type} does not have", kind)
        if any(kind in _WINDOWS for kind in kinds):
            _ignored(keys, "layer_types", model_type)
    window = keys.document.get("sliding_window")
    gated = {keys.prefix + name for name in ("sliding_window", "use_sliding_window")} & keys.asked
    if not gated and _says_something(window):
        _ignored(keys, "sliding_window", model_type)


def _ignored(keys: Keys, name: str, model_type: str) -> None:
    text = f"{name} is left out: the class of {model_type} has no windows and attends to everything"
    keys.note("ignored-key", text, "warning")


def with_activation(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with the activation that its configuration names, where the family has not read it."""
    name = next((name for name in _ACTIVATION_KEYS if keys.has(name)), None)
    if name is None or not model.layers or not keys.is_sound(name):
        return model  # encoders read it by themselves
    stated = keys.raw(name)
    if not isinstance(stated, str) or stated not in ACTIVATIONS:
        hint = did_you_mean(stated, ACTIVATIONS) if isinstance(stated, str) else ""
        keys.fault(name, "is no activation that is known", stated, hint=hint or "for example silu, gelu, relu")
        return model
    kind = activation_kind(stated)
    parts = (layer.feed_forward for layer, _ in model.distinct_layers)
    if all(_kind(part) == kind for part in parts if part is not None):
        return model
    return replace(model, layers=tuple(_activated(model.layers, kind)))


def activation_kind(stated: str) -> str:
    """What is counted for an activation: all kinds of GELU count the same."""
    return {"swiglu": "silu"}.get(stated, "gelu" if "gelu" in stated else stated)


def _kind(part: FeedForward | MixtureOfExperts) -> str:
    return part.activation if isinstance(part, FeedForward) else part.expert.activation


def _activated(layers: tuple[Layer, ...], kind: str) -> Iterator[Layer]:
    made: dict[int, Layer] = {}  # by identity: alike layers are one object, and stay so
    for layer in layers:
        if id(layer) not in made:
            part = layer.feed_forward
            made[id(layer)] = layer if part is None else layer._replace(feed_forward=_with_kind(part, kind))
        yield made[id(layer)]


def _with_kind(part: FeedForward | MixtureOfExperts, kind: str) -> FeedForward | MixtureOfExperts:
    if isinstance(part, FeedForward):
        return part._replace(activation=kind)
    shared = part.shared._replace(activation=kind) if part.shared else None
    return part._replace(expert=part.expert._replace(activation=kind), shared=shared)
