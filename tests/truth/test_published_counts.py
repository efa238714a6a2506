"""Parameters, active parameters and cache elements of every reference configuration: equal, or explained by its row."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from mansard.inputs.model import encoder_parameters
from reference_data import folder, parameters, rows

# Composites whose towers come in their own issue: the language model is counted, with a warning.
TEXT_ALONE = {"gemma4"}
# Kinds that come in their own issue, or formats of weights that do: refused, never approximated.
REFUSED_TYPES = {
    "",
    "minicpmv",
    "phi4mm",
    "step3p7",
}
REFUSED_FILES = {
    "hf_defaults/dots1.json": "n_shared_experts",  # the class has no default that works; nor can it be instantiated
    "hf_defaults/deepseek_v2.json": "num_experts_per_tok",  # null, and counted in the reference as if all were used
    "diffusers/runwayml--stable-diffusion-v1-5--safety_checker.json": "StableDiffusionSafetyChecker",
    "malformed/lfs_pointer.json": "git-LFS",
    "malformed/qwen3moe_topk_gt_experts.json": "num_experts_per_tok",
}
# Files that name no model_type, and are known by what else they say.
UNNAMED_FILES = {"hf/state-spaces--mamba-130m.json"}
# What the table takes for a look-up: not the tokens of a model with two towers, but the product of an image's squares.
OTHER_LOOKUPS = {
    "hf/openai--clip-vit-base-patch16.json": -49408 * 512,
    "hf/google--siglip-so400m-patch14-384.json": 3 * 14 * 14 * 1152,
}
CROSS_TOKENS = {"whisper": 1500, "t5": 24}
TABLE = rows("models/truth.csv")


def is_refused(row: dict[str, str]) -> bool:
    if row["file"] in UNNAMED_FILES:
        return False
    return row["model_type"] in REFUSED_TYPES or row["file"] in REFUSED_FILES


def of(found: list[dict[str, str]]) -> list[Any]:
    return parameters(found, [row["file"] for row in found] if folder() else None)


def load(row: dict[str, str]) -> mansard.ModelConfig:
    place = folder()
    assert place is not None
    return mansard.load_model(str(place / "models" / row["file"]))


def tower_parameters(model: mansard.ModelConfig, modality: str) -> int:
    """Those of a tower as its class has it: the table counts projectors, which stand beside it, in the total alone."""
    return sum(
        encoder_parameters(one) - sum(back.parameters for back in one.back if back.matrix.name.startswith("projector"))
        for one in model.encoders
        if one.modality == modality
    )


@pytest.mark.parametrize("row", of([row for row in TABLE if not is_refused(row)]))
def test_counts_equal_the_published_ones(row: dict[str, str]) -> None:
    model = load(row)
    if row["kv_elems_per_token"]:
        assert model.cache_elements_per_token == int(row["kv_elems_per_token"])
    if row["state_elems_per_seq"]:  # as the class keeps it: with all the inputs that a convolution spans
        assert model.state_elements + model.convolution_state_elements == int(row["state_elems_per_seq"])
    if row["cross_attn_kv_elems"]:  # of the tokens that the table's run gave the encoder
        tokens = CROSS_TOKENS[row["model_type"]]
        assert model.source_elements_per_token * tokens == int(row["cross_attn_kv_elems"])
    if row["model_type"] in TEXT_ALONE:
        assert any(note.code == "text-only" for note in model.notes)
        assert model.parameters == int(row["total_params"]) - int(row["vision_params"])
        return
    if row["total_params"]:
        assert model.parameters == int(row["total_params"])
        if model.layers and not model.start_tokens:  # an encoder-decoder has no tower beside it
            assert tower_parameters(model, "image") == int(row["vision_params"] or 0)
            assert tower_parameters(model, "audio") == int(row["audio_params"] or 0)
        assert model.parameters_active == int(row["active_params"])
        stated = int(row["active_excl_token_embed"]) + OTHER_LOOKUPS.get(row["file"], 0)
        assert model.parameters_active_no_embedding == stated


@pytest.mark.parametrize("row", of([row for row in TABLE if is_refused(row)]))
def test_what_is_not_supported_is_refused(row: dict[str, str]) -> None:
    with pytest.raises(InputError) as refused:
        load(row)
    assert len(refused.value.faults) >= 1
    assert REFUSED_FILES.get(row["file"], "") in str(refused.value)
    assert row["file"].rsplit("/", 1)[-1] in str(refused.value)


def test_the_table_is_read_whole() -> None:
    if folder() is None:
        pytest.skip("reference data not found")
    assert len(TABLE) == 230
    assert sum(not is_refused(row) for row in TABLE) >= 110
