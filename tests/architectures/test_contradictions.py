"""A configuration that says more than its family reads: refused where it changes the count, noted where it does not."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from mansard.models import read_config
from mansard.operators.elementwise import ACTIVATION_FLOPS, GELU_FLOPS

H, V, W = 64, 1000, 128
LLAMA: dict[str, Any] = {
    "model_type": "llama", "hidden_size": H, "num_attention_heads": 4, "num_hidden_layers": 2, "intermediate_size": W,
    "vocab_size": V, "tie_word_embeddings": False, "torch_dtype": "bfloat16",
}  # fmt: skip


def refused(**changes: Any) -> str:
    with pytest.raises(InputError) as caught:
        read_config(LLAMA | changes, "config.json")
    return str(caught.value)


def codes(**changes: Any) -> set[str]:
    return {note.code for note in read_config(LLAMA | changes, "config.json").notes}


@pytest.mark.parametrize(
    ("key", "value", "mechanism"),
    [
        ("num_local_experts", 8, "experts"),
        ("n_routed_experts", 64, "experts"),
        ("kv_lora_rank", 512, "a latent cache"),
        ("mamba_d_state", 16, "a recurrent state"),
        ("linear_attn_config", {"kda_layers": [1]}, "a recurrent state"),
        ("index_topk", 2048, "sparse attention"),
        ("num_kv_shared_layers", 15, "share a cache"),
        ("hidden_size_per_layer_input", 256, "embeddings of each layer"),
        ("cross_attention_layers", [3, 8], "cross-attention"),
        ("block_configs", [{}], "shapes of each layer"),
        ("attention_chunk_size", 8192, "chunks"),
    ],
)
def test_a_mechanism_that_the_family_lacks_is_refused(key: str, value: Any, mechanism: str) -> None:
    message = refused(**{key: value})
    assert key in message
    assert mechanism in message


@pytest.mark.parametrize(
    "quiet",
    [{"num_experts": 0}, {"num_local_experts": 1}, {"kv_lora_rank": None}, {"block_configs": []},
     {"add_cross_attention": False}, {"num_kv_shared_layers": 0}, {"layer_types": ["full_attention"] * 2}],
)  # fmt: skip
def test_a_mechanism_that_is_switched_off_is_no_fault(quiet: dict[str, Any]) -> None:
    assert read_config(LLAMA | quiet, "config.json").parameters == read_config(LLAMA, "config.json").parameters


def test_every_contradiction_is_named_at_once() -> None:
    message = refused(num_experts=8, mamba_d_state=16, hidden_act="frobnicate", hidden_size=-1)
    for key in ("num_experts", "mamba_d_state", "hidden_act", "hidden_size"):
        assert key in message


def test_an_alias_of_a_mechanism_that_the_family_has_is_no_fault() -> None:
    document = LLAMA | {"model_type": "qwen3_moe", "num_experts": 8, "num_local_experts": 8, "num_experts_per_tok": 2}
    assert "experts" not in {note.code for note in read_config(document, "config.json").notes}


def test_layers_of_an_unknown_kind_are_refused_and_windows_noted() -> None:
    assert "linear_attention" in refused(layer_types=["full_attention", "linear_attention"])
    assert "ignored-key" in codes(layer_types=["full_attention", "sliding_attention"])
    assert "ignored-key" in codes(sliding_window=16)
    assert "ignored-key" not in codes()


def test_a_window_that_a_flag_switches_off_is_no_news() -> None:
    document = LLAMA | {"model_type": "qwen2", "num_key_value_heads": 4}
    document |= {"sliding_window": 16, "use_sliding_window": False}
    assert "ignored-key" not in {note.code for note in read_config(document, "config.json").notes}


def test_the_activation_is_the_one_that_is_stated() -> None:
    def flops(**changes: Any) -> int:
        kind = read_config(LLAMA | changes, "config.json").layers[0].feed_forward.activation  # type: ignore[union-attr]
        return ACTIVATION_FLOPS.get(kind, GELU_FLOPS)

    assert flops() == flops(hidden_act="silu") == ACTIVATION_FLOPS["silu"]
    assert flops(hidden_act="gelu_pytorch_tanh") == GELU_FLOPS
    assert flops(hidden_act="relu2") == ACTIVATION_FLOPS["relu2"]
    assert "did you mean" in refused(hidden_act="sillu")
    assert "hidden_act" in refused(hidden_act=7)


def test_experts_take_the_stated_activation_too() -> None:
    document = LLAMA | {"model_type": "mixtral", "hidden_act": "relu", "num_key_value_heads": 4}
    parts = {layer.feed_forward.expert.activation for layer in read_config(document, "config.json").layers}  # type: ignore[union-attr]
    assert parts == {"relu"}


def test_a_class_without_a_head_has_none() -> None:
    whole = read_config(LLAMA | {"architectures": ["LlamaForCausalLM"]}, "config.json")
    bare = read_config(LLAMA | {"architectures": ["LlamaModel"]}, "config.json")
    assert whole.parameters - bare.parameters == H * V
    assert "no-head" in {note.code for note in bare.notes}


@pytest.mark.parametrize(
    ("stated", "labels"), [({}, 2), ({"num_labels": 1}, 1), ({"id2label": {"0": "no", "1": "so", "2": "yes"}}, 3)]
)
def test_a_classifier_has_a_product_to_its_labels_for_a_head(stated: dict[str, Any], labels: int) -> None:
    document = LLAMA | {"architectures": ["LlamaForSequenceClassification"]} | stated
    bare = read_config(LLAMA | {"architectures": ["LlamaModel"]}, "config.json")
    model = read_config(document, "config.json")
    assert model.parameters - bare.parameters == H * labels
    assert "classifier" in {note.code for note in model.notes}
    analysis = mansard.analyze(model, on="h100-sxm", prompt=100)
    assert [*analysis.phases] == ["prefill"]  # it makes no tokens
    made = {row.name: row for row in analysis.phases["prefill"].operators}
    assert made["lm_head"].flops == 2 * H * labels


def test_what_embeds_makes_tokens_only_if_asked_to() -> None:
    model = read_config(LLAMA | {"architectures": ["LlamaModel"]}, "config.json")
    assert [*mansard.analyze(model, on="h100-sxm").phases] == ["prefill"]
    assert [*mansard.analyze(model, on="h100-sxm", output=2).phases] == ["prefill", "decode"]


def test_other_heads_are_refused_and_another_class_noted() -> None:
    assert "LlamaForTokenClassification" in refused(architectures=["LlamaForTokenClassification"])
    assert "other-class" in codes(architectures=["MixtralForCausalLM"])
    assert "other-class" not in codes(architectures=["LlamaForCausalLM"])


def test_a_minimax_layer_without_softmax_attention_is_refused() -> None:
    document = LLAMA | {"model_type": "minimax_m2", "attn_type_list": [1, 0]}
    with pytest.raises(InputError, match="attn_type_list"):
        read_config(document, "config.json")
