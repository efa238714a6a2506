"""Sparse attention: parameters, index keys in the cache, work and reads derived by hand."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from mansard.inputs.mixers import LatentAttention
from mansard.models import read_config

# h hidden, H heads, q and r ranks of queries and latents, n plain and p rotated part of a head, v value head, V words,
# L layers, E experts of m, k chosen, f dense width; index heads X of d, t tokens chosen.
h, H, q, r, n, p, v, V, L, E, m, k, f, X, d, t = 64, 4, 24, 16, 12, 8, 10, 100, 6, 6, 20, 2, 96, 4, 16, 32
DOCUMENT: dict[str, Any] = {
    "model_type": "deepseek_v32", "hidden_size": h, "num_attention_heads": H, "q_lora_rank": q, "kv_lora_rank": r,
    "qk_nope_head_dim": n, "qk_rope_head_dim": p, "v_head_dim": v, "vocab_size": V, "num_hidden_layers": L,
    "n_routed_experts": E, "moe_intermediate_size": m, "num_experts_per_tok": k, "n_shared_experts": 1,
    "intermediate_size": f, "first_k_dense_replace": 2, "index_n_heads": X, "index_head_dim": d, "index_topk": t,
    "tie_word_embeddings": False, "torch_dtype": "bfloat16",
}  # fmt: skip
LATENTS = h * q + q + q * H * (n + p) + h * (r + p) + r + r * H * (n + v) + H * v * h
INDEXER = q * X * d + h * d + 2 * d + h * X  # queries, keys with a layer norm, weights
DENSE, SPARSE = 3 * h * f, h * E + (E + 1) * 3 * h * m
H100 = "h100-sxm"


def model(**changes: Any) -> mansard.ModelConfig:
    return read_config(DOCUMENT | changes, "config.json")


def total(name: str, what: str, attends: int) -> int:
    """A sum over all operators of a name in decode."""
    found = mansard.analyze(model(), on=H100, context=attends, attention="absorbed").decode
    assert found is not None
    return sum(int(getattr(row, what)) for row in found.operators if row.name == name)


def glm(**changes: Any) -> mansard.ModelConfig:
    return model(model_type="glm_moe_dsa", **changes)


@pytest.mark.parametrize("family", ["deepseek_v32", "glm_moe_dsa"])
def test_every_layer_has_an_indexer_and_its_keys_in_the_cache(family: str) -> None:
    found = model(model_type=family)
    assert found.parameters == 2 * V * h + h + L * (LATENTS + INDEXER + 2 * h) + 2 * DENSE + (L - 2) * SPARSE
    assert found.cache_elements_per_token == L * (r + p + d)


def test_the_published_caches() -> None:
    assert 61 * (512 + 64 + 128) == 42_944
    assert 78 * (512 + 64 + 128) == 54_912
    assert mansard.load_model("deepseek-v3.2").cache_elements_per_token == 42_944
    assert mansard.load_model("glm-5").cache_elements_per_token == 54_912


def test_decode_scores_everything_and_attends_to_what_it_chose() -> None:
    attends = 1000
    assert total("index_scores", "flops", attends) == L * 2 * X * d * attends
    assert total("index_scores", "vector_flops", attends) == L * 3 * X * attends
    assert total("index_scores", "cache_read_bytes", attends) == L * 2 * d * (attends - 1)
    assert total("attention_absorbed", "flops", attends) == L * 2 * H * (2 * r + p) * t
    assert total("attention_absorbed", "cache_read_bytes", attends) == L * 2 * (r + p) * (t - 1)
    assert total("cache_append", "cache_write_bytes", attends) == L * 2 * (r + p + d)


def test_a_short_context_is_seen_whole() -> None:
    assert total("attention_absorbed", "flops", t - 2) == L * 2 * H * (2 * r + p) * (t - 2)


def test_layers_that_use_an_earlier_choice_have_no_indexer() -> None:
    found = glm(indexer_types=["full", "shared", "shared", "full", "shared", "shared"])
    assert glm().parameters - found.parameters == 4 * INDEXER
    assert found.cache_elements_per_token == L * (r + p) + 2 * d
    assert all(isinstance(layer.mixer, LatentAttention) and layer.mixer.top_k == t for layer in found.layers)


@pytest.mark.parametrize(
    ("changes", "choosing"),
    [
        ({"index_topk_pattern": "FSSFFS"}, [0, 3, 4]),
        ({"index_topk_pattern": ["full", "shared", "full", "shared", "shared", "shared"]}, [0, 2]),
        ({"index_topk_freq": 3}, [0, 1, 4]),  # from layer 1 on every third, and all before
        ({"index_topk_freq": 2, "index_skip_topk_offset": 3}, [0, 1, 2, 4]),
        ({"index_topk_freq": 1}, list(range(L))),
    ],
)
def test_the_other_ways_to_say_which_layers_choose(changes: dict[str, Any], choosing: list[int]) -> None:
    layers = glm(**changes).layers
    assert [place for place, layer in enumerate(layers) if layer.mixer.indexer] == choosing  # type: ignore[union-attr]


def test_mlp_layer_types_says_which_layers_are_dense() -> None:
    found = model(mlp_layer_types=["sparse", "dense"] * 3)
    assert model().parameters - found.parameters == SPARSE - DENSE


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"q_lora_rank": None}, "q_lora_rank"),
        ({"index_head_dim": p - 1}, "index_head_dim"),
        ({"index_topk": 0}, "index_topk"),
        ({"layer_types": ["full_attention"] * L}, "layer_types"),
        ({"model_type": "glm_moe_dsa", "indexer_types": ["shared"] * L}, "indexer_types"),
        ({"model_type": "glm_moe_dsa", "index_topk_pattern": "FXSFFS"}, "index_topk_pattern"),
        ({"model_type": "glm_moe_dsa", "index_topk_pattern": "FS"}, "index_topk_pattern"),
        ({"model_type": "glm_moe_dsa", "index_topk_freq": 0}, "index_topk_freq"),
    ],
)
def test_what_cannot_be_counted_is_a_fault_of_its_key(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError) as refused:
        model(**changes)
    assert [fault.key for fault in refused.value.faults] == [key]
