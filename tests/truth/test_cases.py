"""Public questions and bug reports by their ids, each with the right value, derived by hand from named symbols."""

import json
from dataclasses import replace
from typing import Any

import pytest

import mansard
from mansard.algebra import request_times
from mansard.models import read_config
from mansard.operators.step import cached_tokens_kept
from reference_data import folder

H100 = "h100-sxm"
GIB = 2**30

# What each id needs and this version doesn't have. Everything else in the file is a test below.
LATER = {
    "several devices": ["A09", "A12", "A13", "B32", "B34"],
    "hybrids, sparse attention and layers that share caches": ["A18"],
    "images and video: tests/truth/test_image_cases.py": [
        "A33",
        "D01",
        "D02",
        "D05",
        "D07",
        "D09",
        "D10",
        "D12",
        "D14",
        "D17",
    ],
    "engine profiles, overhead and calibration": ["A19", "A20", "A51", "A53", "B05", "B07", "B09", "F01", "F06", "F08"],
    "measurements and their importers": [
        "A34",
        "B25",
        "A40",
        "C08",
        "C10",
        "C11",
        "C13",
        "C14",
        "C15",
        "C16",
        "E01",
        "E07",
        "E09",
        "E15",
    ],
    "training, of which tests/truth/test_hardware.py has the device's part": ["A41", "A44"],
    "offload, speculation, serving, transfer and prices": [
        "B27",
        "B29",
        "B31",
        "B36",
        "B38",
        "B40",
        "B41",
        "B42",
        "B43",
        "E05",
        "E13",
    ],
    "mixed formats of weights": ["B03"],
    "pages and catalogues": ["F02", "F04", "F05", "F09", "F12"],
}
_TESTS: dict[str, Any] = {}


def case(*ids: str) -> Any:
    def keep(function: Any) -> Any:
        _TESTS.update(dict.fromkeys(ids, function))
        return function

    return keep


def decode(model: str, on: str = H100, **asked: Any) -> Any:
    return mansard.analyze(model, on=on, **asked).decode


def cache_per_token(model: str, **asked: Any) -> int:
    return int(mansard.analyze(model, on=H100, **asked).to_dict()["model"]["kv_bytes_per_token"])


@case("A01", "A02")
def grouped_queries_cache_by_key_value_heads() -> None:
    assert cache_per_token("llama-3-8b") == 2 * 32 * 8 * 128 * 2 == 131_072
    assert cache_per_token("llama-2-7b") == 2 * 32 * 32 * 128 * 2 == 524_288


@case("A05")
def a_head_dim_of_its_own() -> None:
    assert cache_per_token("qwen3-4b") == 2 * 36 * 8 * 128 * 2 == 147_456


@case("A06")
def the_latent_is_cached() -> None:
    found = mansard.analyze("deepseek-v3", on=H100, context=65_536).memory.cache_bytes_per_sequence
    assert found == 61 * (512 + 64) * 2 * 65_536
    assert found / GIB == pytest.approx(4.29, abs=5e-3)
    assert pytest.approx(305, abs=0.1) == 61 * 128 * (192 + 128) * 2 * 65_536 / GIB


@case("A14")
def windows_cap_the_cache() -> None:
    found = mansard.analyze("gpt-oss-20b", on=H100, batch=32, context=8192).memory.cache_bytes
    assert found == 12 * (8192 + cached_tokens_kept(8192, 128)) * (2 * 8 * 64 * 2) * 32
    assert found / GIB == pytest.approx(6.09, abs=5e-3)


@case("A17")
def layers_of_two_shapes() -> None:
    """Gemma-4-31B's cache: 50 windowed layers of 16 key/value heads of 256, 10 whole ones of 4 heads of 512."""
    from mansard.models import read_config

    words = {"model_type": "gemma4_text", "num_hidden_layers": 60, "num_attention_heads": 32, "head_dim": 256}
    words |= {"num_key_value_heads": 16, "num_global_key_value_heads": 4, "global_head_dim": 512}
    words |= {"attention_k_eq_v": True, "sliding_window": 1024, "hidden_size_per_layer_input": 0}
    model = read_config(words, "config.json")
    whole, windowed = 10 * 2 * 4 * 512 * 2, 50 * 2 * 16 * 256 * 2
    assert (whole, windowed) == (81_920, 819_200)
    assert 2 * model.cache_elements_per_token == whole + windowed
    found = mansard.analyze(model, on=H100, context=32_768).memory.cache_bytes_per_sequence
    assert found == whole * 32_768 + windowed * 1024
    assert found / GIB == pytest.approx(3.28, abs=5e-3)
    assert (whole + windowed) * 32_768 / GIB == pytest.approx(27.5, abs=0.05)


@case("A27")
def a_part_of_all_tokens_beside_the_experts() -> None:
    """Gemma-4-26B-A4B: the dense part has its own width, 2,112, not the experts' 704."""
    model = mansard.load_model("gemma-4-26b-a4b")
    idle = 30 * (128 - 8) * 3 * 2816 * 704
    assert model.parameters_active == model.parameters - idle
    assert model.parameters_active / 1e9 == pytest.approx(3.82, abs=5e-3)


@case("A21", "F10")
def gigabytes_and_gibibytes() -> None:
    weights = mansard.analyze("llama-3.1-70b", on=H100).memory.weights_bytes
    assert weights == 2 * 70_553_706_496
    assert weights / 1e9 == pytest.approx(141.1, abs=0.05)
    assert weights / GIB == pytest.approx(131.41, abs=0.01)


@case("A24")
def every_expert_is_counted() -> None:
    model = mansard.load_model("mixtral-8x7b")
    layer = 8 * 3 * 4096 * 14336 + 4096 * (32 + 16) * 128 + 4096 * 4096 + 4096 * 8 + 2 * 4096
    assert model.parameters == 32 * layer + 2 * 32000 * 4096 + 4096
    assert model.parameters_active == model.parameters - 32 * 6 * 3 * 4096 * 14336
    assert (round(model.parameters / 1e9, 2), round(model.parameters_active / 1e9, 2)) == (46.70, 12.88)


@case("A26")
def work_of_the_chosen_experts() -> None:
    tokens = 1024
    prefill = mansard.analyze("mixtral-8x7b", on=H100, prompt=tokens).prefill
    experts = sum(row.flops for row in prefill.operators if row.kind == "experts")
    assert experts == 2 * tokens * 32 * 2 * 3 * 4096 * 14336
    # Forward and backward are three times the forward; the case counts the head for every token and the full square.
    linear = 3 * (
        prefill.flops - sum(r.flops for r in prefill.operators if r.kind == "attention" or r.name == "lm_head")
    )
    whole = linear + 3 * 2 * tokens * 4096 * 32000 + 12 * 32 * 4096 * tokens**2
    assert whole / 1e12 == pytest.approx(79.98, abs=0.02)


@case("A28")
def a_causal_mask_halves_the_square() -> None:
    prompt, batch = 8192, 4
    prefill = mansard.analyze("llama-2-7b", on=H100, batch=batch, prompt=prompt).prefill
    attention = next(row.flops for row in prefill.operators if row.kind == "attention")
    assert attention == 4 * 32 * 128 * 32 * batch * prompt * (prompt + 1) // 2
    assert 3 * attention / 1e12 == pytest.approx(211.11, rel=2e-4)  # the case has n²/2, without the diagonal's half


@case("A31")
def logits_of_the_last_token() -> None:
    prefill = mansard.analyze("llama-3-8b", on=H100, prompt=4096).prefill
    head = next(row.flops for row in prefill.operators if row.name == "lm_head")
    assert head == 2 * 4096 * 128256
    assert 100 * head * 4096 / (2 * 32 * (4096 * 48 * 128 + 4096 * 4096 + 3 * 4096 * 14336) * 4096) == pytest.approx(
        7.5, abs=0.05
    )


@case("A32")
def tying_changes_what_is_stored_and_not_what_is_done() -> None:
    tied = mansard.load_model("llama-3.2-1b")
    assert tied.head is not None
    untied = replace(tied, head=tied.head._replace(tied=False))
    here, there = (mansard.analyze(model, on=H100) for model in (tied, untied))
    assert here.prefill.flops == there.prefill.flops
    assert here.decode is not None
    assert there.decode is not None
    assert here.decode.bytes.total == there.decode.bytes.total
    assert there.memory.weights_bytes - here.memory.weights_bytes == 2 * 2048 * 128256


@case("A37")
def a_gated_part_has_three_matrices() -> None:
    layer = mansard.load_model("llama-3-8b").layers[0]
    width = sum(matrix.parameters for matrix in layer.feed_forward.matrices(4096))  # type: ignore[union-attr]
    assert width == 3 * 4096 * 14336
    assert width / 1e6 == pytest.approx(176.2, abs=0.05)


@case("A42", "A47")
def the_device_s_own_numbers() -> None:
    pcie, sxm = mansard.load_device("h100-pcie"), mansard.load_device(H100)
    assert pcie.peak("bf16").flops_per_s == 756.5e12
    assert round(756.5e12 / pcie.memory_bandwidth.value) == 378
    assert sxm.memory_bytes == 81_559 * 2**20
    assert round(81_559 * 2**20 / GIB, 1) == 79.6


@case("B01", "B02")
def a_single_stream_cannot_beat_its_bytes() -> None:
    bytes_read = 2 * (32 * (4 * 4096 * 4096 + 3 * 4096 * 11008) + 4096 * 32000)
    assert bytes_read / 1e9 == pytest.approx(13.21, abs=0.01)
    for device, bandwidth in (("rtx-4090", 1008e9), ("a10", 600e9)):
        found = decode("llama-2-7b", on=device, weights="fp16", activations="fp16", context=1)
        assert found.best_s == pytest.approx(bytes_read / bandwidth, rel=1e-3)
    assert 1008e9 / bytes_read == pytest.approx(76.3, abs=0.05)
    assert 1e3 * bytes_read / 600e9 == pytest.approx(22.0, abs=0.05)


@case("B11")
def four_bits_read_a_quarter() -> None:
    full = decode("llama-2-13b", on="a100-pcie-80gb", context=1)
    short = decode("llama-2-13b", on="a100-pcie-80gb", context=1, weights="int4-g128")
    assert full.best_s / short.best_s == pytest.approx(3.7, abs=0.1)
    assert full.clocks.matrix_s == short.clocks.matrix_s


@case("B12")
def four_bits_stop_helping_sooner() -> None:
    # The edge of weights alone: 2·b/w reaches the ridge point, the bytes of a weight being 2 or 4.156 bits.
    ridge = 312e12 / 2.039e12
    assert mansard.saturate("llama-2-13b", on="a100-sxm-80gb").batch == pytest.approx(ridge, abs=1)
    # The head stays in 16 bits, so that the edge lies a little above ridge · 4.156 / 16.
    assert mansard.saturate("llama-2-13b", on="a100-sxm-80gb", weights="int4-g128").batch == pytest.approx(40, abs=3)


@case("B16")
def a_small_mixture_reads_what_it_uses() -> None:
    model = mansard.load_model("deepseek-v2-lite")
    used = 2 * model.parameters_active_no_embedding
    found = decode("deepseek-v2-lite", context=1)
    assert found.best_s == pytest.approx(used / BANDWIDTH, rel=5e-3)
    assert 1e3 * found.best_s == pytest.approx(1.46, abs=0.02)


@case("B17")
def a_shorter_cache_helps_long_contexts() -> None:
    wide = decode("qwen3-8b", on="a100-sxm-80gb", batch=8, context=16_384)
    short = decode("qwen3-8b", on="a100-sxm-80gb", batch=8, context=16_384, kv="fp8")
    assert wide.bytes.cache_read == 2 * short.bytes.cache_read
    assert wide.best_s / short.best_s == pytest.approx(1.39, abs=0.01)


@case("B18")
def a_prompt_cannot_beat_its_work() -> None:
    found = mansard.analyze("llama-3.1-70b", on="rtx-a6000", prompt=16_384, weights="int4-g128").prefill
    linear = 2 * 80 * (8192 * (64 + 16) * 128 + 8192 * 8192 + 3 * 8192 * 28672) * 16_384
    attention = 4 * 64 * 128 * 80 * 16_384 * 16_385 // 2
    assert found.flops == linear + attention + 2 * 8192 * 128256
    assert found.flops / 154.8e12 == pytest.approx(16.8, abs=0.05)
    assert found.best_s == pytest.approx(16.8, abs=0.05)
    assert found.bound == "compute"


@case("B21", "B22")
def a_mixture_reads_the_experts_that_it_chose() -> None:
    fixed = 2 * (32 * (4096 * 48 * 128 + 4096 * 4096 + 4096 * 8) + 4096 * 32000)
    chosen = 2 * 32 * 2 * 3 * 4096 * 14336
    found = decode("mixtral-8x7b", on="a100-sxm-80gb", context=1)
    assert found.bytes.weights == pytest.approx(fixed + chosen, rel=1e-3)
    assert 1e3 * (fixed + chosen) / 2 / 2.039e12 == pytest.approx(6.25, abs=0.01)
    # NF4: 4.5 bits a weight in the layers; router and head stay in 16.
    short = decode("mixtral-8x7b", on="rtx-a6000", context=1, weights="nf4")
    outside = 2 * (32 * 4096 * 8 + 4096 * 32000)
    assert short.bytes.weights == pytest.approx((fixed - outside + chosen) * 4.5 / 16 + outside, rel=1e-3)
    assert 1e3 * short.best_s == pytest.approx(9.6, abs=0.1)


@case("B44")
def a_processor_is_a_device_too() -> None:
    found = decode("llama-3-8b", on="peak=1e12,bandwidth=40GB/s", weights="fp32", activations="fp32", context=1)
    # The head stays in the model's 16 bits; the case has it in 32, at 1.33 tokens/s.
    bytes_read = 4 * 32 * (4096 * 48 * 128 + 4096 * 4096 + 3 * 4096 * 14336) + 2 * 4096 * 128256
    assert found.best_s == pytest.approx(bytes_read / 40e9, rel=1e-3)
    assert 1 / ((bytes_read + 2 * 4096 * 128256) / 40e9) == pytest.approx(1.33, abs=0.005)


@case("C01")
def a_nested_language_model_is_found() -> None:
    inner = {"model_type": "llama", "hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2}
    inner |= {"num_attention_heads": 4, "vocab_size": 100}
    outer = {"model_type": "llava", "text_config": inner, "tie_word_embeddings": True, "torch_dtype": "float16"}
    model = read_config(outer, "config.json")
    assert model.hidden_size == 64
    assert model.head is not None
    assert model.head.tied
    assert model.dtype == "fp16"


@case("C03")
def heads_wider_than_the_hidden_size() -> None:
    query, key, value, out = mansard.load_model("qwen3-32b").layers[0].mixer.matrices(5120)
    assert query.columns + key.columns + value.columns == (64 + 16) * 128 == 10_240
    assert out.rows == 64 * 128
    assert cache_per_token("qwen3-32b") == 2 * 64 * 8 * 128 * 2 == 262_144


@case("C05")
def rotary_options_change_no_count() -> None:
    base = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2}
    counts = {
        read_config({**base, "rope_scaling": scaling}, "config.json").parameters
        for scaling in (None, {"type": "linear", "factor": 2.0}, {"rope_type": "llama3", "factor": 8.0})
    }
    assert len(counts) == 1


@case("C07")
def layers_are_listed_by_kind_and_each_kind_has_its_work() -> None:
    base = {"hidden_size": 64, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16}

    def mixers(**document: Any) -> list[tuple[Any, int]]:
        found = read_config({**base, **document}, "config.json")
        return [(layer.mixer, count) for layer, count in found.distinct_layers]

    # A delta layer's state, and heads whose output is gated, on every fourth layer or as listed.
    (delta, deltas), (gated, gates) = mixers(
        model_type="qwen3_next", num_hidden_layers=8, full_attention_interval=4, num_experts=0
    )
    assert (deltas, gates) == (6, 2)
    assert delta.scan_flops > 7 * delta.state
    assert gated.gate_size == 4 * 16
    listed = ["linear_attention"] * 5 + ["full_attention"] * 3
    found = mixers(model_type="qwen3_next", num_hidden_layers=8, layer_types=listed, num_experts=0)
    assert [count for _, count in found] == [5, 3]
    # Experts that live in a width of their own.
    latent = read_config(
        {**base, "model_type": "nemotron_h", "hybrid_override_pattern": "E", "moe_latent_size": 24}, ""
    )
    expert, inside = latent.layers[0].feed_forward.expert, 24
    assert latent.parameters - latent.parameters_active == (8 - 2) * 2 * inside * expert.intermediate_size
    # Windows on all layers but each third.
    windows = mixers(model_type="gemma3_text", num_hidden_layers=6, sliding_window=8, sliding_window_pattern=3)
    assert [(mixer.window, count) for mixer, count in windows] == [(8, 4), (None, 2)]
    with pytest.raises(mansard.InputError, match="unheard_of"):
        read_config({**base, "model_type": "nemotron_h", "layers_block_type": ["unheard_of"]}, "config.json")


@case("E02", "E12")
def a_token_s_time_leaves_the_first_out() -> None:
    times = request_times(1.0, 0.020, 100)
    assert times.tpot_s == 0.020
    assert times.e2e_s / 100 == pytest.approx(0.0298)
    assert request_times(0.5, 0.010, 100).e2e_s / 100 == pytest.approx(0.0149)


@case("E04")
def gaps_are_one_fewer_than_tokens() -> None:
    times = request_times(0.2, 0.05, 2)
    assert (times.e2e_s - 0.2) / 1 == pytest.approx(times.tpot_s)
    assert (times.e2e_s - 0.2) / 2 == pytest.approx(0.5 * times.tpot_s)


@case("E10")
def a_batch_counts_once() -> None:
    found = mansard.analyze("llama-3.1-8b", on=H100, batch=16, prompt=64, output=2)
    request = found.request
    assert request.output_tokens_per_s_per_device.best == pytest.approx(16 * 2 / request.e2e_s.best)
    assert pytest.approx(229.2, abs=0.05) == 16 / 0.06981


@case("A23")
def all_experts_are_resident_and_the_active_are_read() -> None:
    """0.58 bytes a parameter. Of 125.1e9 some are a vision tower's and an extra prediction layer's."""
    model = mansard.load_model("qwen3.5-122b-a10b")
    assert pytest.approx(72.6e9, rel=1e-3) == 0.58 * 125.1e9
    assert model.parameters == pytest.approx(125.1e9, rel=0.03)
    assert model.parameters_active == pytest.approx(10e9, rel=0.03)
    found = mansard.analyze(model, on=H100, weights="int4-g128", prompt=512)
    assert found.memory.weights_bytes > 4.156 / 8 * model.parameters > 48e9
    read = sum(row.weight_bytes for row in found.decode.operators)
    assert read < 0.12 * found.memory.weights_bytes


@case("A46")
def a_ceiling_is_bandwidth_over_what_a_token_reads() -> None:
    """Q4_K_M is a mixture of types: a file of 16.5e9 bytes gives 61 tokens a second at most, 40 were measured."""
    ceiling = 1008e9 / 16.5e9
    assert ceiling == pytest.approx(61, abs=0.5)
    found = mansard.step("qwen3.5-27b", on="rtx-4090", weights="int4-g128", context=512)
    assert 1 / found.best_s == pytest.approx(ceiling, rel=0.08)
    assert 0.55 < 40 * found.best_s < 0.8
    assert 9.1 * found.best_s < 0.16


BANDWIDTH = 3.35e12


@pytest.mark.parametrize("name", sorted(_TESTS))
def test_case(name: str) -> None:
    _TESTS[name]()


def test_every_case_is_here_or_waits_for_something() -> None:
    place = folder()
    if place is None:
        pytest.skip("reference data not found")
    known = {one["id"] for one in json.loads((place / "cases" / "cases.json").read_text(encoding="utf-8"))}
    waiting = {name for names in LATER.values() for name in names}
    assert not waiting & set(_TESTS)
    assert waiting | set(_TESTS) >= known, sorted(known - waiting - set(_TESTS))
