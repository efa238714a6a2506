"""Families of state-space layers, alone or beside attention: parameters, caches, states and work derived by hand."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from mansard.models import read_config

# h hidden, A heads on K key/value heads of D, f feed-forward width, V vocabulary.
h, A, K, D, f, V = 64, 4, 2, 16, 96, 320
# Mamba-1: U channels, N numbers of state, R the rank of the time step, k kernel.
U, N, R, k = 128, 8, 5, 4
# Mamba-2: H heads of P on G groups, C channels of the convolution.
H, P, G = 8, 16, 2
C = H * P + 2 * G * N
BASE: dict[str, Any] = {
    "hidden_size": h, "num_attention_heads": A, "num_key_value_heads": K, "intermediate_size": f, "vocab_size": V,
    "tie_word_embeddings": False, "torch_dtype": "bfloat16", "mamba_d_state": N, "mamba_d_conv": k, "mamba_expand": 2,
}  # fmt: skip
PART = 3 * h * f
ATTENTION = 2 * h * A * D + 2 * h * K * D
CACHE = 2 * K * D
MAMBA_1 = h * 2 * U + U * (R + 2 * N) + R * U + U * h  # matrices
MAMBA_2 = h * (H * P + C + H) + H * P * h
# With the time step's bias, A [U, N], D [U] and the convolution with its bias.
WHOLE_1 = MAMBA_1 + U + U * N + U + U * (k + 1)
# With A, D and the time step's bias [H] each, the convolution with its bias and the gated norm.
WHOLE_2 = MAMBA_2 + 3 * H + C * (k + 1) + H * P
OUTER = 2 * V * h + h


def model(model_type: str, **changes: Any) -> mansard.ModelConfig:
    return read_config(BASE | {"model_type": model_type} | changes, "config.json")


def refused(model_type: str, **changes: Any) -> dict[str, str]:
    with pytest.raises(InputError) as error:
        model(model_type, **changes)
    return {fault.key: f"{fault.problem} {fault.value}" for fault in error.value.faults}


@pytest.mark.parametrize("model_type", ["mamba", "falcon_mamba"])
def test_layers_of_mamba_alone(model_type: str) -> None:
    sizes = {"state_size": N, "time_step_rank": R, "conv_kernel": k, "num_hidden_layers": 3, "intermediate_size": U}
    found = model(model_type, **sizes)
    assert found.parameters == 3 * (WHOLE_1 + h) + OUTER
    assert (found.cache_elements_per_token, found.state_elements) == (0, 3 * U * N)
    assert found.convolution_state_elements == 3 * U * k
    biased = model(model_type, **sizes, use_bias=True, use_conv_bias=False)
    assert biased.parameters - found.parameters == 3 * (2 * U + h - U)
    # The rank is a sixteenth of the hidden size, rounded up; the channels twice the hidden size.
    usual = model(model_type, **sizes | {"time_step_rank": "auto", "intermediate_size": None})
    assert usual.parameters - found.parameters == 3 * 2 * U * (4 - R)


@pytest.mark.parametrize("model_type", ["mamba", "falcon_mamba"])
def test_stated_channels_go_before_the_expansion(model_type: str) -> None:
    """Falcon-Mamba 7B states an expansion of 16 beside twice the hidden size, which is what it has."""
    sizes = {"state_size": N, "time_step_rank": R, "conv_kernel": k, "num_hidden_layers": 1, "intermediate_size": U}
    assert model(model_type, **sizes, expand=16).parameters == model(model_type, **sizes).parameters


def test_work_of_a_mamba_step() -> None:
    sizes = {"state_size": N, "time_step_rank": R, "conv_kernel": k, "num_hidden_layers": 3, "intermediate_size": U}
    step = mansard.analyze(model("mamba", **sizes), on="h100-sxm", batch=5, context=1000).decode
    assert step is not None
    assert step.flops == 5 * 2 * (3 * MAMBA_1 + V * h)
    scan = next(row for row in step.operators if row.kind == "scan")
    assert scan.vector_flops == 5 * 3 * (7 * U * N + 15 * U)
    assert (scan.cache_read_bytes, scan.cache_write_bytes) == (5 * 3 * 4 * U * N, 5 * 3 * 4 * U * N)


HYBRID_2 = {"mamba_n_heads": H, "mamba_d_head": P, "mamba_n_groups": G}


def test_bamba_lists_the_layers_of_attention() -> None:
    found = model("bamba", **HYBRID_2, num_hidden_layers=5, attn_layer_indices=[1, 3])
    assert found.parameters == 3 * WHOLE_2 + 2 * ATTENTION + 5 * (PART + 2 * h) + OUTER
    assert (found.cache_elements_per_token, found.state_elements) == (2 * CACHE, 3 * H * P * N)
    assert found.convolution_state_elements == 3 * C * k
    assert model("bamba", **HYBRID_2, num_hidden_layers=5).cache_elements_per_token == 0
    assert (
        "must be between 0 and 4" in refused("bamba", num_hidden_layers=5, attn_layer_indices=[5])["attn_layer_indices"]
    )


E, TOP, SHARED = 6, 2, 40


def test_granite_hybrids_have_a_shared_part_beside_the_experts_or_alone() -> None:
    kinds = ["mamba", "attention", "linear_attention", "full_attention"]
    sizes = HYBRID_2 | {"num_hidden_layers": 4, "layer_types": kinds, "shared_intermediate_size": SHARED}
    found = model("granitemoehybrid", **sizes, num_local_experts=E, num_experts_per_tok=TOP)
    shared = 3 * h * SHARED
    mixers = 2 * WHOLE_2 + 2 * ATTENTION
    assert found.parameters == mixers + 4 * (E * PART + E * h + shared + 2 * h) + OUTER
    assert found.parameters - found.parameters_active == 4 * (E - TOP) * PART
    assert (found.cache_elements_per_token, found.state_elements) == (2 * CACHE, 2 * H * P * N)
    dense = model("granitemoehybrid", **sizes, num_local_experts=0, num_experts_per_tok=0)
    assert dense.parameters == mixers + 4 * (shared + 2 * h) + OUTER


def test_falcon_h1_has_both_mixers_in_every_layer() -> None:
    sizes = {"num_hidden_layers": 3, "mamba_d_ssm": H * P, **HYBRID_2}
    found = model("falcon_h1", **sizes, mamba_rms_norm=True)
    assert found.parameters == 3 * (WHOLE_2 + ATTENTION + PART + 2 * h) + OUTER
    assert (found.cache_elements_per_token, found.state_elements) == (3 * CACHE, 3 * H * P * N)
    plain = model("falcon_h1", **sizes)
    assert found.parameters - plain.parameters == 3 * H * P
    assert model("falcon_h1", **sizes, projectors_bias=True).parameters - plain.parameters == 3 * h
    assert model("falcon_h1", **sizes, mamba_proj_bias=True).parameters - plain.parameters == 3 * (H * P + C + H)
    expanded = model("falcon_h1", **sizes | {"mamba_d_ssm": None})
    assert expanded.parameters == plain.parameters  # twice the hidden size


M, BESIDE, INNER = 24, 56, 20
NEMOTRON = {
    "mamba_num_heads": H, "mamba_head_dim": P, "n_groups": G, "ssm_state_size": N, "conv_kernel": k, "head_dim": 24,
    "n_routed_experts": E, "num_experts_per_tok": TOP, "moe_intermediate_size": M,
    "moe_shared_expert_intermediate_size": BESIDE,
}  # fmt: skip


def test_nemotron_h_spells_its_layers() -> None:
    found = model("nemotron_h", **NEMOTRON, hybrid_override_pattern="ME*-M", num_hidden_layers=5)
    attention = 2 * h * A * 24 + 2 * h * K * 24
    experts = E * 2 * h * M + E * h + 2 * h * BESIDE
    assert found.parameters == 2 * WHOLE_2 + attention + 2 * h * f + experts + 5 * h + OUTER
    assert found.parameters - found.parameters_active == (E - TOP) * 2 * h * M
    assert (found.cache_elements_per_token, found.state_elements) == (2 * K * 24, 2 * H * P * N)
    kinds = ["mamba", "moe", "attention", "mlp", "mamba"]
    assert model("nemotron_h", **NEMOTRON, layers_block_type=kinds).parameters == found.parameters
    assert model("nemotron_h", **NEMOTRON, layer_types=kinds).parameters == found.parameters
    renamed = {"mamba_n_groups" if key == "n_groups" else key: value for key, value in NEMOTRON.items()}
    assert model("nemotron_h", **renamed, hybrid_override_pattern="ME*-M").parameters == found.parameters


def test_experts_of_nemotron_3_may_live_in_a_width_of_their_own() -> None:
    plain = model("nemotron_h", **NEMOTRON, hybrid_override_pattern="E")
    latent = model("nemotron_h", **NEMOTRON, hybrid_override_pattern="E", moe_latent_size=INNER)
    assert latent.parameters - plain.parameters == E * 2 * (INNER - h) * M + 2 * h * INNER
    assert latent.parameters - latent.parameters_active == (E - TOP) * 2 * INNER * M


JAMBA = {"num_hidden_layers": 6, "mamba_dt_rank": R, "num_experts": E, "num_experts_per_tok": TOP}


def test_jamba_has_attention_and_experts_by_periods() -> None:
    sizes = JAMBA | {"attn_layer_period": 3, "attn_layer_offset": 1, "expert_layer_period": 2, "expert_layer_offset": 1}
    found = model("jamba", **sizes)
    inside = R + 2 * N  # norms of the time step, B and C
    mixers = 4 * (WHOLE_1 + inside) + 2 * ATTENTION
    assert found.parameters == mixers + 3 * PART + 3 * (E * PART + E * h) + 6 * 2 * h + OUTER
    assert found.parameters - found.parameters_active == 3 * (E - TOP) * PART
    assert (found.cache_elements_per_token, found.state_elements) == (2 * CACHE, 4 * U * N)
    single = model("jamba", **sizes | {"num_experts": 1, "num_experts_per_tok": 1})
    assert single.parameters == mixers + 6 * (PART + 2 * h) + OUTER
    assert set(refused("jamba", **sizes | {"attn_layer_offset": 3})) == {"attn_layer_offset"}


BLOCK = 2 * h * 3 * A * 2 * D + A * 2 * D * h + PART + 2 * h + h  # reads 2·h: heads are twice as wide
TIED = {"tie_word_embeddings": True, "num_key_value_heads": A}


def test_zamba_applies_one_block_before_some_layers() -> None:
    kinds = ["mamba", "hybrid", "mamba", "hybrid"]
    sizes = TIED | {"num_hidden_layers": 4, "mamba_dt_rank": R}
    found = model("zamba", **sizes, n_mamba_heads=1, layers_block_type=kinds)
    linear = 2 * h * h  # an application's own
    assert found.parameters == 4 * (WHOLE_1 + h) + BLOCK + linear + V * h + h
    assert (found.cache_elements_per_token, found.state_elements) == (2 * 2 * A * 2 * D, 4 * U * N)
    # Weights that are shared work at each of their applications.
    step = mansard.analyze(found, on="h100-sxm", context=1).decode
    assert step is not None
    products = sum(row.flops for row in step.operators if row.kind == "linear")
    norms = 2 * h + h
    assert products == 2 * (4 * MAMBA_1 + 2 * (BLOCK - norms) + linear + V * h)
    # Two heads have products of their own, of half the channels each.
    halves = model("zamba", **sizes, n_mamba_heads=2, layers_block_type=kinds)
    assert halves.parameters == found.parameters
    by_period = model("zamba", **sizes | {"num_hidden_layers": 9}, attn_layer_period=3, attn_layer_offset=1)
    places = [place for place, layer in enumerate(lay for lay in by_period.layers if not lay.shared) if layer.extras]
    assert places == [2, 4, 7]  # the third, and 3 + i with i modulo 3 = 1
    assert set(refused("zamba", **sizes | {"tie_word_embeddings": False})) == {"tie_word_embeddings"}


def test_zamba2_applies_its_blocks_by_turns_with_adapters_of_each_application() -> None:
    kinds = ["mamba", "hybrid", "hybrid", "mamba", "hybrid"]
    rank = 6
    sizes = TIED | {
        "layers_block_type": kinds, "num_mem_blocks": 2, "adapter_rank": rank, "n_mamba_heads": H, "mamba_ngroups": G,
    }  # fmt: skip
    found = model("zamba2", **sizes)
    own = h * h + h * rank + rank * 2 * f
    assert found.parameters == 5 * (WHOLE_2 + h) + 2 * BLOCK + 3 * own + V * h + h
    assert (found.cache_elements_per_token, found.state_elements) == (3 * 2 * A * 2 * D, 5 * H * P * N)
    adapted = model("zamba2", **sizes, use_shared_attention_adapter=True)
    assert adapted.parameters - found.parameters == 3 * 3 * 2 * (2 * h) * rank
    assert model("zamba2", **sizes, hybrid_layer_ids=[1, 2, 4]).parameters == found.parameters
    assert set(refused("zamba2", **sizes, hybrid_layer_ids=[1, 2])) == {"hybrid_layer_ids"}


@pytest.mark.parametrize(
    ("model_type", "changes", "key", "words"),
    [
        ("granitemoehybrid", {"num_hidden_layers": 2, "layer_types": ["mamba", "rwkv"]}, "layer_types", "rwkv"),
        ("nemotron_h", {"layers_block_type": ["mamba", "retention"]}, "layers_block_type", "retention"),
        ("nemotron_h", {"hybrid_override_pattern": "M*X"}, "hybrid_override_pattern", "X"),
        ("nemotron_h", {"hybrid_override_pattern": ""}, "hybrid_override_pattern", "between 1 and"),
        ("nemotron_h", {"hybrid_override_pattern": "M*", "num_hidden_layers": 3}, "num_hidden_layers", "must be 2"),
        ("zamba2", {"layers_block_type": ["mamba", "attention"], **TIED}, "layers_block_type", "attention"),
        ("zamba2", {"layers_block_type": [], **TIED}, "layers_block_type", "at least one"),
        ("bamba", {"layers_block_type": ["mamba"] * 32}, "layers_block_type", "bamba does not know"),
        ("llama", {"hybrid_override_pattern": "M*"}, "hybrid_override_pattern", "which llama does not have"),
        ("mamba", {"mamba_ssm_dtype": "float64"}, "mamba_ssm_dtype", "no dtype that a state is kept in"),
    ],
)
def test_kinds_of_layers_that_are_not_known_are_refused(
    model_type: str, changes: dict[str, Any], key: str, words: str
) -> None:
    assert words in refused(model_type, **changes)[key]


def test_two_lists_of_kinds_must_agree() -> None:
    lists = {"layer_types": ["mamba", "attention"], "layers_block_type": ["mamba", "mamba"]}
    assert set(refused("granitemoehybrid", num_hidden_layers=2, **HYBRID_2, **lists)) == {"layers_block_type"}


def test_the_state_has_the_dtype_that_the_configuration_says() -> None:
    pattern = {"hybrid_override_pattern": "M"}
    assert model("nemotron_h", **NEMOTRON, **pattern).state_dtype == "fp32"
    found = model("nemotron_h", **NEMOTRON, **pattern, mamba_ssm_cache_dtype="bfloat16")
    assert found.state_dtype == "bf16"
    kept = mansard.analyze(found, on="h100-sxm", batch=3, context=10).memory.state_bytes
    assert kept == 3 * (2 * H * P * N + 2 * C * k)


def test_formats_of_single_modules_follow_the_names_of_each_family() -> None:
    """A rule that leaves the mixer of one layer in bf16 is followed to its bytes."""
    kinds = {"hybrid_override_pattern": "MEM*", **NEMOTRON}
    fp8 = {"quant_method": "fp8", "modules_to_not_convert": ["backbone.layers.2.mixer.in_proj", "lm_head"]}
    found = model("nemotron_h", **kinds, quantization_config=fp8)
    names = [dict(layer.storage).get("mixer.in_proj") for layer in found.layers]
    assert [one.name if one else None for one in (names[0], names[2])] == ["fp8", "bf16"]
    assert dict(found.layers[3].storage)["mixer.q_proj"].name == "fp8"
    rules = fp8 | {"modules_to_not_convert": ["model.layers.1.shared_transformer.self_attn.q_proj"]}
    kinds_of_zamba = ["mamba", "hybrid"]
    message = refused("zamba2", **TIED, layers_block_type=kinds_of_zamba, n_mamba_heads=H, quantization_config=rules)
    assert any("is not known" in text for text in message.values())


PACKAGE = {"d_model": h, "n_layer": 3, "vocab_size": 317, "pad_vocab_size_multiple": 8}


def package(**changes: Any) -> mansard.ModelConfig:
    """A configuration as the mamba_ssm package writes it: no model_type, no dtype."""
    return read_config(PACKAGE | changes, "config.json")


def test_the_package_s_own_format_pads_its_vocabulary_and_ties_its_head() -> None:
    first = package(ssm_cfg={"d_state": N, "d_conv": k, "dt_rank": R})
    assert first.embedding is not None
    assert first.embedding.vocab_size == 320
    assert first.parameters == 3 * (WHOLE_1 + h) + V * h + h
    sizes = {"layer": "Mamba2", "d_state": N, "d_conv": k, "headdim": P, "ngroups": G}
    second = package(ssm_cfg=sizes)
    assert second.parameters == 3 * (WHOLE_2 + h) + V * h + h
    assert second.state_elements == 3 * H * P * N
    assert package(ssm_cfg={}).state_elements == 3 * U * 16
    assert package(ssm_cfg={"layer": "Mamba2"}).state_elements == 3 * U * 128


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"ssm_cfg": {"layer": "Mamba3"}}, "ssm_cfg.layer"),
        ({"ssm_cfg": {"d_other": 3}}, "ssm_cfg.d_other"),
        ({"ssm_cfg": {"layer": "Mamba2", "headdim": 48}}, "ssm_cfg.headdim"),
        ({"ssm_cfg": {}, "attn_layer_idx": [1]}, "attn_layer_idx"),
        ({"ssm_cfg": {}, "d_intermediate": 96}, "d_intermediate"),
    ],
)
def test_what_the_package_s_format_does_not_say_here_is_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError) as error:
        package(**changes)
    assert [fault.key for fault in error.value.faults] == [key]
