"""Hostile and broken input beside the config itself: streams, names, private folders, the hub cache, wrong types."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner

import mansard
from mansard.cli import root
from mansard.errors import InputError, UsageError
from mansard.models import read_config

LLAMA: dict[str, Any] = {
    "model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
    "intermediate_size": 128, "vocab_size": 1000, "torch_dtype": "bfloat16", "tie_word_embeddings": False,
}  # fmt: skip
H100 = "h100-sxm"
ATTENTION, FEED_FORWARD, OUTER, NORMS = (
    4 * 64 * 64,
    3 * 64 * 128,
    2 * 1000 * 64,
    5 * 64,
)  # elements; a layer, a layer, …


def status(*words: str, **extra: Any) -> int:
    return CliRunner().invoke(root, list(words), **extra).exit_code


def bytes_with(quantization: dict[str, Any]) -> int:
    model = read_config(LLAMA | {"quantization_config": quantization}, "config.json")
    return mansard.analyze(model, on=H100).memory.weights_bytes


@pytest.mark.parametrize("dtype", ["float64", "int4", "fp4", "tf32", "int8", "float8_e4m3fn"])
def test_a_dtype_that_no_whole_model_is_kept_in(dtype: str) -> None:
    with pytest.raises(InputError, match="torch_dtype"):
        read_config(LLAMA | {"torch_dtype": dtype}, "config.json")


@pytest.mark.parametrize(
    ("skipped", "wide", "matrices"),
    [
        (["lm_head"], 0, 0),
        (["model.layers.0.mlp.gate", "mlp.shared_expert_gate"], 0, 0),
        (["self_attn"], ATTENTION, 4),
        (["mlp"], FEED_FORWARD, 3),
        (["q_proj"], 64 * 64, 1),
        (["mlp.gate_proj"], 64 * 128, 1),
        (["re:.*"], ATTENTION + FEED_FORWARD, 7),
        (["frobnicate"], 0, 0),
    ],
)
def test_skipped_modules_are_read_by_their_names(skipped: list[str], wide: int, matrices: int) -> None:
    narrow = ATTENTION + FEED_FORWARD - wide
    found = bytes_with({"quant_method": "fp8", "modules_to_not_convert": skipped})
    scales = 2 * (7 - matrices) * 4  # an fp32 scale for each matrix that is quantised, in two layers
    assert found == 2 * (narrow + 2 * wide) + scales + 2 * (OUTER + NORMS)


@pytest.mark.parametrize(
    ("quantization", "key"),
    [
        ({"quant_method": "gptq", "bits": 4, "dynamic": {"-:(?<=a)b": {}}}, "dynamic"),
        ({"quant_method": "gptq", "bits": 4, "dynamic": {".*o_proj": {"bits": 5}}}, "bits"),
        ({"quant_method": "gptq", "bits": 4, "dynamic": {".*o_proj": 8}}, "dynamic"),
        ({"quant_method": "fp8", "modules_to_not_convert": "lm_head"}, "modules_to_not_convert"),
        ({"quant_method": "fp8", "modules_to_not_convert": ["re:(("]}, "modules_to_not_convert"),
        ({"quant_method": "vptq"}, "quant_method"),
        ({"quant_method": "gptq", "bits": 7}, "bits"),
        ({"quant_method": "awq", "bits": 3}, "bits"),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "load_in_8bit": True}, "load_in_8bit"),
        (
            {"quant_method": "compressed-tensors",
             "config_groups": {"g": {"weights": {"num_bits": 8}, "targets": ["MoEGate"]}}},
            "targets",
        ),
        (
            {"quant_method": "compressed-tensors", "format": "marlin-24",
             "config_groups": {"g": {"weights": {"num_bits": 4}, "targets": ["Linear"]}}},
            "format",
        ),
    ],
)  # fmt: skip
def test_formats_that_are_not_known_are_refused(quantization: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError, match=key):
        bytes_with(quantization)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"is_causal": False}, "is_causal"),
        ({"use_bidirectional_attention": True}, "use_bidirectional_attention"),
        ({"architectures": ["MambaForCausalLM"]}, "architectures"),
        ({"architectures": "LlamaForCausalLM"}, "architectures"),
        ({"model_type": 5}, "model_type"),
        ({"text_config": "x"}, "text_config"),
        ({"num_kv_shared_layers": 1}, "num_kv_shared_layers"),
    ],
)
def test_what_would_be_counted_wrongly_is_refused(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError, match=key):
        read_config(LLAMA | changes, "config.json")


def test_the_first_falcon_40b_keeps_its_key_value_heads() -> None:
    falcon = {
        "model_type": "RefinedWeb",
        "hidden_size": 64,
        "n_head": 8,
        "n_head_kv": 2,
        "n_layer": 2,
        "vocab_size": 100,
    }
    assert {layer.mixer.kv_heads for layer in read_config(falcon, "c").layers} == {2}  # type: ignore[union-attr]


def test_the_first_chatglm_is_another_model() -> None:
    with pytest.raises(InputError, match="inner_hidden_size"):
        read_config({"model_type": "chatglm", "inner_hidden_size": 16384, "position_encoding_2d": True}, "config.json")


def test_names_cannot_steer_a_terminal(tmp_path: Path) -> None:
    place = tmp_path / "c.json"
    place.write_text(json.dumps(LLAMA | {"_name_or_path": "\x1b[31mred\ud800"}))
    for form in ("table", "md", "html", "json"):
        found = CliRunner().invoke(root, ["analyze", str(place), "--on", H100, "--format", form])
        assert found.exit_code == 0
        assert "\x1b" not in found.stdout


@pytest.mark.parametrize("device", ["peak=1e15,bandwidth=1e-320", "peak=1e-300,bandwidth=1e12"])
def test_rates_that_are_too_small(device: str) -> None:
    assert status("analyze", "llama-3.1-8b", "--on", device) == 2
    assert status("request", "--ttft", "0.2", "--itl", "1e-320", "--output", "2") == 2


@pytest.mark.parametrize("path", ["~nouser/x.json", "a" * 5000 + "/x", "a" * 5000 + ".json"])
def test_paths_that_are_none(path: str) -> None:
    assert status("analyze", path, "--on", H100) in (2, 3, 4)


def run(words: list[str], **extra: Any) -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "mansard", *words]
    return subprocess.run(command, capture_output=True, check=False, timeout=20, **extra)


def test_letters_that_a_terminal_lacks() -> None:
    found = run(["--help"], env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert found.returncode == 0
    assert run(["show", H100], env={**os.environ, "COLUMNS": "²"}).returncode == 0


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="there are no pipes with names here")
def test_private_folders_are_looked_at_before_they_are_read(tmp_path: Path) -> None:
    for kind in ("models", "devices"):
        (tmp_path / kind).mkdir()
        os.mkfifo(tmp_path / kind / "pipe.toml")
        (tmp_path / kind / "bad.toml").write_text("aliases = 5\nhub_ids = [1]\nconfig = 3\n")
        with (tmp_path / kind / "large.toml").open("wb") as file:
            file.truncate(64 << 20)
    environment = {**os.environ, "MANSARD_PATH": str(tmp_path)}
    assert run(["analyze", "llama3-8b", "--on", "h100"], env=environment).returncode == 0
    assert run(["list", "devices"], env=environment).returncode == 0
    assert run(["list", "models"], env=environment).returncode == 0


def test_the_hub_cache_is_read_with_its_side_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "models--someone--model"
    snapshot = folder / "snapshots" / "abc"
    snapshot.mkdir(parents=True)
    (folder / "refs").mkdir()
    (folder / "refs" / "main").write_text("abc")
    (snapshot / "config.json").write_text(json.dumps(LLAMA))
    (snapshot / "hf_quant_config.json").write_text(json.dumps({"quantization": {"quant_algo": "FP8"}}))
    monkeypatch.setenv("HF_HUB_CACHE", str(tmp_path))
    found = mansard.load_model("someone/model")
    assert found.quantization is not None
    assert {stored.name for layer in found.layers for _, stored in layer.storage} == {"fp8"}
    (snapshot / "hf_quant_config.json").write_text(json.dumps({"quantization": 5}))
    with pytest.raises(InputError, match="hf_quant_config"):
        mansard.load_model("someone/model")


@pytest.mark.parametrize(
    "words",
    [{"batch": np.array([1, 2])}, {"batch": True}, {"prompt": "8"}, {"weights": 4}, {"kv": True}, {"attention": 1.5},
     {"engine": []}, {"routing": {}}],
)  # fmt: skip
def test_words_of_the_wrong_type_are_refused(words: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=next(iter(words))):
        mansard.analyze("llama-3.1-8b", on=H100, **words)
