"""What holds for every family in the folder: its fixed names, its sources, a minimal config, and no stray exception."""

import inspect
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mansard import registry
from mansard.errors import InputError
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig

FOLDER = "mansard.architectures"
FAMILIES = registry.names(FOLDER)

# H hidden, N heads, D head size, L layers, V vocabulary, F feed-forward width, P positions, E experts.
H, N, D, L, V, F, P, E = 48, 6, 8, 4, 50, 40, 64, 4
# Every spelling of the same few sizes: a family takes its own and leaves the others.
MINIMAL: dict[str, Any] = (
    dict.fromkeys(("hidden_size", "n_embd", "n_embed", "d_model", "word_embed_proj_dim"), H)
    | dict.fromkeys(("num_attention_heads", "n_head", "num_heads", "n_heads", "num_key_value_heads"), N)
    | dict.fromkeys(("encoder_attention_heads", "decoder_attention_heads"), N)
    | dict.fromkeys(("head_dim", "kv_channels", "qk_nope_head_dim", "v_head_dim", "q_lora_rank", "kv_lora_rank"), D)
    | {"qk_rope_head_dim": D // 2, "index_head_dim": D, "num_kv_shared_layers": 0}
    | {"block_configs": [{"attention": {"n_heads_in_group": 1}, "ffn": {"ffn_mult": 1.0}}] * L}
    | dict.fromkeys(("num_hidden_layers", "n_layer", "num_layers", "n_layers", "encoder_layers", "decoder_layers"), L)
    | dict.fromkeys(("vocab_size", "padded_vocab_size"), V)
    | dict.fromkeys(("intermediate_size", "ffn_dim", "ffn_hidden_size", "moe_intermediate_size"), F)
    | dict.fromkeys(("max_position_embeddings", "n_positions"), P)
    | dict.fromkeys(("num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts"), E)
    | dict.fromkeys(("num_experts_per_tok", "moe_topk", "moe_k"), 2)
    | {
        "attention_types": [[["global", "local"], L // 2]],
        "sliding_window": D,
        "first_k_dense_replace": 1,
        "n_shared_experts": 1,
    }
    # State-space mixers: twice the hidden size in channels.
    | dict.fromkeys(("num_heads", "mamba_n_heads", "mamba_num_heads", "n_mamba_heads"), N)
    | {
        "pad_vocab_size_multiple": 1,
        "expand": N * D / H,
        "n_groups": 2,
        "mamba_d_head": 2 * H // N,
        "mamba_d_ssm": 2 * H,
    }
    | {"moe_layer_start_index": 0, "moe_layer_end_index": L - 1, "torch_dtype": "bfloat16"}
)

_TOWER = {"hidden_size": H, "num_attention_heads": N, "num_hidden_layers": L, "intermediate_size": F, "vocab_size": V}
MINIMAL |= {"text_config": _TOWER, "vision_config": _TOWER}
# What a family cannot do without, and another would read otherwise.
OWN: dict[str, dict[str, Any]] = {
    "lfm2_moe": {"layer_types": ["conv", "full_attention", "conv", "full_attention"]},
    "mllama": {"cross_attention_layers": [1]},
    "nemotron_h": {"hybrid_override_pattern": "ME*-"},
    "zamba2": {"layers_block_type": ["mamba", "hybrid", "mamba", "hybrid"]},
}
# What must go together in another way than in the minimal document.
FITTED: dict[str, dict[str, Any]] = {"mimo_v2_flash": {"num_key_value_heads": N // 2}}
EXTRA_ROWS = {"mllama": 8}  # of the embedding, beside those of the head
# Classes that share the weights of blocks by the same switch, and those that never tie their head.
FIXED_HEADS = {
    "bailing_hybrid": False, "kimi_linear": False, "mllama": False, "nemotron_h": False, "openelm": True, "zamba": True,
    "zamba2": True,
}  # fmt: skip


def read(family: str, document: dict[str, Any]) -> ModelConfig:
    keys = Keys(OWN.get(family, {}) | document | FITTED.get(family, {}), "config.json")
    model: ModelConfig = registry.module(FOLDER, family).read(keys)
    keys.finish()
    return model


def test_the_folder_is_the_registry() -> None:
    assert len(FAMILIES) > 60
    assert "llama" in FAMILIES


@pytest.mark.parametrize("family", FAMILIES)
def test_fixed_names_are_there(family: str) -> None:
    module = registry.module(FOLDER, family)
    for name in ("MODEL_TYPES", "ARCHITECTURES"):
        listed = getattr(module, name)
        assert isinstance(listed, tuple)
        assert listed
        assert all(isinstance(word, str) and word for word in listed)
    assert list(inspect.signature(module.read).parameters) == ["keys"]
    assert module.read.__doc__


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_cites_its_sources(family: str) -> None:
    text = inspect.getdoc(registry.module(FOLDER, family)) or ""
    head, _, sources = text.partition("Sources:")
    assert head.splitlines()[0].endswith(".")
    assert sources.strip().endswith(".")


@pytest.mark.parametrize("names", ["MODEL_TYPES", "ARCHITECTURES"])
def test_a_word_names_one_family_only(names: str) -> None:
    counts = Counter(word for family in FAMILIES for word in getattr(registry.module(FOLDER, family), names))
    assert [word for word, count in counts.items() if count > 1] == []


@pytest.mark.parametrize("family", FAMILIES)
def test_the_file_bears_a_model_type(family: str) -> None:
    assert family in {name.replace("-", "_") for name in registry.module(FOLDER, family).MODEL_TYPES}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_minimal_config_reads(family: str) -> None:
    model = read(family, MINIMAL)
    assert model.hidden_size == H
    assert 0 < model.parameters_active <= model.parameters
    stacks = [model.layers] if model.layers else [encoder.layers for encoder in model.encoders]
    assert {sum(not layer.shared for layer in layers) or len(layers) for layers in stacks} == {L}
    tables = [model.embedding, *(encoder.embedding for encoder in model.encoders)]
    reads_text = model.layers or any(encoder.modality == "text" for encoder in model.encoders)
    rows = V + EXTRA_ROWS.get(family, 0)
    assert {table.vocab_size for table in tables if table and table.vocab_size} == ({rows} if reads_text else set())
    assert (model.cache_elements_per_token + model.state_elements > 0) == bool(model.layers)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_bare_document_is_read_by_defaults_or_refused(family: str) -> None:
    try:
        assert read(family, {}).parameters > 0
    except InputError as error:
        assert all(fault.key for fault in error.faults)


@pytest.mark.parametrize("family", [family for family in FAMILIES if family not in FIXED_HEADS])
def test_untying_the_head_adds_its_matrix(family: str) -> None:
    tied = read(family, MINIMAL | {"tie_word_embeddings": True})
    try:
        untied = read(family, MINIMAL | {"tie_word_embeddings": False})
    except InputError as error:
        assert [fault.key for fault in error.faults] == ["tie_word_embeddings"]
        return
    assert untied.parameters - tied.parameters == V * H * (tied.head is not None)


@pytest.mark.parametrize("family", FIXED_HEADS)
def test_heads_that_are_what_they_are(family: str) -> None:
    model = read(family, MINIMAL)
    assert model.head is not None
    assert model.head.tied is FIXED_HEADS[family]
    try:
        other = read(family, MINIMAL | {"tie_word_embeddings": not FIXED_HEADS[family]})
    except InputError as refused:
        assert [fault.key for fault in refused.faults] == ["tie_word_embeddings"]
    else:
        assert other.parameters == model.parameters


OTHER = (
    "layer_types", "sliding_window_pattern", "use_sliding_window", "max_window_layers", "no_rope_layers", "rotary_dim",
    "rotary_pct", "partial_rotary_factor", "rope_parameters", "attn_config", "tie_word_embeddings", "attention_bias",
    "layers_block_type", "hybrid_override_pattern", "attn_layer_indices", "ssm_cfg", "num_local_experts",
    "model_type", "hidden_act", "expansion_ratio", "text_config", "num_kv_heads", "multi_query", "window_size",
)  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 9) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(OTHER), inner, max_size=3),
    max_leaves=8,
)


@pytest.mark.parametrize("family", FAMILIES)
@settings(max_examples=25)
@given(document=st.dictionaries(st.sampled_from((*MINIMAL, *OTHER)), JUNK, max_size=8))
def test_no_json_value_raises_anything_but_an_input_error(family: str, document: dict[str, Any]) -> None:
    try:
        assert read(family, MINIMAL | document).parameters > 0
    except InputError as error:
        assert error.faults
