"""Pipelines from folders and catalogues: what is read, what is refused, what is noted; laws of their work."""

import json
from pathlib import Path
from typing import Any

import pytest

from mansard import registry
from mansard.errors import InputError, UsageError
from mansard.imaging import best_s, phases, plan, stage_flops
from mansard.inputs.device_file import load_device
from mansard.inputs.parts import Sample
from mansard.inputs.scenario import Deployment
from mansard.pipelines import load_pipeline, pipeline_names, read_component

FLUX = {
    "_class_name": "FluxTransformer2DModel", "num_layers": 2, "num_single_layers": 3, "num_attention_heads": 4,
    "attention_head_dim": 16, "joint_attention_dim": 32, "pooled_projection_dim": 24, "in_channels": 64,
    "guidance_embeds": True,
}  # fmt: skip
VAE = {
    "_class_name": "AutoencoderKL", "block_out_channels": [32, 64], "latent_channels": 16, "layers_per_block": 1,
    "down_block_types": ["DownEncoderBlock2D"] * 2, "up_block_types": ["UpDecoderBlock2D"] * 2,
}  # fmt: skip
BERT = {"model_type": "bert", "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 4,
        "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 64}  # fmt: skip
INDEX = {
    "_class_name": "FluxPipeline", "_diffusers_version": "0.42.0", "transformer": ["diffusers", FLUX["_class_name"]],
    "vae": ["diffusers", "AutoencoderKL"], "scheduler": ["diffusers", "FlowMatchEulerDiscreteScheduler"],
    "tokenizer": ["transformers", "CLIPTokenizer"], "image_encoder": [None, None],
}  # fmt: skip


def folder(place: Path, index: dict[str, Any], **parts: dict[str, Any]) -> Path:
    (place / "model_index.json").write_text(json.dumps(index), encoding="utf-8")
    for name, document in parts.items():
        (place / name).mkdir()
        (place / name / "config.json").write_text(json.dumps(document), encoding="utf-8")
    return place


def test_a_folder_is_read(tmp_path: Path) -> None:
    pipeline = load_pipeline(folder(tmp_path, INDEX, transformer=FLUX, vae=VAE))
    assert pipeline.class_name == "FluxPipeline"
    assert pipeline.spatial == 2  # two levels
    found = plan(pipeline, height=64, width=32, steps=7)
    assert list(found.stages) == ["denoise", "decode_image"]
    assert found.sample == Sample(height=32, width=16, text=512)
    assert found.stages["denoise"].tokens == 16 * 8
    assert [stage.times for stage in found.stages.values()] == [7, 1]


def test_text_encoders_are_counted_by_the_class_of_the_index(tmp_path: Path) -> None:
    index = {**INDEX, "text_encoder": ["transformers", "BertModel"]}
    pipeline = load_pipeline(folder(tmp_path, index, transformer=FLUX, vae=VAE, text_encoder=BERT))
    found = plan(pipeline, height=64, width=64, batch=3)
    stage = found.stages["encode"]
    n, h, f, layers = 512, 64, 128, 2
    assert stage.items == 3
    assert stage_flops(stage, "attention") == 3 * layers * 4 * n * n * h
    assert stage_flops(stage, "linear") == 3 * (layers * 2 * n * (4 * h * h + 2 * h * f) + 2 * h * h)  # and the pooler


def test_what_is_not_counted_is_noted_by_name(tmp_path: Path) -> None:
    index = {**INDEX, "text_encoder": ["transformers", "Unheard"], "safety_checker": ["x", "Checker"],
             "vae": ["diffusers", "AutoencoderUnheard"], "_class_name": "FluxKontextPipeline"}  # fmt: skip
    pipeline = load_pipeline(
        folder(tmp_path, index, transformer=FLUX, vae={"_class_name": "AutoencoderUnheard"},
               text_encoder={"model_type": "unheard"})
    )  # fmt: skip
    notes = [note.text for note in pipeline.notes if note.level == "warning"]
    for word in ("text_encoder is not counted", "safety_checker is not counted", "vae is not counted", "Kontext"):
        assert any(word in text for text in notes), word
    assert [*plan(pipeline).stages] == ["denoise"]


def test_one_component_is_a_pipeline(tmp_path: Path) -> None:
    place = tmp_path / "config.json"
    place.write_text(json.dumps(FLUX), encoding="utf-8")
    assert [*plan(load_pipeline(place)).stages] == ["denoise"]
    place.write_text(json.dumps(VAE), encoding="utf-8")
    assert [*plan(load_pipeline(place), height=64, width=64).stages] == ["decode_image"]


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ({"_class_name": "Unheard"}, "_class_name"),
        ({**FLUX, "patch_size": 2}, "patch_size"),
        ({**FLUX, "num_layers": -1}, "num_layers"),
        ({**FLUX, "quantization_config": {"quant_method": "bitsandbytes"}}, "quantization_config"),
        ({**VAE, "down_block_types": ["Other"] * 2}, "down_block_types"),
    ],
)
def test_faults_name_their_key(document: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError) as caught:
        read_component(document, "config.json")
    assert key in [fault.key for fault in caught.value.faults]


def test_components_that_do_not_belong_together_are_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="latent channels"):
        load_pipeline(folder(tmp_path, INDEX, transformer=FLUX, vae={**VAE, "latent_channels": 4}))


def test_all_sizes_are_checked_at_once() -> None:
    with pytest.raises(UsageError) as caught:
        plan(load_pipeline("sdxl"), height=0, width=1 << 20, frames=5, steps=0, batch=True, guidance=-1)
    assert {fault.key for fault in caught.value.faults} == {"height", "width", "frames", "steps", "batch", "guidance"}


def test_a_name_that_is_not_known_has_near_matches() -> None:
    with pytest.raises(UsageError, match=r"flux\.1-dev"):
        load_pipeline("flux.1-deev")


@pytest.mark.parametrize("scheduler", ["HeunDiscreteScheduler", "EulerDiscreteScheduler"])
def test_solvers_of_second_order_evaluate_twice_in_every_step_but_the_last(tmp_path: Path, scheduler: str) -> None:
    index = {**INDEX, "scheduler": ["diffusers", scheduler]}
    found = plan(load_pipeline(folder(tmp_path, index, transformer=FLUX, vae=VAE)), steps=10)
    assert found.stages["denoise"].times == (19 if scheduler.startswith("Heun") else 10)


def test_guidance_of_one_is_one_pass() -> None:
    pipeline = load_pipeline("sdxl")
    assert [plan(pipeline, guidance=scale).stages["denoise"].items for scale in (0, 1, 1.5)] == [1, 1, 2]


def test_sizes_are_rounded_down_and_said() -> None:
    found = plan(load_pipeline("wan-2.1-t2v-1.3b"), height=490, width=832, frames=83)
    assert found.sample == Sample(height=60, width=104, frames=21, text=512)
    assert [note.code for note in found.notes].count("rounded-size") == 2


def test_memory_is_all_weights_and_the_widest_point() -> None:
    found = plan(load_pipeline("wan-2.2-t2v-a14b"))
    both = found.weight_bytes["transformer"] + found.weight_bytes["transformer_2"]
    assert both == 2 * 2 * 14_288_491_584
    assert found.memory_bytes == sum(found.weight_bytes.values()) + found.activation_bytes
    small = plan(load_pipeline("wan-2.2-t2v-a14b"), deployment=Deployment(weights="fp8"))
    assert both / 2 < small.weight_bytes["transformer"] + small.weight_bytes["transformer_2"] < 0.51 * both


@pytest.mark.parametrize("name", pipeline_names())
def test_laws_of_every_pipeline_of_the_catalogue(name: str) -> None:
    pipeline, device = load_pipeline(name), load_device("h100-sxm")
    one, two = (plan(pipeline, batch=batch) for batch in (1, 2))
    assert two.flops == 2 * one.flops
    assert two.weight_bytes == one.weight_bytes
    mine, theirs = phases(one, device), phases(two, device)
    assert best_s(one, mine) <= best_s(two, theirs) <= 2 * best_s(one, mine)
    for stage, found in mine.items():
        assert found.flops == pytest.approx(sum(row.flops for row in found.operators))
        assert found.flops == stage_flops(one.stages[stage])
        assert found.best_s <= found.operator_bound_s
    larger = plan(pipeline, height=2 * one.height, width=one.width)
    assert larger.flops > one.flops


def test_every_class_belongs_to_one_family() -> None:
    classes = [name for family in registry.modules("mansard.components") for name in family.CLASSES]
    assert len(classes) == len(set(classes)) >= 16
