"""Small models as GGUF files, written by hand, each with the configuration that says the same.

H heads, K key/value heads of D, hidden size h, feed-forward size f, V tokens, L layers; E experts of width e, of which
a token is sent to k, and a shared one of width s; latents of rank R and Q.
"""

from collections.abc import Iterable
from math import prod
from pathlib import Path
from typing import Any

from gguf_bytes import header, sparse, tensor
from mansard.inputs.ggml import TENSOR_TYPES

h, f, H, K, D, V, L = 256, 512, 4, 2, 64, 1024, 3
E, k, e, s = 8, 2, 256, 512
R, Q, NOPE, ROPE, VALUE = 128, 192, 32, 16, 64
NUMBERS = {kind.name: number for number, kind in TENSOR_TYPES.items()}
Shape = tuple[int, ...]

NORMS = {"attn_norm.weight": (h,), "ffn_norm.weight": (h,)}
FOUR_NORMS = {**NORMS, "post_attention_norm.weight": (h,), "post_ffw_norm.weight": (h,)}
HEADS = {
    "attn_q.weight": (h, H * D), "attn_k.weight": (h, K * D), "attn_v.weight": (h, K * D),
    "attn_output.weight": (H * D, h),
}  # fmt: skip
HEAD_NORMS = {"attn_q_norm.weight": (D,), "attn_k_norm.weight": (D,)}
QKV_BIAS = {"attn_q.bias": (H * D,), "attn_k.bias": (K * D,), "attn_v.bias": (K * D,)}
DENSE = {"ffn_gate.weight": (h, f), "ffn_up.weight": (h, f), "ffn_down.weight": (f, h)}
ROUTED = {
    "ffn_gate_inp.weight": (h, E), "ffn_gate_exps.weight": (h, e, E), "ffn_up_exps.weight": (h, e, E),
    "ffn_down_exps.weight": (e, h, E),
}  # fmt: skip
LATENT = {
    "attn_q_a.weight": (h, Q), "attn_q_b.weight": (Q, H * (NOPE + ROPE)), "attn_kv_a_mqa.weight": (h, R + ROPE),
    "attn_k_b.weight": (NOPE, R, H), "attn_v_b.weight": (R, VALUE, H), "attn_output.weight": (H * VALUE, h),
    "attn_q_a_norm.weight": (Q,), "attn_kv_a_norm.weight": (R,),
}  # fmt: skip
DIRECT = {
    "attn_q.weight": (h, H * (NOPE + ROPE)), "attn_kv_b.weight": (R, H * (NOPE + VALUE)),
    **{name: LATENT[name] for name in ("attn_kv_a_mqa.weight", "attn_output.weight", "attn_kv_a_norm.weight")},
}  # fmt: skip
OUTER = {"token_embd.weight": (h, V), "output_norm.weight": (h,), "output.weight": (h, V)}
TIED = {name: shape for name, shape in OUTER.items() if name != "output.weight"}


def shared(width: int) -> dict[str, Shape]:
    """A shared expert."""
    up = {"ffn_gate_shexp.weight": (h, width), "ffn_up_shexp.weight": (h, width)}
    return {**up, "ffn_down_shexp.weight": (width, h)}


def usual(**more: Any) -> dict[str, Any]:
    """The metadata that all families have, and more, with two underscores for a dot."""
    return {
        "block_count": L, "context_length": 4096, "embedding_length": h, "feed_forward_length": f,
        "attention.head_count": H, "attention.head_count_kv": K, "attention.layer_norm_rms_epsilon": 1e-6,
        "rope.freq_base": 1e4, **{name.replace("__", "."): value for name, value in more.items()},
    }  # fmt: skip


def layered(
    *parts: dict[str, Shape], outer: dict[str, Shape] = OUTER, layers: Iterable[int] = range(L)
) -> dict[str, Shape]:
    """All tensors of a model whose layers are alike."""
    inner = {f"blk.{one}.{name}": shape for one in layers for part in parts for name, shape in part.items()}
    return {**outer, **inner}


def first_dense(*parts: dict[str, Shape], more: dict[str, Shape] | None = None) -> dict[str, Shape]:
    """Layers of which the first is dense, and the others are sparse beside a shared expert."""
    correction = {"exp_probs_b.bias": (E,)} if more is None else more
    sparse_part = {**ROUTED, **shared(e), **correction}
    return {
        **layered(NORMS, *parts, DENSE, layers=[0]),
        **layered(NORMS, *parts, sparse_part, layers=range(1, L)),
    }


def type_of(name: str, shape: Shape, matrices: str) -> str:
    """Vectors and routers are in F32, as converters write them."""
    return "F32" if len(shape) == 1 or "gate_inp" in name or name.endswith(".bias") else matrices


def write(
    path: Path,
    arch: str,
    keys: dict[str, Any],
    tensors: dict[str, Shape],
    matrices: str = "F16",
    *,
    types: dict[str, str] | None = None,
) -> Path:
    """A file with that metadata and those tensors; `types` are those of single tensors."""
    offset, infos = 0, []
    for name, shape in tensors.items():
        kind = (types or {}).get(name, type_of(name, shape, matrices))
        infos.append(tensor(name, shape, NUMBERS[kind], offset))
        offset += -(-TENSOR_TYPES[NUMBERS[kind]].bytes_of(prod(shape)) // 32) * 32
    metadata = [("general.architecture", arch), *((f"{arch}.{key}", value) for key, value in keys.items())]
    return sparse(path, header(metadata, infos), offset)


BASE = {
    "hidden_size": h, "intermediate_size": f, "num_hidden_layers": L, "num_attention_heads": H,
    "num_key_value_heads": K, "head_dim": D, "vocab_size": V, "tie_word_embeddings": False, "torch_dtype": "float16",
    "max_position_embeddings": 4096,
}  # fmt: skip
_SIZED = {"attention__key_length": D, "attention__value_length": D}
_MOE = {"expert_count": E, "expert_used_count": k, "expert_feed_forward_length": e}
_TWO = {"expert_count": E, "expert_used_count": k, "feed_forward_length": e}
_HF_MOE = {"num_experts": E, "num_experts_per_tok": k, "moe_intermediate_size": e}
_HF_MIXTRAL = {"model_type": "mixtral", "num_local_experts": E, "num_experts_per_tok": k, "intermediate_size": e}
_HF_FIRST = {
    "n_routed_experts": E, "num_experts_per_tok": k, "moe_intermediate_size": e, "n_shared_experts": 1,
    "first_k_dense_replace": 1,
}  # fmt: skip
_HF_LATENT = {
    **_HF_FIRST, "kv_lora_rank": R, "v_head_dim": VALUE, "qk_nope_head_dim": NOPE, "qk_rope_head_dim": ROPE,
}  # fmt: skip
_FIRST = {**_MOE, "expert_shared_count": 1, "leading_dense_block_count": 1}

# Architecture, metadata, tensors, and the configuration that says the same in the words of the class.
FAMILIES: dict[str, tuple[str, dict[str, Any], dict[str, Shape], dict[str, Any]]] = {
    "llama": ("llama", usual(vocab_size=V), layered(NORMS, HEADS, DENSE), {"model_type": "llama"}),
    "llama tied": (
        "llama", usual(), layered(NORMS, HEADS, DENSE, outer=TIED),
        {"model_type": "llama", "tie_word_embeddings": True},
    ),
    "mixtral": ("llama", usual(**_TWO), layered(NORMS, HEADS, ROUTED), _HF_MIXTRAL),
    "mixtral of 2023": (
        "llama", usual(**_TWO),
        layered(NORMS, HEADS, {"ffn_gate_inp.weight": (h, E)}, *(
            {f"ffn_gate.{one}.weight": (h, e), f"ffn_up.{one}.weight": (h, e), f"ffn_down.{one}.weight": (e, h)}
            for one in range(E)
        )),
        _HF_MIXTRAL,
    ),
    "qwen2": ("qwen2", usual(), layered(NORMS, HEADS, QKV_BIAS, DENSE), {"model_type": "qwen2"}),
    "qwen2moe": (
        "qwen2moe", usual(**_MOE, expert_shared_feed_forward_length=s),
        layered(NORMS, HEADS, QKV_BIAS, ROUTED, shared(s), {"ffn_gate_inp_shexp.weight": (h,)}),
        {"model_type": "qwen2_moe", **_HF_MOE, "shared_expert_intermediate_size": s},
    ),
    "qwen3": ("qwen3", usual(**_SIZED), layered(NORMS, HEADS, HEAD_NORMS, DENSE), {"model_type": "qwen3"}),
    "qwen3moe, one layer dense": (
        "qwen3moe", usual(**_MOE, **_SIZED),
        {**layered(NORMS, HEADS, HEAD_NORMS, ROUTED, layers=[0, 2]),
         **layered(NORMS, HEADS, HEAD_NORMS, DENSE, layers=[1])},
        {"model_type": "qwen3_moe", **_HF_MOE, "mlp_only_layers": [1]},
    ),
    "gemma": (
        "gemma", usual(**_SIZED), layered(NORMS, HEADS, DENSE, outer=TIED),
        {"model_type": "gemma", "tie_word_embeddings": True},
    ),
    "gemma2": (
        "gemma2",
        usual(**_SIZED, attention__sliding_window=128, attn_logit_softcapping=50.0, final_logit_softcapping=30.0),
        layered(FOUR_NORMS, HEADS, DENSE, outer=TIED),
        {"model_type": "gemma2", "sliding_window": 128, "tie_word_embeddings": True},
    ),
    "gemma3": (
        "gemma3", usual(**_SIZED, attention__sliding_window=128),
        layered(FOUR_NORMS, HEADS, HEAD_NORMS, DENSE, outer=TIED),
        {"model_type": "gemma3_text", "sliding_window": 128, "tie_word_embeddings": True},
    ),
    "gemma3, the windows listed": (
        "gemma3", usual(**_SIZED, attention__sliding_window=128, attention__sliding_window_pattern=[True, False, True]),
        layered(FOUR_NORMS, HEADS, HEAD_NORMS, DENSE, outer=TIED),
        {"model_type": "gemma3_text", "sliding_window": 128, "tie_word_embeddings": True,
         "layer_types": ["sliding_attention", "full_attention", "sliding_attention"]},
    ),
    "phi3": (
        "phi3", usual(attention__sliding_window=128, rope__dimension_count=48),
        layered(
            NORMS,
            {"attn_qkv.weight": (h, (H + 2 * K) * D), "attn_output.weight": (H * D, h), "ffn_up.weight": (h, 2 * f),
             "ffn_down.weight": (f, h)},
            outer={**OUTER, "rope_factors_long.weight": (24,), "rope_factors_short.weight": (24,)},
        ),
        {"model_type": "phi3", "sliding_window": 128, "partial_rotary_factor": 0.75},
    ),
    "deepseek2": (
        "deepseek2",
        usual(**_FIRST, attention__head_count_kv=1, attention__q_lora_rank=Q, attention__kv_lora_rank=R,
              attention__key_length=R + ROPE, attention__value_length=R, attention__key_length_mla=NOPE + ROPE,
              attention__value_length_mla=VALUE, rope__dimension_count=ROPE, expert_gating_func=2, vocab_size=V),
        first_dense(LATENT),
        {"model_type": "deepseek_v3", **_HF_LATENT, "q_lora_rank": Q},
    ),
    "deepseek2 of 2024": (
        "deepseek2",
        usual(**_FIRST, attention__head_count_kv=H, attention__kv_lora_rank=R, attention__key_length=NOPE + ROPE,
              attention__value_length=VALUE, rope__dimension_count=ROPE),
        first_dense(DIRECT, more={}),
        {"model_type": "deepseek_v2", **_HF_LATENT, "q_lora_rank": None},
    ),
    "gpt-oss": (
        "gpt-oss", usual(**{**_MOE, "feed_forward_length": e}, **_SIZED, attention__sliding_window=128),
        layered(
            {"attn_norm.weight": (h,), "post_attention_norm.weight": (h,)}, HEADS, QKV_BIAS, ROUTED,
            {"attn_output.bias": (h,), "attn_sinks.weight": (H,), "ffn_gate_inp.bias": (E,),
             "ffn_gate_exps.bias": (e, E), "ffn_up_exps.bias": (e, E), "ffn_down_exps.bias": (h, E)},
        ),
        {**_HF_MIXTRAL, "model_type": "gpt_oss", "sliding_window": 128},
    ),
    "glm4": (
        "glm4", usual(**_SIZED, rope__dimension_count=D // 2),
        layered(FOUR_NORMS, HEADS, QKV_BIAS, {"ffn_up.weight": (h, 2 * f), "ffn_down.weight": (f, h)}),
        {"model_type": "glm4", "attention_bias": True},
    ),
    "glm4moe, with a prediction layer": (
        "glm4moe", usual(**{**_FIRST, "block_count": L + 1}, **_SIZED, nextn_predict_layers=1,
                         rope__dimension_count=D // 2),
        {**first_dense(HEADS, HEAD_NORMS), f"blk.{L}.nextn.eh_proj.weight": (2 * h, h),
         f"blk.{L}.attn_q.weight": (h, H * D)},
        {"model_type": "glm4_moe", **_HF_FIRST, "use_qk_norm": True},
    ),
    "starcoder2": (
        "starcoder2", usual(),
        layered(
            NORMS, HEADS, QKV_BIAS,
            {"attn_norm.bias": (h,), "ffn_norm.bias": (h,), "attn_output.bias": (h,), "ffn_up.weight": (h, f),
             "ffn_up.bias": (f,), "ffn_down.weight": (f, h), "ffn_down.bias": (h,)},
            outer={**TIED, "output_norm.bias": (h,)},
        ),
        {"model_type": "starcoder2", "tie_word_embeddings": True, "use_bias": True},
    ),
    "granite": ("granite", usual(), layered(NORMS, HEADS, DENSE), {"model_type": "granite"}),
    "granitemoe": (
        "granitemoe", usual(**_TWO), layered(NORMS, HEADS, ROUTED), {**_HF_MIXTRAL, "model_type": "granitemoe"},
    ),
    "granitemoe, with a shared expert": (
        "granitemoe", usual(**_TWO, expert_shared_feed_forward_length=s), layered(NORMS, HEADS, ROUTED, shared(s)),
        {**_HF_MIXTRAL, "model_type": "granitemoeshared", "shared_intermediate_size": s},
    ),
    "olmo2": (
        "olmo2", usual(),
        layered({"post_attention_norm.weight": (h,), "post_ffw_norm.weight": (h,), "attn_q_norm.weight": (H * D,),
                 "attn_k_norm.weight": (K * D,)}, HEADS, DENSE),
        {"model_type": "olmo2"},
    ),
    "olmoe": (
        "olmoe", usual(**_TWO),
        layered(NORMS, HEADS, {"attn_q_norm.weight": (H * D,), "attn_k_norm.weight": (K * D,)}, ROUTED),
        {"model_type": "olmoe", "num_experts": E, "num_experts_per_tok": k, "intermediate_size": e},
    ),
    "internlm2": ("internlm2", usual(), layered(NORMS, HEADS, DENSE), {"model_type": "internlm2", "bias": False}),
    "command-r": (
        "command-r", usual(), layered({"attn_norm.weight": (h,)}, HEADS, DENSE, outer=TIED),
        {"model_type": "cohere", "tie_word_embeddings": True},
    ),
    "cohere2": (
        "cohere2", usual(attention__sliding_window=128), layered({"attn_norm.weight": (h,)}, HEADS, DENSE, outer=TIED),
        {"model_type": "cohere2", "sliding_window": 128, "tie_word_embeddings": True},
    ),
    "seed_oss": ("seed_oss", usual(**_SIZED), layered(NORMS, HEADS, QKV_BIAS, DENSE), {"model_type": "seed_oss"}),
    "smollm3": (
        "smollm3", usual(), layered(NORMS, HEADS, DENSE, outer=TIED),
        {"model_type": "smollm3", "tie_word_embeddings": True},
    ),
    "mistral3": (
        "mistral3", usual(**_SIZED), layered(NORMS, HEADS, DENSE), {"model_type": "mistral", "sliding_window": None},
    ),
}  # fmt: skip
