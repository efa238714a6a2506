"""What GGUF files call the families that are counted, and where each keeps what its class's configuration says."""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from mansard.inputs.tensors import Tensor

Config = dict[str, Any]


class Stored(NamedTuple):
    """The tensors of a file, as questions about a model's shape."""

    tensors: tuple[Tensor, ...]

    def shape(self, name: str) -> tuple[int, ...] | None:
        """The shape, inputs first, of a tensor such as "ffn_up.weight" in the first layer that has it."""
        for tensor in self.tensors:
            if tensor.name.startswith("blk.") and tensor.name.split(".", 2)[-1] == name:
                return tensor.shape
        return None

    def has(self, name: str) -> bool:
        """Whether some layer has a tensor of that name."""
        return self.shape(name) is not None

    def layers_with(self, name: str) -> frozenset[int]:
        """The layers that have a tensor of that name."""
        found = (tensor.name.split(".", 2) for tensor in self.tensors if tensor.name.startswith("blk."))
        return frozenset(int(pieces[1]) for pieces in found if pieces[1].isdecimal() and pieces[2:] == [name])


class Family(NamedTuple):
    """One architecture: the class that counts it, and its keys of the metadata beside the usual ones.

    `adjust` finishes the configuration from the metadata and the tensors; `read` are the keys that it looks at.
    """

    model_type: str
    keys: Mapping[str, str] = {}
    always: Mapping[str, Any] = {}
    read: tuple[str, ...] = ()
    adjust: Callable[[Config, Mapping[str, Any], Stored], None] | None = None


USUAL = {
    "embedding_length": "hidden_size",
    "block_count": "num_hidden_layers",
    "feed_forward_length": "intermediate_size",
    "attention.head_count": "num_attention_heads",
    "attention.head_count_kv": "num_key_value_heads",
    "attention.key_length": "head_dim",
    "context_length": "max_position_embeddings",
}
_EXPERTS = {
    "expert_count": "num_experts",
    "expert_used_count": "num_experts_per_tok",
    "expert_feed_forward_length": "moe_intermediate_size",
}
_ROUTED = {**_EXPERTS, "expert_count": "n_routed_experts"}
_FIRST_DENSE = {
    **_ROUTED, "expert_shared_count": "n_shared_experts", "leading_dense_block_count": "first_k_dense_replace",
}  # fmt: skip
_WINDOW = {"attention.sliding_window": "sliding_window"}
_PATTERN = "attention.sliding_window_pattern"

# Keys that change no count: epsilons, factors, what a tokenizer or a sampler wants.
HARMLESS = frozenset(
    (
        "attention.value_length", "attention.layer_norm_epsilon", "attention.layer_norm_rms_epsilon", "attention.scale",
        "attention.output_scale", "attention.temperature_length", "attention.temperature_scale", "attention.causal",
        "embedding_scale", "expert_gating_func", "expert_group_count", "expert_group_used_count", "expert_group_scale",
        "expert_weights_norm", "expert_weights_scale", "final_logit_softcapping", "logit_scale", "nextn_predict_layers",
        "pooling_type", "residual_scale", "tensor_data_layout", "use_parallel_residual", "vocab_size",
        "router_logit_softcapping", "swiglu_clamp_exp", "swiglu_clamp_shexp",
    )
)  # fmt: skip

# Keys, or beginnings of keys, that only a model with the mechanism has.
OTHER_MECHANISMS = {
    "ssm.": "a recurrent state",
    "wkv.": "a recurrent state",
    "kda.": "a recurrent state",
    "shortconv.": "short convolutions",
    "full_attention_interval": "layers without attention",
    "attention.indexer.": "sparse attention",
    "attention.shared_kv_layers": "layers that share a cache",
    "attention.key_length_swa": "heads of another size in windowed layers",
    "embedding_length_per_layer_input": "embeddings of each layer",
    "altup.": "several residual streams",
    "decoder_block_count": "an encoder beside the decoder",
    "attention.relative_buckets_count": "an encoder's relative positions",
    "attention.max_alibi_bias": "ALiBi",
    "moe_every_n_layers": "experts on some layers alone",
    "interleave_moe_layer_step": "experts on some layers alone",
    "moe_latent_size": "experts in a width of their own",
    "expert_chunk_feed_forward_length": "experts in chunks",
    "attention.q_lora_rank": "a latent cache",
    "attention.kv_lora_rank": "a latent cache",
    "expert_count": "experts",
    "expert_shared_count": "shared experts",
    "target_layers": "a draft model's taps into another model",
}

# Files that hold no language model.
KINDS = {
    "clip": "a vision or audio tower, no language model",
    "bert": "an encoder, which is not counted from a GGUF file",
    "t5encoder": "an encoder, which is not counted from a GGUF file",
}


def _llama(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    if own.get("expert_count"):
        config.update(model_type="mixtral", num_local_experts=config.pop("num_experts"), sliding_window=None)
        return
    for name in ("num_experts", "num_experts_per_tok"):
        config.pop(name, None)
    config.update(attention_bias=stored.has("attn_q.bias"), mlp_bias=stored.has("ffn_up.bias"))


def _biased(config: Config, _own: Mapping[str, Any], stored: Stored) -> None:
    config["attention_bias"] = stored.has("attn_q.bias") or stored.has("attn_qkv.bias")


def _sparse(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    """Which layers have experts, by their routers; widths that older files leave to the tensors."""
    layers, sparse = config.get("num_hidden_layers"), stored.layers_with("ffn_gate_inp.weight")
    if isinstance(layers, int) and layers <= 10_000:
        config["mlp_only_layers"] = [index for index in range(layers) if index not in sparse]
    for name, tensor in (("moe", "ffn_up_exps"), ("shared_expert", "ffn_up_shexp")):
        shape = stored.shape(f"{tensor}.weight")
        if shape is not None:
            config.setdefault(f"{name}_intermediate_size", shape[1])
    config["decoder_sparse_step"] = 1
    if config["model_type"] == "qwen2_moe":
        config["qkv_bias"] = stored.has("attn_q.bias")
    else:
        _biased(config, own, stored)


def _capped(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    config["attn_logit_softcapping"] = own.get("attn_logit_softcapping")
    config["final_logit_softcapping"] = own.get("final_logit_softcapping")
    _biased(config, own, stored)


def _pattern(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    """Which layers see a window: as the file lists them, or each n-th sees all; else by the rule of the class."""
    pattern = own.get(_PATTERN)
    if isinstance(pattern, list):
        config["layer_types"] = ["sliding_attention" if one else "full_attention" for one in pattern]
    elif pattern is not None:
        config["sliding_window_pattern"] = pattern
    _biased(config, own, stored)


def _gemma3(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    _pattern(config, own, stored)
    if "sliding_window" not in config:
        config.update(sliding_window=None, sliding_window_pattern=1)


def _rotated(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    """The part of a head that is rotated; a window of 0 is none."""
    rotated, size = own.get("rope.dimension_count"), config.get("head_dim")
    if isinstance(rotated, int) and isinstance(size, int) and size:
        config["partial_rotary_factor"] = rotated / size
    config["sliding_window"] = own.get("attention.sliding_window") or None
    _biased(config, own, stored)


def _glm(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    _rotated(config, own, stored)
    config["use_qk_norm"] = stored.has("attn_q_norm.weight")
    config.pop("sliding_window")


def _latent(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    """Latent attention: files from 2025-04 on state the cached head, and the expanded one under keys of their own."""
    for name in ("num_key_value_heads", "head_dim"):
        config.pop(name, None)
    rope = own.get("rope.dimension_count")
    key = own.get("attention.key_length_mla", own.get("attention.key_length"))
    value = own.get("attention.value_length_mla", own.get("attention.value_length"))
    if isinstance(key, int) and isinstance(rope, int):
        config["qk_nope_head_dim"] = key - rope
    config.update(qk_rope_head_dim=rope, v_head_dim=value, q_lora_rank=own.get("attention.q_lora_rank"))
    corrected = stored.has("exp_probs_b.bias") or stored.has("exp_probs_b")
    config["model_type"] = "deepseek_v3" if corrected or own.get("expert_gating_func") == 2 else "deepseek_v2"
    config["attention_bias"] = stored.has("attn_kv_a_mqa.bias")


def _gpt_oss(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    _pattern(config, own, stored)
    width = own.get("expert_feed_forward_length")
    if width is not None:
        config["intermediate_size"] = width
    config["num_local_experts"] = config.pop("num_experts", None)
    config.pop("moe_intermediate_size", None)


def _starcoder2(config: Config, _own: Mapping[str, Any], stored: Stored) -> None:
    config["use_bias"] = stored.has("attn_q.bias")


def _granite(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    _biased(config, own, stored)
    config["mlp_bias"] = stored.has("ffn_up.bias")


def _granite_experts(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    _biased(config, own, stored)
    config["num_local_experts"] = config.pop("num_experts", None)
    shared = own.get("expert_shared_feed_forward_length")
    if shared:
        config.update(model_type="granitemoeshared", shared_intermediate_size=shared)


def _olmo2(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    _pattern(config, own, stored)
    if own.get("attention.sliding_window"):
        config["model_type"] = "olmo3"


def _internlm2(config: Config, _own: Mapping[str, Any], stored: Stored) -> None:
    config["bias"] = stored.has("attn_q.bias")


def _cohere(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    _biased(config, own, stored)
    config["use_qk_norm"] = stored.has("attn_q_norm.weight")


def _seed(config: Config, own: Mapping[str, Any], stored: Stored) -> None:
    _biased(config, own, stored)
    config["attention_out_bias"] = stored.has("attn_output.bias")


_LATENT_KEYS = (
    "attention.q_lora_rank", "attention.key_length_mla", "attention.value_length_mla", "expert_gating_func",
    "rope.dimension_count", "attention.key_length", "attention.value_length",
)  # fmt: skip
FAMILIES: dict[str, Family] = {
    "llama": Family("llama", {k: _EXPERTS[k] for k in ("expert_count", "expert_used_count")}, adjust=_llama),
    "mistral3": Family("mistral", always={"sliding_window": None}),
    "qwen2": Family("qwen2"),
    "qwen2moe": Family(
        "qwen2_moe",
        {**_EXPERTS, "expert_shared_feed_forward_length": "shared_expert_intermediate_size"},
        adjust=_sparse,
    ),
    "qwen3": Family("qwen3", adjust=_biased),
    "qwen3moe": Family("qwen3_moe", _EXPERTS, adjust=_sparse),
    "gemma": Family("gemma", adjust=_biased),
    "gemma2": Family("gemma2", _WINDOW, read=("attn_logit_softcapping", _PATTERN), adjust=_capped),
    "gemma3": Family("gemma3_text", _WINDOW, read=(_PATTERN,), adjust=_gemma3),
    "phi3": Family("phi3", read=("attention.sliding_window",), adjust=_rotated),
    "deepseek2": Family(
        "deepseek_v3",
        {**_FIRST_DENSE, "attention.kv_lora_rank": "kv_lora_rank"},
        read=_LATENT_KEYS,
        adjust=_latent,
    ),
    "gpt-oss": Family("gpt_oss", {**_EXPERTS, **_WINDOW}, read=(_PATTERN,), adjust=_gpt_oss),
    "glm4": Family("glm4", adjust=_glm),
    "glm4moe": Family("glm4_moe", _FIRST_DENSE, adjust=_glm),
    "starcoder2": Family("starcoder2", adjust=_starcoder2),
    "granite": Family("granite", adjust=_granite),
    "granitemoe": Family(
        "granitemoe",
        {k: _EXPERTS[k] for k in ("expert_count", "expert_used_count")},
        read=("expert_shared_feed_forward_length",),
        adjust=_granite_experts,
    ),
    "olmo2": Family("olmo2", _WINDOW, read=(_PATTERN,), adjust=_olmo2),
    "olmoe": Family("olmoe", {k: _EXPERTS[k] for k in ("expert_count", "expert_used_count")}, adjust=_biased),
    "internlm2": Family("internlm2", adjust=_internlm2),
    "command-r": Family("cohere", adjust=_cohere),
    "cohere2": Family("cohere2", _WINDOW, read=(_PATTERN,), adjust=_pattern),
    "smollm3": Family("smollm3", adjust=_granite),
    "seed_oss": Family("seed_oss", adjust=_seed),
}
