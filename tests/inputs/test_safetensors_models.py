"""Models from safetensors beside a config.json: bytes of every part as the headers have them."""

import json
from math import prod
from pathlib import Path
from typing import Any

import pytest

import mansard
from gguf_models import BASE, D, H, K, L, Shape, V, f, h
from mansard import memory
from mansard.errors import InputError
from mansard.inputs.model import ModelConfig
from mansard.inputs.scenario import Deployment
from mansard.models import read_config

WIDTHS = {"BF16": 2, "F32": 4, "F8_E4M3": 1, "I32": 4, "U8": 1, "F16": 2}
Tensors = dict[str, tuple[Shape, str]]


def loaded(path: Path) -> ModelConfig:
    return mansard.load_model(str(path))


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error:
        loaded(path)
    return str(error.value)


def layer(index: int) -> dict[str, Shape]:
    at, mlp = f"model.layers.{index}.self_attn.", f"model.layers.{index}.mlp."
    return {
        f"{at}q_proj.weight": (H * D, h), f"{at}k_proj.weight": (K * D, h), f"{at}v_proj.weight": (K * D, h),
        f"{at}o_proj.weight": (h, H * D), f"{mlp}gate_proj.weight": (f, h), f"{mlp}up_proj.weight": (f, h),
        f"{mlp}down_proj.weight": (h, f), f"model.layers.{index}.input_layernorm.weight": (h,),
        f"model.layers.{index}.post_attention_layernorm.weight": (h,),
    }  # fmt: skip


LLAMA = {**BASE, "model_type": "llama", "torch_dtype": "bfloat16"}
SHAPES = {
    "model.embed_tokens.weight": (V, h), "model.norm.weight": (h,), "lm_head.weight": (V, h),
    **{name: shape for index in range(L) for name, shape in layer(index).items()},
}  # fmt: skip
PLAIN: Tensors = {name: (shape, "BF16") for name, shape in SHAPES.items()}


def safetensors(path: Path, tensors: Tensors) -> int:
    """Writes a file of zeros; its bytes of data."""
    entries, end = {}, 0
    for name, (shape, dtype) in tensors.items():
        begin, end = end, end + prod(shape) * WIDTHS[dtype]
        entries[name] = {"dtype": dtype, "shape": list(shape), "data_offsets": [begin, end]}
    content = json.dumps(entries).encode()
    with path.open("wb") as file:
        file.write(len(content).to_bytes(8, "little") + content)
        file.truncate(8 + len(content) + end)
    return end


def folder(place: Path, tensors: Tensors, **config: Any) -> int:
    (place / "config.json").write_text(json.dumps({**LLAMA, **config}))
    return safetensors(place / "model.safetensors", tensors)


def notes_of(model: ModelConfig) -> dict[str, str]:
    return {note.code: note.text for note in mansard.analyze(model, on="h100-sxm").notes}


def assert_agrees(model: ModelConfig, total: int) -> None:
    """The files, the configuration's formats and the count of parameters say the same."""
    assert model.stored is not None
    assert model.stored.weights == model.parameters
    assert memory.weight_bytes(model, Deployment()) == total
    assert {"stored-bytes", "stored-parameters"}.isdisjoint(notes_of(model))


def test_a_header_that_agrees_changes_nothing(tmp_path: Path) -> None:
    total = folder(tmp_path, PLAIN)
    model, stated = loaded(tmp_path), read_config(LLAMA, "config.json")
    assert_agrees(model, total)
    assert memory.weight_bytes(stated, Deployment()) == total
    mine, its = (mansard.analyze(one, on="h100-sxm").decode for one in (model, stated))
    assert mine is not None
    assert its is not None
    assert (mine.best_s, mine.bytes, mine.flops) == (its.best_s, its.bytes, its.flops)
    assert loaded(tmp_path / "model.safetensors").stored == model.stored
    assert loaded(tmp_path / "config.json").stored is None


def test_bytes_of_the_files_win_over_those_of_the_config_and_both_are_told(tmp_path: Path) -> None:
    total = folder(tmp_path, {name: (shape, "F32") for name, shape in SHAPES.items()})
    model = loaded(tmp_path)
    assert memory.weight_bytes(model, Deployment()) == total
    text = notes_of(model)["stored-bytes"]
    assert f"{total:,}" in text
    assert f"{total // 2:,}" in text


def test_scales_of_fp8_blocks_are_bytes_of_their_part(tmp_path: Path) -> None:
    tensors: Tensors = {}
    for name, shape in SHAPES.items():
        tensors[name] = (shape, "F8_E4M3" if "_proj" in name else "BF16")
        if "_proj" in name:
            tensors[f"{name}_scale_inv"] = ((-(-shape[0] // 128), -(-shape[1] // 128)), "F32")
    quantization = {"quant_method": "fp8", "weight_block_size": [128, 128]}
    model_bytes = folder(tmp_path, tensors, quantization_config=quantization)
    model = loaded(tmp_path)
    assert_agrees(model, model_bytes)
    decode = mansard.analyze(model, on="h100-sxm").decode
    assert decode is not None
    assert {row.dtype for row in decode.operators if row.name == "qkv_proj"} == {"fp8"}


def test_packed_integers_hold_several_weights_each(tmp_path: Path) -> None:
    tensors: Tensors = {}
    for name, (columns, *rows) in SHAPES.items():
        if "_proj" not in name:
            tensors[name] = PLAIN[name]
            continue
        stem, inputs = name.removesuffix("weight"), rows[0]  # AWQ stores [inputs, outputs / 8] in 32 bits
        tensors[f"{stem}qweight"] = ((inputs, columns // 8), "I32")
        tensors[f"{stem}qzeros"] = ((inputs // 128, columns // 8), "I32")
        tensors[f"{stem}scales"] = ((inputs // 128, columns), "F16")
    quantization = {"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}
    total = folder(tmp_path, tensors, quantization_config=quantization)
    assert_agrees(loaded(tmp_path), total)


def test_packed_integers_of_several_widths_are_told_apart_by_the_rules_of_the_configuration(tmp_path: Path) -> None:
    tensors: Tensors = {}
    for name, (columns, *rows) in SHAPES.items():
        if "_proj" not in name:
            tensors[name] = PLAIN[name]
            continue
        stem, inputs = name.removesuffix("weight"), rows[0]  # GPTQ stores [inputs · bits / 32, outputs] in 32 bits
        bits = 8 if "down_proj" in name or "layers.0." in name else 4
        tensors[f"{stem}qweight"] = ((inputs * bits // 32, columns), "I32")
        tensors[f"{stem}scales"] = ((inputs // 128, columns), "F16")
    wide = {"+:.*\\.down_proj": {"bits": 8}, "+:model\\.layers\\.0\\..*": {"bits": 8}}
    quantization = {"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True, "dynamic": wide}
    total = folder(tmp_path, tensors, quantization_config=quantization)
    assert_agrees(loaded(tmp_path), total)


def test_what_is_no_part_of_the_model_is_left_out_by_name(tmp_path: Path) -> None:
    more: Tensors = {
        f"model.layers.{L}.self_attn.q_proj.weight": ((h, h), "BF16"),
        "vision_tower.blocks.0.mlp.fc1.weight": ((h, h), "BF16"),
        "model.layers.0.self_attn.rotary_emb.inv_freq": ((D // 2,), "F32"),
    }
    total = folder(tmp_path, {**PLAIN, **more})
    model = loaded(tmp_path)
    assert_agrees(model, total - 2 * (2 * h * h) - 4 * (D // 2))
    texts = " ".join(note.text for note in model.notes if note.code == "not-counted")
    assert "extra prediction layers" in texts
    assert "vision and audio towers" in texts
    assert "buffers" in texts


def test_an_index_is_followed_and_one_without_its_files_is_noted(tmp_path: Path) -> None:
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    names = list(PLAIN)
    halves = (names[: len(names) // 2], names[len(names) // 2 :])
    total = sum(
        safetensors(tmp_path / f"model-{number}.safetensors", {name: PLAIN[name] for name in half})
        for number, half in enumerate(halves)
    )
    weight_map = {name: f"model-{number}.safetensors" for number, half in enumerate(halves) for name in half}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"metadata": {"total_size": total + 1}, "weight_map": weight_map}))
    model = loaded(tmp_path)
    assert_agrees(model, total)
    assert f"{total + 1:,} bytes, and its files hold {total:,}" in notes_of(model)["index-total"]
    assert loaded(index).stored == model.stored
    (tmp_path / "model-1.safetensors").unlink()
    model = loaded(tmp_path)
    assert model.stored is None
    assert "1 of the 2 files" in notes_of(model)["weights-missing"]


def test_weights_alone_do_not_tell_the_model(tmp_path: Path) -> None:
    safetensors(tmp_path / "model.safetensors", PLAIN)
    assert "has no config.json beside it" in refused(tmp_path / "model.safetensors")
    (tmp_path / "config.json").write_text(json.dumps(LLAMA))
    for tensors in ({"foreign": ((3,), "BF16")}, {"model.layers.0.self_attn.q_proj.weight": ((0, 8), "BF16")}):
        safetensors(tmp_path / "model.safetensors", tensors)
        assert "holds no layer of a language model" in refused(tmp_path)
