"""Families with experts: counts derived by hand from each class's shapes, published totals, and faults."""

from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mansard.errors import InputError
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, MixtureOfExperts
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig, encoder_parameters
from mansard.models import read_config

FAMILIES = (
    "dbrx", "deepseek", "deepseek_v2", "deepseek_v3", "dots1", "ernie4_5_moe", "flex_olmo", "glm4_moe", "glm4_moe_lite",
    "gpt_oss", "granitemoe", "granitemoeshared", "hunyuan_v1_moe", "llama4", "minicpm3", "minimax_m2", "mixtral",
    "olmoe", "phimoe", "qwen2_moe", "qwen3_moe", "solar_open",
)  # fmt: skip

# One letter each: H hidden, N query heads, K key/value heads, D head size, V vocabulary, L layers, E experts, T chosen,
# F feed-forward width, M expert width, S shared experts.
H, N, K, D, V, L, E, T, F, M, S = 24, 6, 2, 8, 50, 4, 5, 3, 40, 12, 2
ATTENTION = H * N * D + 2 * H * K * D + N * D * H
NORMS = 2 * H
OUTER = 2 * V * H + H  # embedding, head, final norm
BASE = {
    "hidden_size": H, "num_attention_heads": N, "num_key_value_heads": K, "head_dim": D, "vocab_size": V,
    "num_hidden_layers": L, "num_experts_per_tok": T, "tie_word_embeddings": False,
}  # fmt: skip


def swiglu(width: int) -> int:
    return 3 * H * width


def read(family: str, document: dict[str, Any]) -> ModelConfig:
    keys = Keys(document, "config.json")
    model: ModelConfig = import_module(f"mansard.architectures.{family}").read(keys)
    keys.finish()
    return model


def text_parameters(model: ModelConfig) -> int:
    """Those of the language model, without the towers of its class."""
    return model.parameters - sum(encoder_parameters(one) for one in model.encoders)


def faulty_keys(family: str, **changes: Any) -> set[str]:
    with pytest.raises(InputError) as caught:
        read(family, BASE | changes)
    return {fault.key for fault in caught.value.faults}


def experts(model: ModelConfig, index: int) -> MixtureOfExperts:
    part = model.layers[index].feed_forward
    assert isinstance(part, MixtureOfExperts)
    return part


def attention(model: ModelConfig, index: int) -> Attention:
    mixer = model.layers[index].mixer
    assert isinstance(mixer, Attention)
    return mixer


# -- published models


def test_mixtral_8x7b_has_its_published_parameters() -> None:
    model = read("mixtral", {})
    assert (model.parameters, model.parameters_active) == (46_702_792_704, 12_879_925_248)
    assert model.cache_elements_per_token == 32 * 2 * 8 * 128


def test_qwen3_30b_a3b_has_its_published_parameters() -> None:
    model = read("qwen3_moe", {"num_hidden_layers": 48, "head_dim": 128})
    assert (model.parameters, model.parameters_active) == (30_532_122_624, 3_353_032_704)


def test_gpt_oss_120b_has_its_published_parameters() -> None:
    model = read("gpt_oss", {})
    assert model.parameters == 116_829_156_672
    assert [attention(model, index).window for index in range(3)] == [128, None, 128]


# -- by hand


@pytest.mark.parametrize(
    ("family", "count_key"), [("mixtral", "num_local_experts"), ("granitemoe", "num_local_experts")]
)
def test_every_layer_is_sparse_without_a_shared_expert(family: str, count_key: str) -> None:
    model = read(family, BASE | {count_key: E, "intermediate_size": F})
    layer = ATTENTION + NORMS + H * E + E * swiglu(F)
    assert model.parameters == OUTER + L * layer
    assert model.parameters_active == OUTER + L * (layer - (E - T) * swiglu(F))


def test_granite_shared_part_stands_beside_the_experts() -> None:
    document = BASE | {"num_local_experts": E, "intermediate_size": F, "shared_intermediate_size": M}
    assert read("granitemoeshared", document).parameters == OUTER + L * (
        ATTENTION + NORMS + H * E + E * swiglu(F) + swiglu(M)
    )
    assert experts(read("granitemoeshared", document | {"shared_intermediate_size": 0}), 0).shared is None


def test_qwen3_moe_steps_and_dense_layers() -> None:
    document = BASE | {
        "num_experts": E, "moe_intermediate_size": M, "intermediate_size": F, "decoder_sparse_step": 2,
        "mlp_only_layers": [3], "attention_bias": True,
    }  # fmt: skip
    model = read("qwen3_moe", document)
    assert [isinstance(layer.feed_forward, MixtureOfExperts) for layer in model.layers] == [False, True, False, False]
    bias = N * D + 2 * K * D + H
    sparse = H * E + E * swiglu(M)
    assert model.parameters == OUTER + L * (ATTENTION + bias + 2 * D + NORMS) + sparse + 3 * swiglu(F)


def test_qwen2_moe_gates_its_shared_expert_and_biases_queries_keys_and_values() -> None:
    document = BASE | {"num_experts": E, "moe_intermediate_size": M, "shared_expert_intermediate_size": F}
    model = read("qwen2_moe", document)
    bias = N * D + 2 * K * D
    gate = H
    assert model.parameters == OUTER + L * (ATTENTION + bias + NORMS + H * E + E * swiglu(M) + swiglu(F) + gate)


def test_qwen2_moe_windows_even_layers_below_the_bound() -> None:
    model = read(
        "qwen2_moe", BASE | {"use_sliding_window": True, "sliding_window": 7, "max_window_layers": 2, "num_experts": E}
    )
    assert [attention(model, index).window for index in range(L)] == [7, None, None, None]


def test_phimoe_has_layer_norms_and_biases() -> None:
    document = BASE | {"num_local_experts": E, "intermediate_size": F, "attention_bias": True, "lm_head_bias": True,
                       "num_experts_per_tok": 2}  # fmt: skip
    bias = N * D + 2 * K * D + H
    layer = ATTENTION + bias + 2 * (2 * H) + H * E + E * swiglu(F)
    assert read("phimoe", document).parameters == 2 * V * H + V + 2 * H + L * layer


def test_gpt_oss_has_sinks_and_biases_everywhere() -> None:
    model = read("gpt_oss", BASE | {"num_local_experts": E, "intermediate_size": F})
    bias = N * D + 2 * K * D + H
    sinks = N
    expert = swiglu(F) + 2 * F + H
    assert model.parameters == OUTER + L * (ATTENTION + bias + sinks + NORMS + H * E + E + E * expert)


def test_gpt_oss_null_window_means_none() -> None:
    document = BASE | {"num_local_experts": E, "sliding_window": None}
    assert all(attention(read("gpt_oss", document), index).window is None for index in range(L))


@pytest.mark.parametrize(
    ("family", "count_key"),
    [
        ("olmoe", "num_experts"),
        ("flex_olmo", "num_experts"),
        ("minimax_m2", "num_local_experts"),
    ],
)
def test_norms_over_all_heads_at_once(family: str, count_key: str) -> None:
    model = read(family, BASE | {count_key: E, "intermediate_size": F})
    whole = N * D + K * D
    assert model.parameters == OUTER + L * (ATTENTION + whole + NORMS + H * E + E * swiglu(F))
    assert experts(model, 0).correction_buffer == (E if family == "minimax_m2" else 0)


@pytest.mark.parametrize(
    ("family", "extra", "head_norms", "buffer"),
    [
        ("deepseek", {}, 0, 0),
        ("dots1", {}, 2 * D, E),
        ("glm4_moe", {"use_qk_norm": True}, 2 * D, E),
        ("glm4_moe", {}, 0, E),
    ],
)
def test_dense_layers_first_then_shared_experts(
    family: str, extra: dict[str, Any], head_norms: int, buffer: int
) -> None:
    document = BASE | extra | {
        "n_routed_experts": E, "moe_intermediate_size": M, "intermediate_size": F, "n_shared_experts": S,
        "first_k_dense_replace": 1,
    }  # fmt: skip
    model = read(family, document)
    sparse = H * E + E * swiglu(M) + swiglu(S * M)
    assert model.parameters == OUTER + L * (ATTENTION + head_norms + NORMS) + swiglu(F) + (L - 1) * sparse
    assert model.parameters - model.parameters_active == (L - 1) * (E - T) * swiglu(M)
    assert experts(model, 1).shared == FeedForward(intermediate_size=S * M, gated=True)
    assert experts(model, 1).correction_buffer == buffer


def test_the_text_of_glm4v_moe_has_biases_and_no_head_norms() -> None:
    text = BASE | {"n_routed_experts": E, "moe_intermediate_size": M, "intermediate_size": F, "use_qk_norm": True}
    model = read_config({"model_type": "glm4v_moe", "torch_dtype": "float16", "text_config": text}, "config.json")
    bias = N * D + 2 * K * D
    sparse = H * E + E * swiglu(M) + swiglu(M)
    assert text_parameters(model) == OUTER + L * (ATTENTION + bias + NORMS) + swiglu(F) + (L - 1) * sparse
    assert model.dtype == "fp16"


def test_solar_open_is_sparse_from_its_first_layer() -> None:
    model = read("solar_open", BASE | {"n_routed_experts": E, "moe_intermediate_size": M, "n_shared_experts": S})
    assert model.parameters == OUTER + L * (ATTENTION + NORMS + H * E + E * swiglu(M) + swiglu(S * M))


def test_ernie_is_sparse_between_two_indices_and_counts_its_correction() -> None:
    document = BASE | {
        "moe_num_experts": E, "moe_k": T, "moe_intermediate_size": M, "intermediate_size": F,
        "moe_num_shared_experts": S, "moe_layer_start_index": 1, "moe_layer_end_index": 2, "use_bias": True,
    }  # fmt: skip
    bias = N * D + 2 * K * D + H
    dense = swiglu(F) + 2 * F + H
    sparse = H * E + E + E * swiglu(M) + swiglu(S * M) + 2 * S * M + H
    model = read("ernie4_5_moe", document)
    assert model.parameters == OUTER + V + L * (ATTENTION + bias + NORMS) + 2 * dense + 2 * sparse


def test_hunyuan_chooses_by_layer_and_has_one_shared_part_of_full_width() -> None:
    model = read("hunyuan_v1_moe", BASE | {"num_experts": E, "moe_topk": [1, 2, 3, 4], "intermediate_size": F})
    assert model.parameters == OUTER + L * (ATTENTION + 2 * D + NORMS + H * E + (E + 1) * swiglu(F))
    assert model.parameters - model.parameters_active == sum(E - chosen for chosen in (1, 2, 3, 4)) * swiglu(F)


def test_llama4_chunks_its_rotary_layers_and_alternates_experts() -> None:
    document = BASE | {
        "num_local_experts": E, "intermediate_size": M, "intermediate_size_mlp": F, "interleave_moe_layer_step": 2,
        "attention_chunk_size": 9, "no_rope_layer_interval": 2,
    }  # fmt: skip
    model = read_config({"model_type": "llama4", "text_config": document}, "config.json")
    sparse = H * E + E * swiglu(M) + swiglu(M)
    assert text_parameters(model) == OUTER + L * (ATTENTION + NORMS) + 2 * swiglu(F) + 2 * sparse
    assert [(attention(model, i).chunk, attention(model, i).rotary_dim) for i in range(L)] == [(9, D), (None, 0)] * 2
    assert [isinstance(layer.feed_forward, MixtureOfExperts) for layer in model.layers] == [False, True, False, True]


def test_dbrx_reads_its_own_keys() -> None:
    document = {
        "d_model": N * D, "n_heads": N, "n_layers": L, "vocab_size": V, "max_seq_len": 99,
        "attn_config": {"kv_n_heads": K}, "ffn_config": {"ffn_hidden_size": M, "moe_num_experts": E, "moe_top_k": T},
    }  # fmt: skip
    hidden = N * D
    mixer = hidden * hidden + 2 * hidden * K * D + hidden * hidden
    layer = mixer + 2 * hidden + hidden * E + E * 3 * hidden * M
    model = read("dbrx", document)
    assert model.parameters == 2 * V * hidden + hidden + L * layer
    assert model.max_position_embeddings == 99


# -- faults


@pytest.mark.parametrize(("family", "changes", "key"), [
    ("mixtral", {"num_local_experts": 2}, "num_experts_per_tok"),
    ("mixtral", {"num_key_value_heads": 4}, "num_key_value_heads"),
    ("gpt_oss", {"num_local_experts": E, "layer_types": ["full_attention"]}, "layer_types"),
    ("glm4_moe", {"n_routed_experts": E, "first_k_dense_replace": L + 1}, "first_k_dense_replace"),
    ("deepseek_v3", {"n_routed_experts": E, "moe_layer_freq": 2}, "moe_layer_freq"),
    ("glm4_moe_lite", {"n_routed_experts": E, "mlp_layer_types": ["dense"]}, "mlp_layer_types"),
    ("hunyuan_v1_moe", {"num_experts": E, "moe_topk": [1]}, "moe_topk"),
    ("hunyuan_v1_moe", {"num_experts": E, "moe_topk": [1, 1, 1, E + 1]}, "moe_topk"),
    ("llama4", {"num_local_experts": E, "no_rope_layers": [1]}, "no_rope_layers"),
    ("llama4", {"num_local_experts": E, "moe_layers": [L]}, "moe_layers"),
    ("llama4", {"num_local_experts": E, "model_type": "llama4"}, "text_config"),
    ("dots1", {"n_routed_experts": E}, "n_shared_experts"),
    ("deepseek_v2", {"num_experts_per_tok": None}, "num_experts_per_tok"),
    ("dbrx", {"d_model": 8, "n_heads": 3}, "n_heads"),
])  # fmt: skip
def test_wrong_values_are_faults_at_their_key(family: str, changes: dict[str, Any], key: str) -> None:
    assert key in faulty_keys(family, **changes)


def test_all_faults_come_at_once() -> None:
    wrong = faulty_keys("qwen3_moe", hidden_size="wide", num_experts=-1, mlp_only_layers="all", decoder_sparse_step=0)
    assert {"hidden_size", "num_experts", "mlp_only_layers", "decoder_sparse_step"} <= wrong


NAMES = (
    *BASE, "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts", "n_shared_experts", "moe_topk",
    "moe_k", "first_k_dense_replace", "layer_types", "mlp_layer_types", "mlp_only_layers", "no_rope_layers",
    "moe_layers", "moe_layer_freq", "sliding_window", "attention_chunk_size", "q_lora_rank", "kv_lora_rank",
    "text_config",
    "attn_config", "ffn_config", "rope_parameters", "model_type", "moe_intermediate_size", "num_shared_expert",
    "partial_rotary_factor", "torch_dtype", "rotary_dim", "moe_layer_end_index", "num_nextn_predict_layers",
)  # fmt: skip
values = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=5) | st.dictionaries(st.sampled_from(NAMES), inner, max_size=4),
    max_leaves=8,
)


@pytest.mark.parametrize("family", FAMILIES)
@given(document=st.dictionaries(st.sampled_from(NAMES), values, max_size=12))
def test_no_json_value_raises_anything_but_an_input_error(family: str, document: dict[str, Any]) -> None:
    keys = Keys(BASE | {name: E for name in NAMES if name.endswith("experts")} | document, "config.json")
    model: ModelConfig = import_module(f"mansard.architectures.{family}").read(keys)
    assert keys.faults or 0 < model.parameters_active <= model.parameters


def test_phimoe_refuses_what_its_router_does_not_do() -> None:
    document = BASE | {"num_local_experts": E, "intermediate_size": F, "num_experts_per_tok": 3}
    with pytest.raises(InputError, match="num_experts_per_tok: must be 2"):
        read("phimoe", document)
