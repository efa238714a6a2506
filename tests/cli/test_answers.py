"""The answers on the command line, against values worked out by hand (COUNTING §3, §11, §13)."""

import json

import pytest
from click.testing import CliRunner

from mansard.cli import root


def said(*words: str) -> str:
    return CliRunner().invoke(root, list(words)).stdout


def flat(text: str) -> str:
    return " ".join(text.split())


def test_explain_reads_like_the_worked_example() -> None:
    parameters, width, peak, bandwidth, prompt = 8e9, 2, 990e12, 3.35e12, 8000
    memory_ms, compute_ms = 1e3 * parameters * width / bandwidth, 1e3 * 2 * parameters / peak
    prefill_ms = compute_ms * prompt
    text = said("explain", "params=8e9", "--on", "peak=990e12,bandwidth=3.35e12", "--prompt", "8000")
    for part in (
        "16 GB",
        f"{memory_ms:.2f} ms",  # 4.78
        f"{compute_ms:.3f} ms",  # 0.016
        f"{memory_ms / compute_ms:.0f} times",  # 296
        "the cores idle for over 99 %",
        "128,000,000,000,000 FLOP",
        f"{prefill_ms:.2f} ms",  # 129.29
        f"about {prefill_ms / memory_ms:.0f} times the reading",  # 27
        "296 tokens per step",
        "16,000,000,000 B / 3.35e12 B/s = 4.78 ms",
    ):
        assert part in text


def test_a_parameter_count_says_what_it_does_not_know() -> None:
    parameters, width = 8_000_000_000, 2
    found = json.loads(said("analyze", "params=8e9", "--on", "h100-sxm", "--json"))
    assert found["model"]["kv_bytes_per_token"] is found["model"]["state_bytes_per_sequence"] is None
    for unknown in ("cache_bytes", "cache_bytes_per_sequence", "activations_bytes"):
        assert found["memory"][unknown] is None
    assert found["memory"]["total_bytes"] == parameters * width
    codes = {note["code"] for note in found["notes"]}
    assert {"parameter-count", "default-dtype"} <= codes
    given = json.loads(said("analyze", "params=8e9,bytes=1", "--on", "h100-sxm", "--json"))
    assert given["memory"]["total_bytes"] == parameters
    assert "default-dtype" not in {note["code"] for note in given["notes"]}


def test_prompts_beyond_a_piece_are_said_to_be_prefilled_in_pieces() -> None:
    piece = 8192

    def codes(*words: str) -> set[str]:
        found = json.loads(said("analyze", "llama-3.1-8b", "--on", "h100-sxm", "--json", *words))
        return {note["code"] for note in found["notes"]}

    assert "prefill-pieces" not in codes("--prompt", str(piece))
    assert "prefill-pieces" in codes("--prompt", str(piece + 1))
    assert "prefill-pieces" not in codes("--prompt", str(piece + 1), "--cached", "1")


def test_more_tokens_than_positions_are_a_warning() -> None:
    positions = 131_072  # of Llama-3.1

    def codes(prompt: int, output: int) -> set[str]:
        words = ["--prompt", str(prompt), "--output", str(output)]
        found = json.loads(said("analyze", "llama-3.1-8b", "--on", "h100-sxm", "--json", *words))
        return {note["code"] for note in found["notes"]}

    # The last token that is sampled is never written, so that it needs no position.
    assert "beyond-positions" not in codes(positions - 1, 2)
    assert "beyond-positions" in codes(positions, 2)


def test_the_first_line_of_analyze() -> None:
    first = flat(said("analyze", "llama-3.1-8b", "--on", "h100-sxm", "--prompt", "8000", "--context", "4096"))
    # (15,009,316,864 + 536,739,840 + 131,072 B of cache, norms apart) / 3.35e12 B/s = 4.64 ms: 215 a second.
    assert "(bf16): decode is memory-bound, at best 4.64 ms a token (215 tokens/s)" in first
    # (111,669,149,696,000 + 1,050,673,152 + 16,779,313,152,000) FLOP / 989.4e12 FLOP/s = 129.8 ms.
    assert "prefill is compute-bound, 129.8 ms to the first token." in first


def test_memory_comes_before_any_time() -> None:
    text = said("analyze", "llama-3.1-8b", "--on", "h100-sxm", "--batch", "256", "--context", "4096")
    hidden, feed_forward, vocabulary, batch, context = 4096, 14336, 128256, 256, 4096
    weights, cache = 2 * 8_030_261_248, batch * context * 131_072
    # At most 8,192 prompt tokens at once, at their widest (gate and up) beside the residual stream; logits in fp32.
    activations = 8192 * 2 * (hidden + (hidden + 2 * feed_forward)) + batch * vocabulary * 4
    needed = (weights + cache + activations) / 1e9
    assert f"does not fit in 80 GB: needs {needed:.1f} GB" in flat(text)
    assert text.index("does not fit") < text.index("45.5 ms")
    assert text.index("\nMemory") < text.index("\nPhases")


def test_the_blocks_of_analyze_stand_in_their_order() -> None:
    text = said("analyze", "llama-3.1-8b", "--on", "h100-sxm")
    titles = (
        "Memory",
        "Phases",
        "Operators of prefill",
        "Operators of decode",
        "Request",
        "Saturation",
        "What would",
        "Notes",
    )
    places = [text.index(f"\n{title}") for title in titles]
    assert places == sorted(places)
    assert "expected: not calibrated yet" in text
    assert "batch was not given: 1 is taken" in text


def test_request_prints_its_definitions() -> None:
    text = said("request", "--ttft", "0.2", "--itl", "0.05", "--output", "5")
    for part in ("400 ms", "20 tokens/s", "12.5 tokens/s", "T = TTFT + (n − 1) · ITL = 0.2 s + 4 · 0.05 s", "1 / ITL"):
        assert part in text


def test_saturation_with_and_without_a_cache() -> None:
    alone = json.loads(said("saturate", "llama-3.1-8b", "--on", "h100-sxm", "--json"))
    assert alone["batch"] == 296
    with_cache = json.loads(said("saturate", "llama-3.1-8b", "--on", "h100-sxm", "--context", "4k", "--json"))
    assert with_cache["batch"] is None
    assert "never" in with_cache["reason"]


def test_standard_attention_alone() -> None:
    # Three steps of n = 4096, d = 128: (2·2·n²·d + 3·n²) FLOP over (4·n·d + 4·n²)·2 B.
    n, d = 4096, 128
    intensity = (4 * n * n * d + 3 * n * n) / (2 * (4 * n * d + 4 * n * n))
    words = ["attention", f"length={n}", f"head_dim={d}", "kind=standard", "--on", "h100-sxm"]
    text = said("operator", *words)
    assert f"{intensity:.2f} FLOP/byte" in text
    assert "62.42" in text
    assert "Beside it" in text
    assert "the full square" in text
    assert f"= {intensity:.2f} FLOP/byte" in said("operator", *words, "--explain")


def test_the_explanation_adds_up_to_the_analysis() -> None:
    words = ["mixtral-8x7b", "--on", "h100-sxm", "--batch", "4"]
    lines = json.loads(said("explain", *words, "--json"))["lines"]
    phases = json.loads(said("analyze", *words, "--json"))["phases"]
    for name, phase in phases.items():
        flops = sum(
            one["value"]
            for one in lines
            if one["phase"] == name and one["subject"] != "step" and one["quantity"] == "FLOPs"
        )
        moved = sum(
            one["value"] for one in lines if one["phase"] == name and one["subject"] != "step" and one["unit"] == "B"
        )
        assert flops == pytest.approx(phase["flops"], rel=1e-12)
        assert moved == pytest.approx(phase["bytes"]["total"], rel=1e-12)


@pytest.mark.parametrize("by", ["ridge", "bandwidth", "peak"])
def test_devices_are_ranked_with_the_largest_first(by: str) -> None:
    key = {"ridge": "ridge_point", "bandwidth": "memory_bandwidth_bytes_per_s", "peak": "peak_flops_per_s"}[by]
    rows = json.loads(said("list", "devices", "--sort", by, "--json"))["devices"]
    values = [row[key] or 0 for row in rows]
    assert values == sorted(values, reverse=True)


def test_a_device_is_shown_with_ridge_points_and_confidence() -> None:
    text = said("show", "h100-sxm")
    assert "295.3 FLOP/byte" in text  # 989.4e12 / 3.35e12
    assert "vendor" in text
    assert "Sources" in text


def test_h100_alone_says_which_one_it_took() -> None:
    assert "h100-sxm" in said("show", "h100")
    assert "took h100-sxm" in said("show", "h100")


def test_a_model_is_shown_by_its_layers() -> None:
    text = said("show", "mixtral-8x7b")
    assert "46,702,792,704" in text
    assert "12,879,925,248" in text
    assert "2 of 8 experts of 14,336" in text
    assert "0–31" in text
