"""Families with latent attention: counts derived by hand, published totals, the cache of a token, null ranks."""

from importlib import import_module
from typing import Any

import pytest

from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import MixtureOfExperts
from mansard.inputs.mixers import LatentAttention
from mansard.inputs.model import ModelConfig

# H hidden, N heads, Q rank of queries, R rank of keys and values, P plain and G rotary query part, U value head,
# V vocabulary, L layers, E experts, T chosen, F dense width, M expert width, S shared experts.
H, N, Q, R, P, G, U, V, L, E, T, F, M, S = 24, 6, 10, 7, 8, 4, 5, 50, 4, 5, 3, 40, 12, 2
QUERY = H * Q + Q + Q * N * (P + G)  # down, norm, up
KEY_VALUE = H * (R + G) + R + R * N * (P + U)  # down with the rotary key, norm, up
OUTPUT = N * U * H
MIXER = QUERY + KEY_VALUE + OUTPUT
NORMS = 2 * H
OUTER = 2 * V * H + H
SPARSE = H * E + E * 3 * H * M + 3 * H * S * M
DENSE = 3 * H * F
DOCUMENT: dict[str, Any] = {
    "hidden_size": H, "num_attention_heads": N, "q_lora_rank": Q, "kv_lora_rank": R, "qk_nope_head_dim": P,
    "qk_rope_head_dim": G, "v_head_dim": U, "vocab_size": V, "num_hidden_layers": L, "n_routed_experts": E,
    "num_experts_per_tok": T, "intermediate_size": F, "moe_intermediate_size": M, "n_shared_experts": S,
    "first_k_dense_replace": 1, "tie_word_embeddings": False,
}  # fmt: skip
WITH_EXPERTS = ("deepseek_v2", "deepseek_v3", "glm4_moe_lite")


def read(family: str, **changes: Any) -> ModelConfig:
    return read_document(family, DOCUMENT | changes)


def read_document(family: str, document: dict[str, Any]) -> ModelConfig:
    keys = Keys(document, "config.json")
    model: ModelConfig = import_module(f"mansard.architectures.{family}").read(keys)
    keys.finish()
    return model


def test_deepseek_v3_has_its_published_parameters_and_cache() -> None:
    model = read_document("deepseek_v3", {})
    assert (model.parameters, model.parameters_active) == (671_026_404_352, 37_552_282_624)
    assert model.cache_elements_per_token == 61 * (512 + 64) == 35_136


@pytest.mark.parametrize("family", WITH_EXPERTS)
def test_dense_first_then_experts_on_latent_attention(family: str) -> None:
    model = read(family)
    assert model.parameters == OUTER + L * (MIXER + NORMS) + DENSE + (L - 1) * SPARSE
    assert model.parameters - model.parameters_active == (L - 1) * (E - T) * 3 * H * M


@pytest.mark.parametrize("family", [*WITH_EXPERTS, "minicpm3"])
def test_the_cache_keeps_one_latent_whatever_the_heads(family: str) -> None:
    assert read(family).cache_elements_per_token == L * (R + G)
    assert read(family, num_attention_heads=2 * N).cache_elements_per_token == L * (R + G)


@pytest.mark.parametrize("family", [*WITH_EXPERTS, "minicpm3"])
def test_a_null_rank_projects_queries_directly(family: str) -> None:
    direct = H * N * (P + G)
    assert read(family).parameters - read(family, q_lora_rank=None).parameters == L * (QUERY - direct)


@pytest.mark.parametrize(
    ("family", "rank"),
    [
        ("deepseek_v2", 1536),
        ("deepseek_v3", 1536),
        ("glm4_moe_lite", 768),
        ("minicpm3", 768),
    ],
)
def test_an_absent_rank_takes_the_default_of_the_class(family: str, rank: int) -> None:
    document = {name: value for name, value in DOCUMENT.items() if name != "q_lora_rank"}
    mixer = read_document(family, document).layers[0].mixer
    assert isinstance(mixer, LatentAttention)
    assert mixer.q_lora_rank == rank


@pytest.mark.parametrize("family", [*WITH_EXPERTS, "minicpm3"])
def test_biases_are_on_the_down_projections_and_the_output(family: str) -> None:
    bias = Q + (R + G) + H
    assert read(family, attention_bias=True).parameters - read(family).parameters == L * bias


def test_the_bias_of_deepseek_v2_is_on_dense_and_shared_parts_alone() -> None:
    dense, shared = 2 * F + H, 2 * S * M + H
    difference = read("deepseek_v2", mlp_bias=True).parameters - read("deepseek_v2").parameters
    assert difference == dense + (L - 1) * shared


@pytest.mark.parametrize(("family", "buffer"), [("deepseek_v2", 0), ("deepseek_v3", E), ("glm4_moe_lite", E)])
def test_the_correction_is_a_buffer(family: str, buffer: int) -> None:
    part = read(family).layers[-1].feed_forward
    assert isinstance(part, MixtureOfExperts)
    assert part.correction_buffer == buffer


def test_glm_lite_lists_its_dense_layers() -> None:
    model = read("glm4_moe_lite", mlp_layer_types=["sparse", "dense", "dense", "sparse"])
    assert model.parameters == OUTER + L * (MIXER + NORMS) + 2 * DENSE + 2 * SPARSE


def test_minicpm3_is_dense_tied_and_derives_its_value_heads() -> None:
    document = {name: value for name, value in DOCUMENT.items() if name not in ("v_head_dim", "tie_word_embeddings")}
    value_dim = H // N
    mixer = QUERY + H * (R + G) + R + R * N * (P + value_dim) + N * value_dim * H
    model = read_document("minicpm3", document)
    assert model.parameters == V * H + H + L * (mixer + NORMS + DENSE)
