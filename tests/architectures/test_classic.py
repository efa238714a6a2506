"""The older decoders: names that keys had before, keys that a class ignores, context lengths, CodeGen, rotated parts.

What one layer counts is in `test_dense.py`; here is what decides which numbers are taken.
"""

from importlib import import_module
from typing import Any

import pytest

from mansard.errors import InputError
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

# H hidden, G another hidden size, N query heads, K key/value heads, V vocabulary, L layers, F feed-forward width,
# P positions, E width of a narrower embedding.
H, G, N, K, V, L, F, P, E = 48, 24, 6, 2, 50, 4, 40, 64, 20
D = H // N
BASE: dict[str, Any] = {
    "hidden_size": H, "num_attention_heads": N, "vocab_size": V, "num_hidden_layers": L, "intermediate_size": F,
    "max_position_embeddings": P,
}  # fmt: skip
OLDER: dict[str, Any] = {"n_embd": H, "n_head": N, "n_layer": L, "n_inner": F, "vocab_size": V}
PLAIN, PLAIN_BIAS = 2 * H * F, F + H
NORM = 2 * H  # a weight and a bias


def read(family: str, document: dict[str, Any]) -> ModelConfig:
    keys = Keys(document, "config.json")
    model: ModelConfig = import_module(f"mansard.architectures.{family}").read(keys)
    keys.finish()
    return model


def mixer(model: ModelConfig) -> Attention:
    found = model.layers[0].mixer
    assert isinstance(found, Attention)
    return found


def faulty_keys(family: str, document: dict[str, Any]) -> list[str]:
    with pytest.raises(InputError) as caught:
        read(family, document)
    return [fault.key for fault in caught.value.faults]


# -- learned positions


@pytest.mark.parametrize(("family", "kv_heads"), [("gpt2", N), ("gpt_bigcode", 1)])
@pytest.mark.parametrize("name", ["n_positions", "max_position_embeddings"])
def test_learned_positions_under_both_names(family: str, kv_heads: int, name: str) -> None:
    model = read(family, OLDER | {name: P})
    attention = 2 * H * (H + 1) + 2 * kv_heads * D * (H + 1)
    layer = attention + PLAIN + PLAIN_BIAS + 2 * NORM
    assert model.parameters == L * layer + V * H + P * H + NORM
    assert model.max_position_embeddings == P


def test_gpt_2_builds_no_positions_from_its_context_size() -> None:
    embedding = read("gpt2", OLDER | {"n_ctx": P}).embedding
    assert embedding is not None
    assert embedding.positions == 1024


def test_opt_keeps_two_rows_more_than_positions() -> None:
    for document, positions in (({}, 2048), (BASE, P)):
        model = read("opt", document)
        assert model.embedding is not None
        assert (model.embedding.positions, model.max_position_embeddings) == (positions + 2, positions)


def test_opt_projects_and_norms_after_as_its_350m_does() -> None:
    document = BASE | {"ffn_dim": F, "word_embed_proj_dim": E, "do_layer_norm_before": False}
    layer = 4 * H * (H + 1) + PLAIN + PLAIN_BIAS + 2 * NORM
    ends = V * E + 2 * E * H + (P + 2) * H
    assert read("opt", document).parameters == L * layer + ends
    assert read("opt", document | {"tie_word_embeddings": False}).parameters == L * layer + ends + V * E


# -- one norm and no biases in attention


@pytest.mark.parametrize("name", ["gptj", "codegen"])
def test_gpt_j_and_codegen_have_one_norm_and_a_bias_on_the_head(name: str) -> None:
    model = read("gptj", OLDER | {"model_type": name, "rotary_dim": 4, "n_positions": P})
    layer = 4 * H * H + PLAIN + PLAIN_BIAS + NORM
    assert model.parameters == L * layer + 2 * V * H + V + NORM
    assert model.layers[0].parallel
    assert mixer(model).rotary_dim == 4
    assert model.max_position_embeddings == P


def test_a_tied_head_keeps_its_bias() -> None:
    tied, untied = (read("gptj", OLDER | {"tie_word_embeddings": flag}) for flag in (True, False))
    assert untied.parameters - tied.parameters == V * H
    assert tied.head is not None
    assert tied.head.stored_parameters == V


# -- names that win, keys without effect


def test_an_older_name_of_the_hidden_size_wins() -> None:
    bloom = {"n_head": N, "n_layer": L, "vocab_size": V, "hidden_size": H}
    attention = 4 * G * (G + 1)
    assert read("bloom", bloom | {"n_embed": G}).parameters == (
        L * (attention + 2 * G * 4 * G + 5 * G + 4 * G) + V * G + 4 * G
    )
    assert read("falcon", BASE | {"n_embed": G}).hidden_size == G
    assert read("falcon", BASE | {"n_embed": None}).hidden_size == H
    assert faulty_keys("bloom", bloom | {"n_embed": "wide"})[0] == "n_embed"


@pytest.mark.parametrize("family", ["gpt_neox", "persimmon", "stablelm"])
def test_a_stated_head_size_changes_nothing_where_the_class_has_no_key_for_it(family: str) -> None:
    document = BASE | {"num_key_value_heads": K}
    assert read(family, document | {"head_dim": 2 * D}).layers == read(family, document).layers
    assert mixer(read(family, document)).head_dim == D


def test_stablelm_groups_its_queries() -> None:
    model = read("stablelm", BASE | {"num_key_value_heads": K, "qk_layernorm": True, "use_qkv_bias": True})
    attention = 2 * H * H + 2 * H * K * D + (H + 2 * K * D) + (N + K) * D
    assert model.parameters == L * (attention + 3 * H * F + 2 * NORM) + 2 * V * H + NORM
    assert faulty_keys("stablelm", BASE | {"num_key_value_heads": 4}) == ["num_key_value_heads"]


# -- the rotated part of a head, and the context


@pytest.mark.parametrize(
    ("changes", "rotated"),
    [
        ({}, D // 4),
        ({"rotary_pct": 0.5}, D // 2),
        ({"rope_parameters": {"partial_rotary_factor": 1.0}}, D),
        ({"rotary_pct": 0.5, "rope_parameters": {"partial_rotary_factor": 1.0}}, D),
        ({"rope_parameters": {"rope_theta": 10_000}}, D // 4),
    ],
)
def test_gpt_neox_rotates_the_part_that_its_newest_key_states(changes: dict[str, Any], rotated: int) -> None:
    assert mixer(read("gpt_neox", BASE | changes)).rotary_dim == rotated


def test_a_faulty_rotated_part_is_named_with_its_place() -> None:
    nested = BASE | {"rope_parameters": {"partial_rotary_factor": 2}}
    assert faulty_keys("gpt_neox", nested) == ["rope_parameters.partial_rotary_factor"]
    assert faulty_keys("gpt_neox", BASE | {"rope_parameters": 7}) == ["rope_parameters"]


def test_mpt_states_its_context_under_a_name_of_its_own() -> None:
    document = {"d_model": H, "n_heads": N, "n_layers": L, "vocab_size": V}
    model = read("mpt", document | {"max_seq_len": P})
    assert model.parameters == L * (4 * H * H + 2 * H * 4 * H + 2 * H) + V * H + H
    assert model.max_position_embeddings == P
    assert mixer(model).rotary_dim == 0
