"""Models from GGUF files: the shape that their class gives them, and their bytes as the header has them."""

from math import prod
from pathlib import Path
from typing import Any

import pytest

import mansard
from gguf_models import BASE, DENSE, FAMILIES, HEADS, NORMS, NUMBERS, E, L, Shape, h, k, layered, type_of, usual, write
from mansard import memory
from mansard.errors import InputError
from mansard.inputs.ggml import TENSOR_TYPES
from mansard.inputs.gguf_families import FAMILIES as KNOWN
from mansard.inputs.model import ModelConfig
from mansard.inputs.scenario import Deployment
from mansard.models import read_config


def loaded(path: Path) -> ModelConfig:
    return mansard.load_model(str(path))


def refused(path: Path) -> str:
    with pytest.raises(InputError) as error:
        loaded(path)
    return str(error.value)


@pytest.mark.parametrize("name", FAMILIES)
def test_a_gguf_file_is_the_model_that_its_class_is(tmp_path: Path, name: str) -> None:
    arch, keys, tensors, config = FAMILIES[name]
    found = loaded(write(tmp_path / "model.gguf", arch, keys, tensors))
    stated = read_config({**BASE, **config}, "config.json")
    assert found.layers == stated.layers
    assert (found.head, found.embedding, found.final_norm) == (stated.head, stated.embedding, stated.final_norm)
    assert found.max_position_embeddings == 4096
    left_out = ("exp_probs_b", "rope_factors", f"blk.{L}.")
    weights = sum(prod(shape) for name, shape in tensors.items() if not any(part in name for part in left_out))
    assert found.stored is not None
    assert (found.parameters, found.stored.weights) == (weights, weights)
    assert [note.text for note in found.notes if note.level == "warning" or note.code == "class-default"] == []


def test_every_family_that_is_read_is_tried_here() -> None:
    assert {arch for arch, _, _, _ in FAMILIES.values()} == set(KNOWN)


def bytes_of(tensors: dict[str, Shape], matrices: str, types: dict[str, str] | None = None) -> dict[str, int]:
    found = {}
    for name, shape in tensors.items():
        kind = TENSOR_TYPES[NUMBERS[(types or {}).get(name, type_of(name, shape, matrices))]]
        found[name] = prod(shape) // kind.block * kind.block_bytes
    return found


def test_mixed_types_are_summed_to_the_byte_in_memory_and_in_a_step(tmp_path: Path) -> None:
    arch, keys, tensors, _ = FAMILIES["llama"]
    types = {
        "output.weight": "Q6_K", "blk.0.attn_v.weight": "Q6_K", "blk.2.ffn_down.weight": "Q6_K",
        "blk.1.ffn_up.weight": "Q5_K",
    }  # fmt: skip
    model = loaded(write(tmp_path / "model.gguf", arch, keys, tensors, "Q4_K", types=types))
    stored = bytes_of(tensors, "Q4_K", types)
    assert memory.weight_bytes(model, Deployment()) == sum(stored.values())
    read = sum(stored.values()) - stored["token_embd.weight"] + h // 256 * 144  # one token's row of the table
    decode = mansard.analyze(model, on="h100-sxm", prompt=100, output=8).decode
    assert decode is not None
    assert decode.bytes.weights == read
    assert isinstance(decode.bytes.weights, int)
    assert sum(one.weight_bytes for one in decode.operators) == pytest.approx(read, rel=1e-12)
    # Products are in 16 bits: the file moves the memory clock alone.
    assert {one.dtype for one in decode.operators if one.flops} == {"fp16"}
    assert any(note.code == "stored-means" for note in model.notes)


def test_llama_8b_in_q4_k_m_as_the_documentation_counts_it(tmp_path: Path) -> None:
    hidden, wide, keys_wide, vocabulary, layers = 4096, 14336, 1024, 128256, 32
    norms, matrices = {"attn_norm.weight": (hidden,), "ffn_norm.weight": (hidden,)}, {
        "attn_q.weight": (hidden, hidden), "attn_k.weight": (hidden, keys_wide), "attn_v.weight": (hidden, keys_wide),
        "attn_output.weight": (hidden, hidden), "ffn_gate.weight": (hidden, wide), "ffn_up.weight": (hidden, wide),
        "ffn_down.weight": (wide, hidden),
    }  # fmt: skip
    outer = {"token_embd.weight": (hidden, vocabulary), "output_norm.weight": (hidden,),
             "output.weight": (hidden, vocabulary)}  # fmt: skip
    keys = usual(block_count=layers, embedding_length=hidden, feed_forward_length=wide,
                 attention__head_count=32, attention__head_count_kv=8)  # fmt: skip
    # More bits for the first and the last eighth of the layers and each third between, as llama.cpp mixes them.
    more = [one for one in range(layers) if one < 4 or one >= 28 or (one - 4) % 3 == 2]
    types = {f"blk.{one}.{name}.weight": "Q6_K" for one in more for name in ("attn_v", "ffn_down")}
    tensors = layered(norms, matrices, outer=outer, layers=range(layers))
    path = write(tmp_path / "a.gguf", "llama", keys, tensors, "Q4_K", types={**types, "output.weight": "Q6_K"})
    model = loaded(path)
    q6 = hidden * vocabulary + len(more) * (hidden * keys_wide + wide * hidden)
    q4 = 8_030_261_248 - q6 - 65 * hidden
    assert (len(more), q6, q4) == (16, 1_531_969_536, 6_498_025_472)
    total = q6 * 210 // 256 + q4 * 144 // 256 + 65 * hidden * 4
    assert memory.weight_bytes(model, Deployment()) == total == 4_912_898_048
    decode = mansard.analyze(model, on="rtx-4090", prompt=100, output=8).decode
    assert decode is not None
    assert decode.bytes.weights == total - (hidden * vocabulary - hidden) * 144 // 256 == 4_617_398_528


def test_a_tied_head_is_stored_once_and_read_in_each_step(tmp_path: Path) -> None:
    arch, keys, tensors, _ = FAMILIES["llama tied"]
    model = loaded(write(tmp_path / "model.gguf", arch, keys, tensors, "Q8_0"))
    stored = bytes_of(tensors, "Q8_0")
    assert memory.weight_bytes(model, Deployment()) == sum(stored.values())
    decode = mansard.analyze(model, on="h100-sxm", prompt=100, output=8).decode
    assert decode is not None
    assert decode.bytes.weights == sum(stored.values()) + h // 32 * 34


def test_experts_have_their_own_bits_and_only_those_touched_are_read(tmp_path: Path) -> None:
    arch, keys, tensors, _ = FAMILIES["gpt-oss"]
    types = {name: "MXFP4" for name in tensors if name.endswith("_exps.weight")}
    model = loaded(write(tmp_path / "model.gguf", arch, keys, tensors, "Q8_0", types=types))
    stored = bytes_of(tensors, "Q8_0", types)
    assert memory.weight_bytes(model, Deployment()) == sum(stored.values())
    decode = mansard.analyze(model, on="h100-sxm", prompt=100, output=8).decode
    assert decode is not None
    experts = sum(size for name, size in stored.items() if "_exps." in name)
    rest = sum(size for name, size in stored.items() if "_exps." not in name and name != "token_embd.weight")
    assert decode.bytes.weights == experts * k // E + rest + h // 32 * 34


def test_weights_that_are_asked_for_replace_those_of_the_file(tmp_path: Path) -> None:
    arch, keys, tensors, config = FAMILIES["llama"]
    model = loaded(write(tmp_path / "model.gguf", arch, keys, tensors, "Q4_K"))
    stated = read_config({**BASE, **config}, "config.json")
    asked = Deployment(weights="int8-weights")
    assert memory.weight_bytes(model, asked) == memory.weight_bytes(stated, asked)
    notes = mansard.analyze(model, on="h100-sxm", weights="int8-weights").notes
    assert any(note.code == "stored-unused" for note in notes)


def test_bf16_in_a_file_is_the_dtype_of_its_products_and_fp32_is(tmp_path: Path) -> None:
    arch, keys, tensors, _ = FAMILIES["llama"]
    for kind, dtype in (("BF16", "bf16"), ("F32", "fp32"), ("F16", "fp16"), ("IQ4_XS", "fp16")):
        assert loaded(write(tmp_path / f"{kind}.gguf", arch, keys, tensors, kind)).dtype == dtype


def test_a_folder_with_one_gguf_model_is_that_model(tmp_path: Path) -> None:
    arch, keys, tensors, _ = FAMILIES["llama"]
    path = write(tmp_path / "some-name.gguf", arch, keys, tensors, "Q4_K")
    assert loaded(path).name == "some-name"
    assert loaded(tmp_path).parameters == loaded(path).parameters
    path.rename(tmp_path / "without-an-ending")
    assert loaded(tmp_path / "without-an-ending").stored == loaded(tmp_path / "without-an-ending").stored
    write(tmp_path / "a.gguf", arch, keys, tensors)
    write(tmp_path / "b.gguf", arch, keys, tensors)
    assert "holds 2 GGUF models: a.gguf, b.gguf" in refused(tmp_path)


REFUSED: list[tuple[str, dict[str, Any], tuple[str, ...]]] = [
    ("lama", usual(), ("'lama' is not known", "did you mean llama")),
    ("mamba", usual(ssm__state_size=16), ("'mamba' is not known",)),
    ("clip", usual(), ("a vision or audio tower",)),
    ("llama", {}, ("embedding_length: is required", "block_count: is required", "head_count: is required")),
    ("qwen3", usual(ssm__state_size=16), ("qwen3.ssm.state_size: says a recurrent state",)),
    ("qwen3", usual(attention__indexer__top_k=64), ("says sparse attention",)),
    ("gemma3", usual(attention__shared_kv_layers=2), ("says layers that share a cache",)),
    ("qwen2", usual(expert_count=8), ("says experts",)),
    ("llama", usual(attention__causal=False), ("attention in both directions",)),
    ("llama", usual(attention__head_count_kv=[2, 1, 2]), ("head_count_kv: differs from layer to layer",)),
    ("llama", usual(attention__key_length=64, attention__value_length=32), ("value_length: must be",)),
    ("llama", usual(embedding_length="big"), ("hidden_size: must be a whole number",)),
    ("llama", usual(block_count=100_000), ("num_hidden_layers: must be between",)),
]


@pytest.mark.parametrize(("arch", "keys", "words"), REFUSED)
def test_what_is_not_understood_is_refused_by_name(
    tmp_path: Path, arch: str, keys: dict[str, Any], words: tuple[str, ...]
) -> None:
    message = refused(write(tmp_path / "model.gguf", arch, keys, layered(NORMS, HEADS, DENSE)))
    for word in words:
        assert word in message


def test_a_key_that_is_not_understood_is_noted(tmp_path: Path) -> None:
    keys = usual(some_new_key=3)
    notes = loaded(write(tmp_path / "model.gguf", "llama", keys, layered(NORMS, HEADS, DENSE))).notes
    assert any(note.code == "gguf-key" and "'some_new_key'" in note.text for note in notes)


def test_tensors_that_the_metadata_does_not_tell_are_noted_with_both_counts(tmp_path: Path) -> None:
    tensors = {**layered(NORMS, HEADS, DENSE), "blk.1.attn_gate.weight": (h, h), "something.odd": (h, h)}
    model = loaded(write(tmp_path / "model.gguf", "llama", usual(), tensors))
    notes = {note.code: note.text for note in model.notes}
    assert f"{model.parameters + h * h:,}" in notes["stored-parameters"]
    assert f"{model.parameters:,}" in notes["stored-parameters"]
    assert "names that are not known" in notes["not-counted"]
