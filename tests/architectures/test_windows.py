"""Families with windows, sinks or latents beside what others test: parameters and caches derived by hand."""

from typing import Any

import mansard
from mansard.models import read_config

# h hidden, H heads, K key/value heads, d their size, f width, V words, W window, L layers, E experts of m.
h, H, K, d, f, V, W, L, E, m = 64, 8, 2, 16, 96, 100, 16, 6, 6, 20
DOCUMENT: dict[str, Any] = {
    "hidden_size": h, "num_hidden_layers": L, "num_attention_heads": H, "num_key_value_heads": K, "head_dim": d,
    "intermediate_size": f, "vocab_size": V, "sliding_window": W, "tie_word_embeddings": False, "dtype": "bfloat16",
}  # fmt: skip
OUTER, MLP, ATTENTION = 2 * V * h + h, 3 * h * f, 2 * h * H * d + 2 * h * K * d
SPARSE = h * E + E * 3 * h * m


def model(model_type: str, **changes: Any) -> mansard.ModelConfig:
    return read_config(DOCUMENT | {"model_type": model_type} | changes, "config.json")


def windows(found: mansard.ModelConfig) -> list[int | None]:
    return [layer.mixer.window for layer in found.layers if layer.mixer]


def test_ministral_3_has_one_window_for_all_layers() -> None:
    found = model("ministral3")
    assert found.parameters == OUTER + L * (ATTENTION + MLP + 2 * h)
    assert windows(found) == [W] * L
    assert windows(model("ministral3", sliding_window=None)) == [None] * L


def test_vaultgemma_has_two_norms_a_layer() -> None:
    found = model("vaultgemma")
    assert found.parameters == OUTER + L * (ATTENTION + MLP + 2 * h)
    assert windows(found) == [W, None] * 3


def test_mimo_doubles_its_key_value_heads_behind_a_window() -> None:
    value = 12
    words = {"v_head_dim": value, "n_routed_experts": E, "num_experts_per_tok": 2, "moe_intermediate_size": m}
    found = model("mimo_v2_flash", **words)
    assert windows(found) == [None, W, W, W, W, None]
    whole = h * H * d + h * K * (d + value) + H * value * h
    windowed = h * H * d + h * 2 * K * (d + value) + H * value * h + H  # a sink on each head
    assert found.parameters == OUTER + 2 * whole + 4 * windowed + L * 2 * h + MLP + (L - 1) * SPARSE
    assert found.cache_elements_per_token == (2 * K + 4 * 2 * K) * (d + value)
    assert set(windows(model("mimo_v2_flash", sliding_window_size=7, **words))) == {None, 8}


def test_exaone_has_experts_and_rotates_behind_windows_alone() -> None:
    words = {"num_experts": E, "num_experts_per_tok": 2, "moe_intermediate_size": m, "num_shared_experts": 2}
    found = model("exaone_moe", **words)
    mixer = ATTENTION + 2 * d
    assert found.parameters == OUTER + L * (mixer + 2 * h) + MLP + (L - 1) * (SPARSE + 3 * h * 2 * m)
    assert windows(found) == [W, W, W, None, W, W]
    assert [layer.mixer.rotary_dim for layer in found.layers] == [d, d, d, 0, d, d]  # type: ignore[union-attr]
    assert {layer.mixer.rotary_dim for layer in model("exaone_moe", sliding_window=None, **words).layers} == {d}  # type: ignore[union-attr]


def test_youtu_keeps_latents_beside_dense_parts() -> None:
    q, r, n, p, v = 24, 16, 12, 8, 10
    words = {"q_lora_rank": q, "kv_lora_rank": r, "qk_nope_head_dim": n, "qk_rope_head_dim": p, "v_head_dim": v}
    found = model("youtu", **words)
    latents = h * q + q + q * H * (n + p) + h * (r + p) + r + r * H * (n + v) + H * v * h
    assert found.parameters == OUTER + L * (latents + MLP + 2 * h)
    assert found.cache_elements_per_token == L * (r + p)
