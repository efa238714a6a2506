"""Layers that draft tokens: beside all counts, their sizes by hand, and in memory where they are asked for."""

from typing import Any

import pytest

import mansard
from mansard.inputs.scenario import Deployment
from mansard.memory import cache_bytes, weight_bytes
from mansard.models import read_config

H100 = "h100-sxm"
# DeepSeek-V3: h hidden, H heads, ranks q and r, head parts n and p, values v, E experts of m beside a shared one.
h, H, q, r, n, p, v, E, m, V = 7168, 128, 1536, 512, 128, 64, 128, 256, 2048, 129_280
LATENTS = h * q + q + q * H * (n + p) + h * (r + p) + r + r * H * (n + v) + H * v * h
JOINING = 2 * h * h + 3 * h  # one matrix for both inputs; a norm on each, and one behind
BLOCK = LATENTS + 2 * h + h * E + (E + 1) * 3 * h * m + JOINING


def small(model_type: str, **changes: Any) -> mansard.ModelConfig:
    words = {
        "model_type": model_type, "hidden_size": 64, "num_hidden_layers": 4, "num_attention_heads": 4, "head_dim": 16,
        "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 100, "tie_word_embeddings": False,
    }  # fmt: skip
    return read_config(words | changes, "config.json")


def test_deepseek_v3_has_one_beside_its_671_billion() -> None:
    model = mansard.load_model("deepseek-v3")
    assert model.parameters == 671_026_404_352
    assert model.prediction_parameters == BLOCK == 11_610_067_968
    # What its checkpoint holds: two copies of the embedding and head too, the hub's 685B.
    assert round((model.parameters + BLOCK + 2 * V * h) / 1e9) == 684
    assert any("11,610,067,968 parameters" in note.text for note in model.notes)


def test_its_weights_and_cache_are_in_memory_where_they_are_asked_for() -> None:
    model = mansard.load_model("deepseek-v3")
    plain, loaded = Deployment(weights="bf16"), Deployment(weights="bf16", mtp=True)
    assert weight_bytes(model, loaded) - weight_bytes(model, plain) == 2 * BLOCK
    assert cache_bytes(model, loaded, 1000) - cache_bytes(model, plain, 1000) == 2 * (r + p) * 1000
    without, having = (mansard.analyze(model, on=H100, mtp=flag) for flag in (False, True))
    assert having.memory.weights_bytes > without.memory.weights_bytes
    assert having.decode == without.decode  # no step runs them


def test_its_matrices_are_stored_as_the_layers_are_and_the_joining_one_is_not() -> None:
    model = mansard.load_model("deepseek-v3")
    storage = dict(model.prediction_layers[0].storage)
    assert storage["expert.down_proj"] == dict(model.layers[-1].storage)["expert.down_proj"]
    assert storage["extras.eh_proj"].name == "bf16"


@pytest.mark.parametrize(("name", "parameters"), [("glm-4.5", 355), ("glm-4.5-air", 107), ("glm-4.7", 355)])
def test_a_grouped_query_layer_is_one_like_the_last(name: str, parameters: int) -> None:
    model = mansard.load_model(name)
    assert abs(model.parameters / 1e9 - parameters) < 3
    last = model.layers[-1]
    assert len(model.prediction_layers) == 1
    block = model.prediction_layers[0]
    assert (block.mixer, block.feed_forward) == (last.mixer, last.feed_forward)


def test_the_checkpoints_of_glm_4_5_hold_this_many_elements() -> None:
    """The hub's total: the model, its layer that drafts, its two copies, and a correction of every router."""
    model = mansard.load_model("glm-4.5")
    copies, corrections = 2 * 151_552 * 5120, (92 - 3 + 1) * 160
    assert model.parameters + model.prediction_parameters + copies + corrections == 358_337_791_296


def test_mimo_drafts_with_a_dense_layer() -> None:
    model = small("mimo", num_nextn_predict_layers=2)
    layer = (model.parameters - 2 * 100 * 64 - 64) // 4
    assert model.prediction_parameters == 2 * (layer + 2 * 64 * 64 + 3 * 64)


def test_all_of_qwen_s_have_one_matrix_between_them() -> None:
    words = {"num_experts": 0, "full_attention_interval": 4, "mtp_num_hidden_layers": 2}
    model = small("qwen3_next", **words)
    layer = 64 * (2 * 4 * 16 + 2 * 2 * 16) + 4 * 16 * 64 + 2 * 16 + 2 * 64 + 3 * 64 * 96  # gated queries
    assert model.prediction_parameters == 2 * layer + 2 * 64 * 64 + 3 * 64


def test_published_files_of_qwen3_next_do_not_name_the_one_that_they_hold() -> None:
    assert len(small("qwen3_next", num_experts=0).prediction_layers) == 1
    assert small("qwen3_next", num_experts=0, num_nextn_predict_layers=0).prediction_layers == ()


def test_step_lists_those_that_draft_behind_its_layers() -> None:
    kinds = ["full_attention", "sliding_attention"] * 3
    words = {"layer_types": kinds, "sliding_window": 16, "num_nextn_predict_layers": 2}
    model = small("step3p5", **words)
    full, windowed = model.prediction_layers
    assert (full.mixer, windowed.mixer) == (model.layers[0].mixer, model.layers[1].mixer)
    assert full.feed_forward == model.layers[0].feed_forward  # dense
    short = small("step3p5", **words | {"layer_types": kinds[:4]})
    assert short.prediction_layers == ()
    assert any("what they hold is not known" in note.text for note in short.notes)


def test_what_is_not_known_is_named_and_left_out() -> None:
    model = small("minimax_m2", num_mtp_modules=3, num_local_experts=4, num_experts_per_tok=2)
    assert model.prediction_parameters == 0
    assert any("3 extra prediction layer(s)" in note.text for note in model.notes)


def test_the_word_says_where_it_changes_nothing() -> None:
    found = mansard.analyze("llama-3.1-8b", on=H100, mtp=True)
    assert any(note.code == "unused-word" and note.text.startswith("mtp") for note in found.notes)
    with pytest.raises(mansard.UsageError, match="mtp"):
        mansard.analyze("llama-3.1-8b", on=H100, mtp="yes")  # type: ignore[arg-type]
