"""The best known dense families: counts derived by hand from each class's shapes, their layers, and faults."""

from importlib import import_module
from typing import Any

import pytest

from mansard.errors import InputError
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

# H hidden, N query heads, K key/value heads, D head size, V vocabulary, L layers, F feed-forward width, P positions,
# W window, E width of a narrower embedding.
H, N, K, D, V, L, F, P, W, E = 48, 6, 2, 10, 50, 6, 40, 64, 16, 20
EVEN = H // N  # the head size of classes that have no key for it
BASE: dict[str, Any] = {
    "hidden_size": H, "num_attention_heads": N, "num_key_value_heads": K, "head_dim": D, "vocab_size": V,
    "num_hidden_layers": L, "intermediate_size": F, "tie_word_embeddings": False, "max_position_embeddings": P,
}  # fmt: skip
OLDER: dict[str, Any] = {
    "n_embd": H, "n_head": N, "n_layer": L, "n_inner": F, "n_positions": P, "vocab_size": V,
    "tie_word_embeddings": True,
}  # fmt: skip

GROUPED = H * N * D + 2 * H * K * D + N * D * H
EQUAL = 4 * H * H  # heads that divide the hidden size
ONE_KEY = H * H + 2 * H * EVEN + H * H
QKV_BIAS, O_BIAS = N * D + 2 * K * D, H
SWIGLU, UNGATED = 3 * H * F, 2 * H * F
UNGATED_BIAS = F + H
RMS, LAYER_NORM = H, 2 * H
PLAIN = GROUPED + SWIGLU + 2 * RMS
TABLE = V * H
ENDS = 2 * TABLE + RMS  # embedding, head, final norm
GPT = EQUAL + 4 * H + UNGATED + UNGATED_BIAS + 2 * LAYER_NORM
GPT_ENDS = TABLE + LAYER_NORM


def read(family: str, document: dict[str, Any]) -> ModelConfig:
    keys = Keys(document, "config.json")
    model: ModelConfig = import_module(f"mansard.architectures.{family}").read(keys)
    keys.finish()
    return model


def without(*names: str) -> dict[str, Any]:
    return {name: value for name, value in BASE.items() if name not in names}


def faulty_keys(family: str, document: dict[str, Any]) -> set[str]:
    with pytest.raises(InputError) as caught:
        read(family, document)
    return {fault.key for fault in caught.value.faults}


def mixers(model: ModelConfig) -> list[Attention]:
    found = [layer.mixer for layer in model.layers if isinstance(layer.mixer, Attention)]
    assert len(found) == len(model.layers)
    return found


def windows(model: ModelConfig) -> list[int | None]:
    return [mixer.window for mixer in mixers(model)]


# -- parameters of one layer, by the shapes of the class

ROTARY: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("llama", {}, PLAIN),
    ("llama", {"attention_bias": True}, PLAIN + QKV_BIAS + O_BIAS),
    ("llama", {"mlp_bias": True}, PLAIN + 2 * F + H),
    ("mistral", {}, PLAIN),
    ("qwen2", {}, PLAIN + QKV_BIAS),
    ("qwen3", {}, PLAIN + 2 * D),
    ("qwen3", {"attention_bias": True}, PLAIN + 2 * D + QKV_BIAS + O_BIAS),
    ("gemma", {}, PLAIN),
    ("gemma", {"attention_bias": True}, PLAIN + QKV_BIAS + O_BIAS),
    ("gemma2", {}, PLAIN + 2 * RMS),
    ("gemma3_text", {}, PLAIN + 2 * RMS + 2 * D),
    ("phi3", {}, PLAIN),
    ("granite", {}, PLAIN),
    ("granite", {"attention_bias": True, "mlp_bias": True}, PLAIN + QKV_BIAS + O_BIAS + 2 * F + H),
    ("olmo2", {}, PLAIN + N * D + K * D),
    ("olmo3", {}, PLAIN + N * D + K * D),
)


@pytest.mark.parametrize(("family", "changes", "layer"), ROTARY)
def test_parameters_of_one_layer(family: str, changes: dict[str, Any], layer: int) -> None:
    assert read(family, BASE | changes).parameters == L * layer + ENDS


@pytest.mark.parametrize("family", sorted({family for family, _, _ in ROTARY}))
def test_cache_keeps_key_and_value_heads_alone(family: str) -> None:
    assert read(family, BASE).cache_elements_per_token == L * 2 * K * D


@pytest.mark.parametrize("family", ["llama", "qwen2", "phi3", "granite", "olmo2", "phi", "stablelm"])
def test_null_key_value_heads_mean_as_many_as_heads(family: str) -> None:
    assert {mixer.kv_heads for mixer in mixers(read(family, BASE | {"num_key_value_heads": None}))} == {N}


@pytest.mark.parametrize("family", ["llama", "mistral", "qwen2", "phi3", "granite", "olmo"])
def test_an_absent_head_size_is_the_hidden_size_over_the_heads(family: str) -> None:
    assert {mixer.head_dim for mixer in mixers(read(family, without("head_dim")))} == {H // N}
    assert faulty_keys(family, without("head_dim") | {"hidden_size": H + 1}) == {"num_attention_heads"}


@pytest.mark.parametrize(("family", "size"), [("gemma", 256), ("gemma2", 256), ("gemma3_text", 256), ("qwen3", 128)])
def test_an_absent_head_size_takes_the_default_of_the_class(family: str, size: int) -> None:
    assert {mixer.head_dim for mixer in mixers(read(family, without("head_dim")))} == {size}


@pytest.mark.parametrize(
    ("family", "tied"),
    [
        *((family, False) for family in ("llama", "mistral", "qwen2", "qwen3", "phi", "phi3", "granite", "olmo")),
        *((family, False) for family in ("olmo2", "olmo3", "stablelm", "persimmon")),
        *((family, True) for family in ("gemma", "gemma2", "gemma3_text", "starcoder2", "falcon", "opt", "bloom")),
    ],
)
def test_head_is_tied_where_the_class_says_so(family: str, tied: bool) -> None:
    head = read(family, without("tie_word_embeddings")).head
    assert head is not None
    assert head.tied is tied


@pytest.mark.parametrize("alias", ["Yi", "aquila", "xverse"])
def test_layers_of_llama_under_another_name_must_state_their_sizes(alias: str) -> None:
    assert read("llama", BASE | {"model_type": alias}).parameters == L * PLAIN + ENDS
    assert faulty_keys("llama", {"model_type": alias}) == {
        "hidden_size", "intermediate_size", "num_attention_heads", "num_hidden_layers", "vocab_size",
    }  # fmt: skip
    assert faulty_keys("llama", BASE | {"model_type": alias, "num_experts": 8}) == {"num_experts"}


# -- layers that differ


def test_mistral_has_its_window_by_default_and_none_where_it_is_null() -> None:
    assert windows(read("mistral", BASE)) == [4096] * L
    assert windows(read("mistral", BASE | {"sliding_window": W})) == [W] * L
    assert windows(read("mistral", BASE | {"sliding_window": None})) == [None] * L


@pytest.mark.parametrize("family", ["qwen2", "qwen3"])
def test_a_window_on_the_later_layers_only_where_it_is_used(family: str) -> None:
    stated = BASE | {"sliding_window": W, "max_window_layers": 4}
    assert windows(read(family, stated)) == [None] * L
    assert windows(read(family, stated | {"use_sliding_window": True})) == [None] * 4 + [W] * 2


@pytest.mark.parametrize(("family", "period"), [("gemma2", 2), ("olmo3", 4), ("gemma3_text", 6)])
def test_every_so_manieth_layer_sees_all(family: str, period: int) -> None:
    expected = [W if (index + 1) % period else None for index in range(2 * L)]
    assert windows(read(family, BASE | {"sliding_window": W, "num_hidden_layers": 2 * L})) == expected


@pytest.mark.parametrize("family", ["mistral", "gemma2", "gemma3_text", "olmo3"])
def test_listed_layer_types_win(family: str) -> None:
    kinds = ["full_attention", "full_attention", "sliding_attention"] * 2
    assert windows(read(family, BASE | {"sliding_window": W, "layer_types": kinds})) == [None, None, W] * 2
    assert faulty_keys(family, BASE | {"layer_types": kinds[1:]}) == {"layer_types"}
    assert faulty_keys(family, BASE | {"layer_types": ["linear_attention"] * L}) == {"layer_types"}


def test_gemma_3_may_state_its_pattern() -> None:
    model = read("gemma3_text", BASE | {"sliding_window": W, "sliding_window_pattern": 3})
    assert windows(model) == [W, W, None] * 2


def test_gemma_2_caps_scores_and_logits() -> None:
    model = read("gemma2", BASE)
    assert model.head is not None
    assert model.head.softcap
    assert all(mixer.softcap for mixer in mixers(model))
    assert not any(mixer.softcap for mixer in mixers(read("gemma2", BASE | {"attn_logit_softcapping": None})))


def test_phi_3_rotates_the_stated_part_and_has_the_stated_window() -> None:
    model = read("phi3", BASE | {"partial_rotary_factor": 0.6, "sliding_window": W})
    assert {mixer.rotary_dim for mixer in mixers(model)} == {D * 3 // 5}
    assert windows(model) == [W] * L
    assert windows(read("phi3", BASE)) == [None] * L


def test_gpt_neo_alternates_whole_and_local_layers() -> None:
    document = without("head_dim") | {"num_layers": L, "num_heads": N, "window_size": W}
    document["attention_types"] = [[["global", "local"], 2], [["local"], 2]]
    assert windows(read("gpt_neo", document)) == [None, W, None, W, W, W]
    for faulty in (
        [[["global"], L - 1]],
        [["global", L]],
        [[["near"], L]],
        [[["global"], -1]],
        7,
        [[["global"], True]],
    ):
        assert faulty_keys("gpt_neo", document | {"attention_types": faulty}) == {"attention_types"}


# -- norms without parameters, layer norms, parallel parts


def test_olmo_has_norms_without_parameters() -> None:
    model = read("olmo", BASE)
    assert model.parameters == L * (GROUPED + SWIGLU) + 2 * TABLE
    assert {norm.kind for norm in model.layers[0].norms} == {"none"}


def test_phi_reads_one_norm_in_parallel_and_has_biases_everywhere() -> None:
    layer = GROUPED + QKV_BIAS + O_BIAS + UNGATED + UNGATED_BIAS + LAYER_NORM
    ends = 2 * TABLE + V + LAYER_NORM  # the head has a bias
    model = read("phi", BASE)
    assert model.parameters == L * layer + ends
    assert all(layer.parallel for layer in model.layers)
    assert read("phi", BASE | {"qk_layernorm": True}).parameters == L * (layer + 2 * 2 * D) + ends


def test_starcoder_2_has_a_bias_with_every_matrix() -> None:
    layer = GROUPED + UNGATED + 2 * LAYER_NORM
    ends = 2 * TABLE + LAYER_NORM
    biases = QKV_BIAS + O_BIAS + UNGATED_BIAS
    assert read("starcoder2", BASE).parameters == L * (layer + biases) + ends
    assert read("starcoder2", BASE | {"use_bias": False}).parameters == L * layer + ends


def test_stablelm_loses_a_norm_in_parallel_and_gains_one_for_every_head() -> None:
    even = {"head_dim": EVEN}
    attention = 2 * H * H + 2 * H * K * EVEN
    layer = attention + SWIGLU + 2 * LAYER_NORM
    ends = 2 * TABLE + LAYER_NORM
    assert read("stablelm", BASE | even).parameters == L * layer + ends
    assert read("stablelm", BASE | even | {"use_qkv_bias": True}).parameters == L * (layer + H + 2 * K * EVEN) + ends
    assert read("stablelm", BASE | even | {"use_parallel_residual": True}).parameters == L * (layer - 2 * H) + ends
    normed = layer + N * EVEN + K * EVEN
    assert read("stablelm", BASE | even | {"qk_layernorm": True}).parameters == L * normed + ends


def test_persimmon_norms_every_head_with_one_weight_and_bias() -> None:
    document = without("head_dim", "num_key_value_heads")
    layer = EQUAL + 4 * H + UNGATED + UNGATED_BIAS + 2 * LAYER_NORM
    ends = 2 * TABLE + LAYER_NORM
    assert read("persimmon", document).parameters == L * (layer + 2 * 2 * EVEN) + ends
    assert read("persimmon", document | {"qk_layernorm": False}).parameters == L * layer + ends
    assert {mixer.rotary_dim for mixer in mixers(read("persimmon", document))} == {EVEN // 2}


FALCON = without("head_dim", "num_key_value_heads") | {"ffn_hidden_size": F, "tie_word_embeddings": True}


@pytest.mark.parametrize(
    ("changes", "layer", "kv_heads"),
    [
        ({}, ONE_KEY + UNGATED + LAYER_NORM, 1),
        ({"multi_query": False}, EQUAL + UNGATED + LAYER_NORM, N),
        ({"parallel_attn": False}, ONE_KEY + UNGATED + 2 * LAYER_NORM, 1),
        ({"num_ln_in_parallel_attn": 2}, ONE_KEY + UNGATED + 2 * LAYER_NORM, 1),
        ({"bias": True}, ONE_KEY + H + 2 * EVEN + H + UNGATED + UNGATED_BIAS + LAYER_NORM, 1),
        (
            {"new_decoder_architecture": True, "num_kv_heads": K},
            2 * H * H + 2 * H * K * EVEN + UNGATED + 2 * LAYER_NORM,
            K,
        ),
        (
            {"new_decoder_architecture": True, "num_kv_heads": K, "num_ln_in_parallel_attn": 1},
            2 * H * H + 2 * H * K * EVEN + UNGATED + LAYER_NORM,
            K,
        ),
    ],
)
def test_falcon_in_both_generations(changes: dict[str, Any], layer: int, kv_heads: int) -> None:
    model = read("falcon", FALCON | changes)
    assert model.parameters == L * layer + GPT_ENDS
    assert {mixer.kv_heads for mixer in mixers(model)} == {kv_heads}


def test_falcon_is_rotated_unless_it_has_alibi() -> None:
    assert {mixer.rotary_dim for mixer in mixers(read("falcon", FALCON))} == {EVEN}
    assert {mixer.rotary_dim for mixer in mixers(read("falcon", FALCON | {"alibi": True}))} == {0}


# -- the older decoders


def test_gpt_2_has_learned_positions() -> None:
    assert read("gpt2", OLDER).parameters == L * GPT + GPT_ENDS + P * H
    assert (
        read("gpt2", OLDER | {"n_inner": None}).parameters == L * (GPT + (4 * H - F) * (2 * H + 1)) + GPT_ENDS + P * H
    )


def test_gpt_neo_has_a_bias_on_the_output_alone() -> None:
    document = FALCON | {"num_layers": L, "num_heads": N, "attention_types": [[["global", "local"], L // 2]]}
    assert read("gpt_neo", document).parameters == L * (GPT - 3 * H) + GPT_ENDS + P * H


def test_gpt_neox_is_untied_and_rotates_a_part() -> None:
    document = without("head_dim", "num_key_value_heads") | {"rotary_pct": 0.5}
    model = read("gpt_neox", document)
    assert model.parameters == L * GPT + GPT_ENDS + TABLE
    assert {mixer.rotary_dim for mixer in mixers(model)} == {EVEN // 2}
    assert all(layer.parallel for layer in model.layers)
    bare = read("gpt_neox", document | {"attention_bias": False, "use_parallel_residual": False})
    assert bare.parameters == L * (GPT - 4 * H) + GPT_ENDS + TABLE
    assert not any(layer.parallel for layer in bare.layers)


def test_gpt_j_has_one_norm_and_biases_without_attention() -> None:
    layer = EQUAL + UNGATED + UNGATED_BIAS + LAYER_NORM
    model = read("gptj", OLDER | {"rotary_dim": 4, "tie_word_embeddings": False})
    assert model.parameters == L * layer + 2 * TABLE + V + LAYER_NORM
    assert {mixer.rotary_dim for mixer in mixers(model)} == {4}
    assert {mixer.rotary_dim for mixer in mixers(read("gptj", OLDER | {"rotary_dim": None}))} == {EVEN}


def test_gpt_bigcode_keeps_one_key_head() -> None:
    model = read("gpt_bigcode", OLDER)
    layer = GPT - EQUAL + ONE_KEY - 2 * H + 2 * EVEN
    assert model.parameters == L * layer + GPT_ENDS + P * H
    assert model.cache_elements_per_token == L * 2 * EVEN
    assert read("gpt_bigcode", OLDER | {"multi_query": False}).parameters == L * GPT + GPT_ENDS + P * H


OPT = {key: value for key, value in FALCON.items() if key != "ffn_hidden_size"} | {"ffn_dim": F}


def test_opt_reserves_two_positions() -> None:
    assert read("opt", OPT).parameters == L * GPT + GPT_ENDS + (P + 2) * H


def test_opt_projects_a_narrower_embedding() -> None:
    model = read("opt", OPT | {"word_embed_proj_dim": E})
    assert model.parameters == L * GPT + V * E + 2 * E * H + LAYER_NORM + (P + 2) * H
    assert model.head is not None
    assert model.head.dim == E


@pytest.mark.parametrize("changes", [{"do_layer_norm_before": False}, {"_remove_final_layer_norm": True}])
def test_opt_may_lack_the_final_norm(changes: dict[str, Any]) -> None:
    assert read("opt", OPT | changes).parameters == L * GPT + TABLE + (P + 2) * H


def test_opt_may_lack_biases_and_weights_of_norms() -> None:
    positions = (P + 2) * H
    assert read("opt", OPT | {"enable_bias": False}).parameters == L * (GPT - 5 * H - F) + GPT_ENDS + positions
    bare = read("opt", OPT | {"layer_norm_elementwise_affine": False})
    assert bare.parameters == L * (GPT - 2 * LAYER_NORM) + TABLE + positions


def test_bloom_norms_its_embedding_and_is_four_times_as_wide_inside() -> None:
    document = {"hidden_size": H, "n_head": N, "n_layer": L, "vocab_size": V}
    layer = EQUAL + 4 * H + 2 * H * 4 * H + 4 * H + H + 2 * LAYER_NORM
    model = read("bloom", document)
    assert model.parameters == L * layer + TABLE + LAYER_NORM + LAYER_NORM
    assert {mixer.rotary_dim for mixer in mixers(model)} == {0}


MPT = {"d_model": H, "n_heads": N, "n_layers": L, "vocab_size": V, "expansion_ratio": 4, "no_bias": True}


def test_mpt_has_no_biases() -> None:
    assert read("mpt", MPT).parameters == L * (EQUAL + 2 * H * 4 * H + 2 * RMS) + TABLE + RMS


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"expansion_ratio": 3}, "expansion_ratio"),
        ({"no_bias": False}, "no_bias"),
        ({"attn_config": {"kv_n_heads": K}}, "attn_config.kv_n_heads"),
        ({"attn_config": {"alibi": False}}, "attn_config.alibi"),
        ({"attn_config": {"qk_ln": True}}, "attn_config.qk_ln"),
    ],
)
def test_mpt_refuses_what_its_class_does_not_build(changes: dict[str, Any], key: str) -> None:
    assert faulty_keys("mpt", MPT | changes) == {key}


# -- gates, and faults


@pytest.mark.parametrize(
    ("family", "gated"),
    [("llama", True), ("gemma", True), ("stablelm", True), ("phi", False), ("starcoder2", False), ("falcon", False)],
)
def test_gates(family: str, gated: bool) -> None:
    part = read(family, BASE | {"head_dim": EVEN}).layers[0].feed_forward
    assert isinstance(part, FeedForward)
    assert part.gated is gated


@pytest.mark.parametrize("family", sorted({family for family, _, _ in ROTARY} | {"olmo", "phi", "starcoder2"}))
def test_all_faults_of_a_config_come_at_once(family: str) -> None:
    changes = {"hidden_size": "wide", "num_attention_heads": 0, "vocab_size": 1.5, "tie_word_embeddings": 2}
    assert faulty_keys(family, BASE | changes) >= set(changes)


@pytest.mark.parametrize("family", ["llama", "mistral", "qwen2", "gemma3_text", "phi3", "olmo2"])
def test_key_value_heads_must_divide_the_heads(family: str) -> None:
    assert faulty_keys(family, BASE | {"num_key_value_heads": 4}) == {"num_key_value_heads"}
