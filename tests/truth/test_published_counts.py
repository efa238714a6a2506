"""Parameters, active parameters and cache elements of every reference configuration: equal, or explained by its row."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from reference_data import folder, parameters, rows

# Only the language model is counted, not the tower beside it nor what projects its outputs: linear layers with their
# biases, and norms. Vision and audio parameters are the table's own columns; the projector of each follows from shapes.
_KIMI_PROJECTOR = (
    2 * 1152 + (4 * 1152 + 1) * (4 * 1152) + (4 * 1152 + 1) * 7168
)  # norm, four patches merged, two layers
PROJECTORS = {
    **dict.fromkeys(  # counted with its vision tower
        (
            "hf/Qwen--Qwen3.5-122B-A10B.json",
            "hf/Qwen--Qwen3.5-27B.json",
            "hf/Qwen--Qwen3.5-35B-A3B.json",
            "hf/Qwen--Qwen3.5-397B-A17B.json",
            "hf/nvidia--Qwen3.5-122B-A10B-NVFP4.json",
            "hf/nvidia--Qwen3.5-397B-A17B-NVFP4.json",
        ),
        0,
    ),
    "hf/meta-llama--Llama-4-Scout-17B-16E-Instruct.json": 7680 * 5120,
    "hf/moonshotai--Kimi-K2.5.json": _KIMI_PROJECTOR,
    "hf/nvidia--Kimi-K2.5-NVFP4.json": _KIMI_PROJECTOR,
    "hf/nvidia--Kimi-K2.6-NVFP4.json": _KIMI_PROJECTOR,
    "hf/nvidia--Kimi-K2.7-Code-NVFP4.json": _KIMI_PROJECTOR,
    "hf/google--gemma-3-4b-it.json": 1152 * 2560 + 1152,
    "hf/Qwen--Qwen2-Audio-7B-Instruct.json": (1280 + 1) * 4096,
    "hf/google--gemma-4-26B-A4B.json": 0,  # counted with its vision tower
    "hf/nvidia--Gemma-4-26B-A4B-NVFP4.json": 0,
    "hf/zai-org--GLM-4.5-Air.json": 0,  # counted with its vision tower
    "hf/mistralai--Mistral-Small-3.2-24B-Instruct-2506.json": 1024 + 4 * 1024 * 1024 + 1024 * 5120 + 5120 * 5120,
    "hf/llava-hf--llava-1.5-7b-hf.json": (1024 + 1) * 4096 + (4096 + 1) * 4096,
    "hf/OpenGVLab--InternVL2-2B.json": 0,  # counted with its vision tower
}
# Kinds that come in their own issue, or formats of weights that do: refused, never approximated.
REFUSED_TYPES = {
    "",
    "glm4v",
    "minicpmv",
    "nemotron-nas",
    "phi4mm",
    "qwen2_5_vl",
    "qwen2_vl",
    "qwen3_vl",
    "qwen3_vl_moe",
    "step3p7",
}
REFUSED_FILES = {
    "hf_defaults/paligemma.json": "use_bidirectional_attention",
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
    if row["file"] in PROJECTORS:
        beside = sum(int(row[kind] or 0) for kind in ("vision_params", "audio_params")) + PROJECTORS[row["file"]]
        assert any(note.code == "text-only" for note in model.notes)
        assert model.parameters == int(row["total_params"]) - beside
        return
    if row["total_params"]:
        assert model.parameters == int(row["total_params"])
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
