"""Whatever is done to a configuration, it is read or refused: never another exception, never long."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

import mansard
from mansard.errors import MansardError
from mansard.models import read_config

CONFIGS: list[dict[str, Any]] = [
    {
        "model_type": "llama",
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 100,
        "head_dim": 16,
        "tie_word_embeddings": False,
        "torch_dtype": "float16",
    },
    {
        "model_type": "mixtral",
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "vocab_size": 100,
        "num_local_experts": 8,
        "num_experts_per_tok": 2,
        "sliding_window": None,
    },
    {
        "model_type": "deepseek_v3",
        "hidden_size": 64,
        "intermediate_size": 96,
        "num_hidden_layers": 4,
        "num_attention_heads": 4,
        "vocab_size": 100,
        "q_lora_rank": 24,
        "kv_lora_rank": 16,
        "qk_nope_head_dim": 8,
        "qk_rope_head_dim": 4,
        "v_head_dim": 8,
        "n_routed_experts": 8,
        "num_experts_per_tok": 2,
        "n_shared_experts": 1,
        "moe_intermediate_size": 32,
        "first_k_dense_replace": 1,
        "quantization_config": {"quant_method": "fp8", "weight_block_size": [128, 128]},
    },
    {
        "model_type": "gpt_oss",
        "hidden_size": 64,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "vocab_size": 100,
        "num_local_experts": 8,
        "num_experts_per_tok": 2,
        "sliding_window": 16,
        "layer_types": ["sliding_attention", "full_attention"],
        "quantization_config": {"quant_method": "mxfp4"},
    },
    {
        "model_type": "gemma3",
        "text_config": {
            "model_type": "gemma3_text",
            "hidden_size": 64,
            "intermediate_size": 96,
            "num_hidden_layers": 7,
            "sliding_window": 8,
        },
        "torch_dtype": "bfloat16",
    },
    {
        "model_type": "qwen3_moe",
        "hidden_size": 64,
        "intermediate_size": 96,
        "moe_intermediate_size": 32,
        "num_experts": 4,
        "num_experts_per_tok": 2,
        "num_hidden_layers": 3,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "head_dim": 16,
        "decoder_sparse_step": 1,
        "mlp_only_layers": [1],
        "vocab_size": 100,
    },
]

nonsense = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(10**25), 10**25),
    st.integers(-3, 70),
    st.floats(),
    st.text(max_size=8),
    st.lists(st.one_of(st.integers(-5, 5), st.text(max_size=3), st.none()), max_size=5),
    st.dictionaries(st.text(max_size=5), st.integers(), max_size=3),
)


@st.composite
def mutated(draw: st.DrawFn) -> dict[str, Any]:
    document = dict(draw(st.sampled_from(CONFIGS)))
    place = document
    if isinstance(document.get("text_config"), dict) and draw(st.booleans()):
        place = document["text_config"] = dict(document["text_config"])
    for _ in range(draw(st.integers(1, 4))):
        key = draw(st.sampled_from([*place, "quantization_config", "sliding_window", "layer_types", "head_dim"]))
        if draw(st.booleans()):
            place.pop(key, None)
        else:
            place[key] = draw(nonsense)
    return document


@settings(max_examples=200)
@given(mutated())
def test_a_mutated_config_is_read_or_refused(document: dict[str, Any]) -> None:
    try:
        model = read_config(document, "config.json")
    except MansardError as error:
        assert len(str(error)) < 5000
        return
    assert model.parameters > 0
    assert 0 < model.parameters_active <= model.parameters
    found = mansard.analyze(model, on="h100-sxm", batch=2, prompt=32, output=4)
    assert found.prefill.best_s > 0
    assert found.to_json()


@given(st.recursive(nonsense, lambda inner: st.dictionaries(st.text(max_size=12), inner, max_size=4), max_leaves=8))
def test_any_document_is_read_or_refused(document: Any) -> None:
    if not isinstance(document, dict):
        return
    try:
        read_config(document, "config.json")
    except MansardError:
        return
