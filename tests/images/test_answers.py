"""Pipelines are asked like models: phases that encode, denoise and decode, the whole time, memory, every view."""

import json
from pathlib import Path
from typing import Any

import pytest

import mansard
from mansard import memory
from mansard.errors import InputError, UsageError
from mansard.imaging import plan
from mansard.inputs.scenario import Deployment

# A small FLUX.1 transformer, as its publisher writes one; its pipeline packs 2 × 2 latents of 16 channels.
CONFIG: dict[str, Any] = {
    "_class_name": "FluxTransformer2DModel", "patch_size": 1, "in_channels": 64, "num_layers": 2,
    "num_single_layers": 3, "attention_head_dim": 16, "num_attention_heads": 4, "joint_attention_dim": 96,
    "pooled_projection_dim": 32, "guidance_embeds": True, "axes_dims_rope": [2, 7, 7],
}  # fmt: skip


def analysis(**words: Any) -> mansard.Analysis:
    return mansard.analyze(words.pop("model", "sdxl"), on="h100-sxm", **words)


def test_the_whole_is_the_sum_of_all_passes() -> None:
    found = analysis(steps=30, guidance=7.5)
    assert [*found.phases] == ["encode", "denoise", "decode_image"]
    assert [phase.repeats for phase in found.phases.values()] == [1, 30, 1]
    encode, denoise, decode = (phase.best_s for phase in found.phases.values())
    assert found.request.e2e_s.best == pytest.approx(encode + 30 * denoise + decode, rel=1e-12)
    assert found.request.requests_per_s_per_device.best == pytest.approx(1 / (encode + 30 * denoise + decode))
    assert found.main.name == "denoise"
    assert found.prefill is found.decode is found.request.ttft_s.best is None


def test_guidance_doubles_the_items_of_a_step_and_no_guidance_does_not() -> None:
    guided, alone = analysis(guidance=7.5), analysis(guidance=1.0)
    one, two = alone.phases["denoise"], guided.phases["denoise"]
    assert two.flops == 2 * one.flops
    assert two.bytes.weights == one.bytes.weights
    assert guided.phases["decode_image"].flops == alone.phases["decode_image"].flops


def test_a_batch_shares_the_weights() -> None:
    one, four = analysis(), analysis(batch=4)
    for name, phase in one.phases.items():
        assert four.phases[name].flops == 4 * phase.flops
        if name != "encode":  # which looks up a row for each token
            assert four.phases[name].bytes.weights == phase.bytes.weights
    assert "4 images" in str(four)


def test_memory_is_all_components_and_the_widest_phase() -> None:
    found = analysis(batch=2)
    assert found.model.pipeline is not None
    sizes = memory.component_bytes(found.model.pipeline, Deployment())
    assert [*sizes] == ["text_encoder", "text_encoder_2", "unet", "vae"]
    widest = plan(found.model.pipeline, batch=2).activation_bytes
    assert found.memory.weights_bytes == sum(sizes.values())
    assert found.memory.activations_bytes == widest
    assert found.memory.total_bytes == sum(sizes.values()) + widest
    assert found.memory.cache_bytes == 0
    assert found.memory.max_batch is not None
    room = found.memory.device_bytes
    assert room is not None
    assert sum(sizes.values()) + found.memory.max_batch * widest // 2 <= room
    assert sum(sizes.values()) + (found.memory.max_batch + 1) * widest // 2 > room


def test_shorter_weights_are_those_of_the_denoiser() -> None:
    plain, short = analysis(), analysis(weights="fp8")
    unet = {row.name: row for row in short.phases["denoise"].operators}
    assert {row.dtype for row in short.phases["denoise"].operators if row.kind == "linear"} >= {"fp8"}
    assert unet
    assert short.phases["decode_image"].bytes.weights == plain.phases["decode_image"].bytes.weights


def test_sizes_that_were_taken_are_noted_and_those_given_are_not() -> None:
    texts = [note.text for note in analysis().notes if note.code == "default-workload"]
    assert [text.split()[0] for text in texts] == ["batch", "resolution", "steps", "guidance"]
    given = analysis(batch=1, resolution="512x768", steps=20, guidance=5.0)
    assert [note for note in given.notes if note.code == "default-workload"] == []
    work = given.to_dict()["workload"]
    assert (work["width"], work["height"], work["steps"], work["guidance"]) == (512, 768, 20, 5.0)


@pytest.mark.parametrize(
    ("words", "key"),
    [({"images": 2}, "images"), ({"seconds": 3.0}, "seconds"), ({"context": 9}, "context"), ({"frames": 9}, "frames"),
     ({"resolution": "7x7"}, "height"), ({"steps": 0}, "steps"), ({"guidance": -1}, "guidance")],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(words: dict[str, Any], key: str) -> None:
    with pytest.raises(UsageError, match=key):
        analysis(**words)


@pytest.mark.parametrize("words", [{"steps": 5}, {"guidance": 2.0}])
def test_a_model_of_tokens_takes_no_steps(words: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="makes no images"):
        analysis(model="llama-3.1-8b", **words)


def test_a_component_is_a_model_by_its_path_or_pasted(tmp_path: Path) -> None:
    place = tmp_path / "transformer" / "config.json"
    place.parent.mkdir()
    place.write_text(json.dumps(CONFIG))
    by_file, by_folder = mansard.load_model(place), mansard.load_model(place.parent)
    assert by_file.parameters == by_folder.parameters > 0
    found = analysis(model=str(place))
    assert [*found.phases] == ["denoise"]
    assert "not-counted" in {note.code for note in found.notes}


def test_a_component_lacks_what_its_index_names(tmp_path: Path) -> None:
    from mansard.loading import read_config

    index = {"_class_name": "FluxPipeline", "transformer": ["diffusers", "FluxTransformer2DModel"]}
    with pytest.raises(InputError, match="give the folder"):
        read_config(index, "pasted")
    (tmp_path / "model_index.json").write_text(json.dumps(index))
    with pytest.raises(InputError, match="transformer"):
        mansard.load_model(tmp_path)


def test_names_of_pipelines_are_names_of_models() -> None:
    assert {"sdxl", "llama-3.1-8b"} <= {*mansard.model_names()}
    with pytest.raises(UsageError, match="sdxl"):
        mansard.load_model("sdlx")


@pytest.mark.parametrize("kind", ["roofline", "clocks", "operators", "memory", "request"])
def test_charts_show_the_phases(kind: str) -> None:
    assert "decode_image" in str(analysis().chart(kind).spec) or kind == "memory"


def test_linear_attention_and_convolution_are_shown_apart() -> None:
    text = str(analysis())
    phase = analysis().phases["denoise"]
    for kind in ("linear", "attention", "convolution"):
        assert f"    {kind} " in text
    shown = {kind: sum(row.flops for row in phase.operators if row.kind == kind) for kind in
             ("linear", "attention", "convolution")}  # fmt: skip
    assert sum(shown.values()) == phase.flops
    assert all(shown.values())


@pytest.mark.parametrize("verb", ["analysis", "model", "explanation", "saturation"])
def test_documents_obey_their_schemas(verb: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    made: dict[str, Any] = {
        "analysis": lambda: analysis().to_dict(),
        "model": lambda: mansard.show("wan-2.2-t2v-a14b").to_dict(),
        "explanation": lambda: mansard.explain("sdxl", on="h100-sxm").to_dict(),
        "saturation": lambda: mansard.saturate("sdxl", on="h100-sxm").to_dict(),
    }
    document = json.loads(json.dumps(made[verb](), allow_nan=False))
    jsonschema.Draft202012Validator(mansard.schema(verb).to_dict()).validate(document)


def test_explained_advised_and_shown() -> None:
    text = str(mansard.explain("sdxl", on="h100-sxm"))
    assert "Denoise: clocks" in text
    assert "end to end = encode + denoise + decode_image" in text
    changes = {(one.change, one.phase): one for one in analysis().advice}
    assert changes["no guidance, or a model distilled for one pass", "denoise"].speedup_best == pytest.approx(
        2, abs=0.2
    )
    assert changes["half the height and the width", "denoise"].speedup_best > 3
    shown = mansard.show("sdxl").to_dict()
    assert [one["name"] for one in shown["components"]] == ["text_encoder", "text_encoder_2", "unet", "vae"]
    assert sum(one["parameters"] for one in shown["components"]) == shown["parameters"]
    assert mansard.saturate("sdxl", on="h100-sxm").batch == 1
