"""Layers that share a cache, differ in shape, or carry several residual streams: counts derived by hand."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from mansard.models import read_config

# h hidden, H heads, K key/value heads, d their size (D where a layer sees everything), f width, V words, W window.
h, H, K, d, D, f, V, W, L = 64, 4, 2, 16, 32, 96, 100, 16, 6
H100 = "h100-sxm"
KINDS = ["sliding_attention", "full_attention", "sliding_attention", "full_attention", "sliding_attention"]
KINDS = [*KINDS, "full_attention"]
DOCUMENT: dict[str, Any] = {
    "model_type": "gemma4_text", "hidden_size": h, "num_hidden_layers": L, "num_attention_heads": H,
    "num_key_value_heads": K, "head_dim": d, "global_head_dim": D, "intermediate_size": f, "vocab_size": V,
    "sliding_window": W, "layer_types": KINDS, "hidden_size_per_layer_input": 0, "dtype": "bfloat16",
}  # fmt: skip
OUTER, NORMS, MLP = V * h + h, 4 * h, 3 * h * f


def attention(size: int, kv_heads: int = K, matrices: int = 2) -> int:
    """Queries and output, keys and values, and the norms of queries and keys."""
    return 2 * h * H * size + matrices * h * kv_heads * size + 2 * size


def model(**changes: Any) -> mansard.ModelConfig:
    return read_config(DOCUMENT | changes, "config.json")


def test_layers_that_see_everything_have_heads_of_their_own_size() -> None:
    assert model().parameters == OUTER + L * (NORMS + MLP) + 3 * attention(d) + 3 * attention(D)
    assert model().cache_elements_per_token == 3 * 2 * K * d + 3 * 2 * K * D


def test_keys_may_serve_as_values() -> None:
    found = model(attention_k_eq_v=True, num_global_key_value_heads=1)
    assert found.parameters == OUTER + L * (NORMS + MLP) + 3 * attention(d) + 3 * attention(D, 1, 1)
    assert found.cache_elements_per_token == 3 * 2 * K * d + 3 * 2 * 1 * D


def test_sizes_of_single_layers() -> None:
    sizes = {str(place): {"head_dim": 24, "num_key_value_heads": 1} for place in (1, 3, 5)}
    assert model(per_layer_config=sizes).cache_elements_per_token == 3 * 2 * K * d + 3 * 2 * 1 * 24


def test_the_last_layers_use_the_caches_of_earlier_ones() -> None:
    found = model(num_kv_shared_layers=2)
    away = sum(2 * h * K * size + size for size in (d, D))  # keys, values, and the norm of keys
    assert model().parameters - found.parameters == away
    assert found.cache_elements_per_token == 2 * 2 * K * (d + D)
    assert model(num_kv_shared_layers=2, use_double_wide_mlp=True).parameters - found.parameters == 2 * MLP


def test_a_shared_cache_is_read_by_every_layer_that_uses_it_and_kept_once() -> None:
    context = 100
    found = mansard.analyze(model(num_kv_shared_layers=2), on=H100, context=context)
    assert found.decode is not None
    reads = sum(row.cache_read_bytes for row in found.decode.operators if row.kind == "attention")
    assert reads == 2 * 2 * K * 3 * (d * (W - 1) + D * (context - 1))
    assert found.memory.cache_bytes_per_sequence == 2 * 2 * K * 2 * (d * W + D * max(context, 1024 + 255))


def test_a_prefill_takes_the_last_position_alone_through_layers_without_a_cache() -> None:
    prompt, batch = 50, 3
    shared = mansard.analyze(model(num_kv_shared_layers=2), on=H100, prompt=prompt, batch=batch, output=1).prefill
    down = sum(row.flops for row in shared.operators if row.name == "down_proj")
    assert down == 2 * h * f * batch * (4 * prompt + 2)
    pairs = sum(row.flops for row in shared.operators if row.kind == "attention")
    whole, window = prompt * (prompt + 1) // 2, W * (W + 1) // 2 + (prompt - W) * W
    assert pairs == 4 * H * batch * (2 * d * window + 2 * D * whole + d * W + D * prompt)


def test_behind_a_cached_prefix_the_last_position_reads_what_the_step_has_not_made() -> None:
    cached, prompt = 40, 45
    shared = mansard.analyze(model(num_kv_shared_layers=2), on=H100, prompt=prompt, cached=cached, output=1).prefill
    reads = sum(row.cache_read_bytes for row in shared.operators if row.kind == "attention")
    # Whole layers read the prefix; windows the W - 1 before the first new token, and of the last one all but the new.
    assert reads == 2 * 2 * K * (3 * D * cached + 2 * d * (W - 1) + d * (W - (prompt - cached)))


def test_experts_stand_beside_the_dense_part() -> None:
    experts, chosen, width = 6, 2, 20
    words = {"num_experts": experts, "top_k_experts": chosen, "moe_intermediate_size": width}
    found = model(enable_moe_block=True, **words)
    router = h * experts + h + experts
    assert found.parameters - model().parameters == L * (router + experts * 3 * h * width + 3 * h)
    assert found.parameters - found.parameters_active == L * (experts - chosen) * 3 * h * width


def test_an_input_of_each_layer_s_own() -> None:
    width, rows = 8, 90
    found = model(hidden_size_per_layer_input=width, vocab_size_per_layer_input=rows)
    added = rows * L * width + h * L * width + width + L * (2 * h * width + h)
    assert found.parameters - model().parameters == added
    assert found.parameters - found.parameters_active_no_embedding == rows * L * width
    lookup = next(row for row in mansard.analyze(found, on=H100).decode.operators if row.name == "embedding")  # type: ignore[union-attr]
    assert lookup.weight_bytes == 2 * (h + L * width)


def test_residual_streams_of_gemma_3n() -> None:
    streams, rank, width = 3, 6, 8
    document = DOCUMENT | {
        "model_type": "gemma3n_text", "altup_num_inputs": streams, "laurel_rank": rank, "num_kv_shared_layers": 0,
        "hidden_size_per_layer_input": width, "vocab_size_per_layer_input": 90,
        "intermediate_size": [f + place for place in range(L)], "activation_sparsity_pattern": [0.0] * L,
    }  # fmt: skip
    found = read_config(document, "config.json")
    altup = h * streams + streams**3 + streams**2 + h + h
    layer = attention(d) + NORMS + altup + 2 * h * rank + h + 2 * h * width + h
    widths = sum(3 * h * (f + place) for place in range(L))
    outside = 90 * L * width + h * L * width + width + 2 * (streams - 1) * h * h
    assert found.parameters == OUTER + L * layer + widths + outside
    decode = mansard.analyze(found, on=H100).decode
    assert decode is not None

    def total(name: str, what: str) -> int:
        return sum(int(getattr(row, what)) for row in decode.operators if row.name == name)

    assert total("modality_router", "flops") == L * 2 * 2 * h * streams  # before the layer and after it
    assert total("modality_router", "weight_bytes") == L * 2 * h * streams
    assert total("streams", "vector_flops") == L * ((2 * streams**2 + 4 * streams + 1) * h + 2 * streams)
    assert total("altup_unembed_projection", "flops") == 2 * (streams - 1) * h * h


def test_openelm_grows_with_depth() -> None:
    """OpenELM-270M: its published lists, and the multipliers that they follow from, give the same 271,527,168."""
    words: dict[str, Any] = {
        "model_type": "openelm", "model_dim": 1280, "head_dim": 64, "num_transformer_layers": 16, "vocab_size": 32000,
        "num_gqa_groups": 4, "ffn_dim_divisor": 256, "ffn_multipliers": [0.5, 4.0], "qkv_multipliers": [0.5, 1.0],
        "normalize_qk_projections": True, "share_input_output_layers": True, "max_context_length": 2048,
    }  # fmt: skip
    heads = [12] * 5 + [16] * 7 + [20] * 4
    widths = [int(round(0.5 + 3.5 * place / 15, 2) * 1280 + 128) // 256 * 256 for place in range(16)]
    layers = sum(
        1280 * 64 * (2 * own + own // 2) + 2 * 64 + 3 * 1280 * width + 2 * 1280
        for own, width in zip(heads, widths, strict=True)
    )
    assert layers + 32000 * 1280 + 1280 == 271_527_168
    found = read_config(words, "config.json")
    assert found.parameters == 271_527_168
    assert found.cache_elements_per_token == sum(2 * 64 * own // 4 for own in heads)
    listed = words | {"num_query_heads": heads, "num_kv_heads": [own // 4 for own in heads]}
    assert read_config(listed, "config.json").parameters == 271_527_168


def test_layers_without_attention_or_with_a_matrix_in_its_place() -> None:
    blocks = [
        {"attention": {"n_heads_in_group": 2}, "ffn": {"ffn_mult": 3.0}},
        {"attention": {"no_op": True}, "ffn": {"intermediate_size": 40}},
        {"attention": {"replace_with_linear": True}, "ffn": {"no_op": True}},
        {"attention": {"n_heads_in_group": 4}, "ffn": {"replace_with_linear": True}},
    ]
    words = {"model_type": "nemotron-nas", "hidden_size": h, "num_attention_heads": H, "vocab_size": V}
    found = read_config(words | {"num_hidden_layers": 4, "block_configs": blocks}, "config.json")
    size = h // H
    first = 2 * h * h + 2 * h * 2 * size + 3 * h * 256 + 2 * h  # 2·3·64/3 = 128, rounded up to 256
    second, third = 3 * h * 40 + h, h * h + h
    fourth = 2 * h * h + 2 * h * size + h * h + 2 * h
    assert found.parameters == 2 * V * h + h + first + second + third + fourth
    assert found.cache_elements_per_token == 2 * 2 * size + 2 * size


def test_step_has_more_heads_where_it_sees_less() -> None:
    more = 6
    words = {
        "model_type": "step3p5", "hidden_size": h, "num_hidden_layers": L, "num_attention_heads": H, "head_dim": d,
        "num_key_value_heads": K, "intermediate_size": f, "vocab_size": V, "n_routed_experts": 6, "layer_types": KINDS,
        "num_experts_per_tok": 2, "moe_intermediate_size": 20, "share_expert_dim": 24, "moe_layers_enum": "2,4",
        "sliding_window": W, "attention_other_setting": {"num_attention_heads": more, "num_attention_groups": K},
    }  # fmt: skip
    found = read_config(words, "config.json")
    mixers = [2 * h * own * d + 2 * h * K * d + h * own + 2 * d for own in (H, more)]
    sparse = h * 6 + 6 * 3 * h * 20 + 3 * h * 24
    assert found.parameters == 2 * V * h + h + 3 * sum(mixers) + L * 2 * h + 4 * MLP + 2 * sparse
    assert found.cache_elements_per_token == L * 2 * K * d


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"num_kv_shared_layers": L}, "num_kv_shared_layers"),
        ({"num_kv_shared_layers": L - 1}, "num_kv_shared_layers"),  # leaves whole layers without a cache
        ({"use_bidirectional_attention": "all"}, "use_bidirectional_attention"),
        ({"per_layer_config": {"1": {"head_dim": 24}}}, "per_layer_config"),
        ({"per_layer_config": {"1": {"intermediate_size": 24}}}, "per_layer_config.1.intermediate_size"),
        ({"per_layer_config": {"99": {}}}, "per_layer_config.99"),
        ({"enable_moe_block": True, "top_k_experts": 2, "moe_intermediate_size": 4}, "num_experts"),
    ],
)
def test_what_cannot_be_counted_is_a_fault_of_its_key(changes: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError) as refused:
        model(**changes)
    assert key in [fault.key for fault in refused.value.faults]
