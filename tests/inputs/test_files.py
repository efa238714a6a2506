"""Bad input: one clear message with file, key, value and hint, in bounded time, and never another exception."""

import io
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

import pytest

import mansard
from mansard.errors import InputError, UnavailableError, UsageError

LLAMA = {
    "model_type": "llama",
    "architectures": ["LlamaForCausalLM"],
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "vocab_size": 1000,
    "torch_dtype": "bfloat16",
}
MIXTRAL = {**LLAMA, "model_type": "mixtral", "num_local_experts": 8, "num_experts_per_tok": 2}


def refused(path: Path | str) -> str:
    with pytest.raises(InputError) as error:
        mansard.load_model(str(path))
    assert error.value.exit_code == 3
    return str(error.value)


def written(folder: Path, content: str | bytes) -> Path:
    path = folder / "config.json"
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def config(folder: Path, **changes: Any) -> Path:
    return written(folder, json.dumps({**LLAMA, **changes}))


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("", ("is empty", "hint")),
        ("  \n", ("is empty",)),
        ("version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 687\n", ("git-LFS pointer", "git lfs pull")),
        ("<!DOCTYPE html><html></html>", ("HTML page",)),
        ('{"hidden_size": 1,\n}', ("line 2", "comma before a closing bracket")),
        ('{"do_sample": true.\n}', ("line 1", "'.'")),
        ("[1, 2]", ("JSON object", "list")),
        ("3", ("JSON object", "int")),
        ('{"a": ', ("line 1",)),
        (b"\xff\xfe{\x00}\x00", ("UTF-8",)),
        ('{"a":' * 100_000, ("nested too deeply",)),
        ('{"hidden_size": ' + "9" * 5000 + "}", ("too many digits",)),
        ("{}", ("model_type", "is required but absent")),
        ('{"_class_name": "UNet9DModel"}', ("UNet9DModel", "no component that is counted")),
        ('{"dim": 4096, "n_layers": 32}', ("params.json", "config.json")),
        ('{"model_type": "lama"}', ("'lama'", "llama")),
        ('{"model_type": "rwkv7"}', ("rwkv7", "hybrids")),
        ('{"model_type": ["llama"]}', ("model_type",)),
        ('{"model_type": "llama", "text_config": {"model_type": "rwkv7"}}', ("rwkv7",)),
    ],
)  # fmt: skip
def test_a_bad_document_says_what_is_wrong(tmp_path: Path, content: str | bytes, words: tuple[str, ...]) -> None:
    path = written(tmp_path, content)
    message = refused(path)
    assert str(path) in message
    for word in words:
        assert word in message


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("hidden_size", float("inf")),
        ("hidden_size", -4096),
        ("hidden_size", 10**30),
        ("hidden_size", 1e300),
        ("hidden_size", "4096"),
        ("hidden_size", True),
        ("hidden_size", 64.5),
        ("num_hidden_layers", 10**9),
        ("num_hidden_layers", 0),
        ("num_attention_heads", 7),
        ("num_key_value_heads", 3),
        ("vocab_size", []),
        ("torch_dtype", "float3"),
        ("tie_word_embeddings", "yes"),
        ("quantization_config", {"quant_method": "magic"}),
        ("quantization_config", []),
    ],
)
def test_a_bad_value_is_named(tmp_path: Path, key: str, value: Any) -> None:
    start = time.perf_counter()
    message = refused(config(tmp_path, **{key: value}))
    assert key in message
    assert time.perf_counter() - start < 1
    assert len(message) < 2000


def test_all_faults_are_reported_at_once(tmp_path: Path) -> None:
    message = refused(config(tmp_path, hidden_size=-1, vocab_size="x", torch_dtype="float3"))
    for key in ("hidden_size", "vocab_size", "torch_dtype"):
        assert key in message


def test_more_experts_per_token_than_experts(tmp_path: Path) -> None:
    message = refused(written(tmp_path, json.dumps({**MIXTRAL, "num_experts_per_tok": 9})))
    assert "num_experts_per_tok" in message
    assert "found 9" in message


def test_a_missing_file(tmp_path: Path) -> None:
    written(tmp_path, "{}")
    message = refused(tmp_path / "confg.json")
    assert "does not exist" in message
    assert "did you mean config.json" in message


def test_a_folder(tmp_path: Path) -> None:
    assert "without a config.json" in refused(tmp_path)
    (tmp_path / "model_index.json").write_text('{"_class_name": "FluxPipeline"}')
    assert "FluxPipeline" in refused(tmp_path)
    (tmp_path / "model_index.json").unlink()
    config(tmp_path)
    assert mansard.load_model(str(tmp_path)).hidden_size == 64


def test_two_gigabytes_are_refused_unread(tmp_path: Path) -> None:
    path = tmp_path / "huge.json"
    with path.open("wb") as file:
        file.truncate(2 << 30)  # sparse: no block is written
    start = time.perf_counter()
    assert "2,147,483,648 bytes" in refused(path)
    assert time.perf_counter() - start < 1


def test_what_is_no_regular_file(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe.json"
    os.mkfifo(pipe)
    assert "no regular file" in refused(pipe)
    assert "no regular file" in refused("/dev/zero")


def test_infinity_where_nothing_reads_it_is_no_fault(tmp_path: Path) -> None:
    path = written(tmp_path, json.dumps({**LLAMA, "time_step_limit": [0.0, float("inf")]}))
    assert "Infinity" in path.read_text()
    assert mansard.load_model(str(path)).hidden_size == 64


def test_standard_input(monkeypatch: pytest.MonkeyPatch) -> None:
    class Pipe:
        buffer = io.BytesIO(json.dumps(LLAMA).encode())

    monkeypatch.setattr(sys, "stdin", Pipe())
    assert mansard.load_model("-").hidden_size == 64


def test_defaults_that_were_taken_are_noted(tmp_path: Path) -> None:
    model = mansard.load_model(str(written(tmp_path, '{"model_type": "llama"}')))
    assert model.parameters == 6_738_415_616  # the class's own defaults are Llama-2-7B's
    assert {"hidden_size", "vocab_size"} <= {note.text.split()[0] for note in model.notes}
    assert any("no dtype" in note.text for note in model.notes)


def test_a_name_that_is_not_known() -> None:
    with pytest.raises(UsageError, match=r"did you mean .*llama-3\.1-8b"):
        mansard.load_model("llama-3.1-8bb")
    with pytest.raises(UnavailableError, match="--online"):
        mansard.load_model("somebody/some-model")


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("lfs_pointer.json", ("git-LFS",)),
        ("llama2_generation_config_dot.json", ("line 3",)),
        ("clip_trailing_comma.json", ("comma before a closing bracket",)),
        ("mistral_consolidated_params.json", ("params.json",)),
        ("empty.json", ("is empty",)),
        ("qwen3moe_topk_gt_experts.json", ("num_experts_per_tok", "256")),
    ],
)
def test_files_of_bug_reports(reference: Path, name: str, words: tuple[str, ...]) -> None:
    message = refused(reference / "models" / "malformed" / name)
    for word in words:
        assert word in message


def test_files_of_bug_reports_that_are_right(reference: Path) -> None:
    folder = reference / "models" / "malformed"
    llama = mansard.load_model(str(folder / "llama13b_no_kv_heads.json"))
    assert (llama.parameters, llama.cache_elements_per_token) == (13_015_864_320, 40 * 2 * 5120)
    gpt2 = mansard.load_model(str(folder / "gpt2_no_hidden_size.json"))
    assert (gpt2.parameters, gpt2.cache_elements_per_token) == (124_439_808, 12 * 2 * 768)


def test_dtype_wins_over_its_older_name(tmp_path: Path) -> None:
    model = mansard.load_model(config(tmp_path, torch_dtype="float16", dtype="bfloat16"))
    assert model.dtype == "bf16"


def test_what_modelopt_wrote_beside_the_config_is_read(tmp_path: Path) -> None:
    place = config(tmp_path)
    plain = mansard.load_model(place)
    side = {"producer": {"name": "modelopt"}, "quantization": {"quant_algo": "FP8", "exclude_modules": ["lm_head"]}}
    (tmp_path / "hf_quant_config.json").write_text(json.dumps(side))
    found = mansard.load_model(tmp_path)
    assert plain.quantization is None
    assert found.quantization is not None
    assert {stored.name for layer in found.layers for _, stored in layer.storage} == {"fp8"}
    (tmp_path / "hf_quant_config.json").write_text("{")
    assert "hf_quant_config.json" in refused(tmp_path)
