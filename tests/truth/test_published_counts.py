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
    "hf/meta-llama--Llama-4-Scout-17B-16E-Instruct.json": 7680 * 5120,
    "hf/moonshotai--Kimi-K2.5.json": _KIMI_PROJECTOR,
    "hf/nvidia--Kimi-K2.5-NVFP4.json": _KIMI_PROJECTOR,
    "hf/nvidia--Kimi-K2.6-NVFP4.json": _KIMI_PROJECTOR,
    "hf/nvidia--Kimi-K2.7-Code-NVFP4.json": _KIMI_PROJECTOR,
    "hf/google--gemma-3-4b-it.json": 1152 * 2560 + 1152,
    "hf/Qwen--Qwen2-Audio-7B-Instruct.json": (1280 + 1) * 4096,
    "hf/zai-org--GLM-4.5-Air.json": 0,  # counted with its vision tower
    "hf/mistralai--Mistral-Small-3.2-24B-Instruct-2506.json": 1024 + 4 * 1024 * 1024 + 1024 * 5120 + 5120 * 5120,
    "hf/llava-hf--llava-1.5-7b-hf.json": (1024 + 1) * 4096 + (4096 + 1) * 4096,
    "hf/OpenGVLab--InternVL2-2B.json": 0,  # counted with its vision tower
}
# Kinds that come in their own issue, or formats of weights that do: refused, never approximated.
REFUSED_TYPES = {
    "",
    "bert",
    "clip",
    "clip_text_model",
    "deepseek_v32",
    "gemma4",
    "glm4v",
    "glm_moe_dsa",
    "minicpmv",
    "modernbert",
    "nemotron-nas",
    "phi4mm",
    "qwen2_5_vl",
    "qwen2_vl",
    "qwen3_5",
    "qwen3_5_moe",
    "qwen3_next",
    "qwen3_vl",
    "qwen3_vl_moe",
    "siglip2",
    "siglip_vision_model",
    "step3p7",
    "t5",
    "umt5",
    "vit",
    "whisper",
    "xlm-roberta",
}
REFUSED_FILES = {
    "hf_defaults/paligemma.json": "use_bidirectional_attention",
    "hf_defaults/dots1.json": "n_shared_experts",  # the class has no default that works; nor can it be instantiated
    "hf_defaults/deepseek_v2.json": "num_experts_per_tok",  # null, and counted in the reference as if all were used
    "malformed/lfs_pointer.json": "git-LFS",
    "malformed/qwen3moe_topk_gt_experts.json": "num_experts_per_tok",
}
# Files that name no model_type, and are known by what else they say.
UNNAMED_FILES = {"hf/state-spaces--mamba-130m.json"}
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
    if row["file"] in PROJECTORS:
        beside = sum(int(row[kind] or 0) for kind in ("vision_params", "audio_params")) + PROJECTORS[row["file"]]
        assert any(note.code == "text-only" for note in model.notes)
        assert model.parameters == int(row["total_params"]) - beside
        return
    if row["total_params"]:
        assert model.parameters == int(row["total_params"])
        assert model.parameters_active == int(row["active_params"])
        assert model.parameters_active_no_embedding == int(row["active_excl_token_embed"])


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
