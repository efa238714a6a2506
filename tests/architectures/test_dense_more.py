"""Dense families beside Llama's: counts derived by hand from each class's shapes, their layers, and faults."""

from importlib import import_module
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from mansard.errors import InputError
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

# H hidden, N query heads, K key/value heads, D head size, V vocabulary, L layers, F feed-forward width.
H, N, K, D, V, L, F = 48, 6, 2, 8, 50, 4, 40
BASE: dict[str, Any] = {
    "hidden_size": H, "num_attention_heads": N, "num_key_value_heads": K, "head_dim": D, "vocab_size": V,
    "num_hidden_layers": L, "intermediate_size": F, "tie_word_embeddings": False,
}  # fmt: skip
MATRICES = H * N * D + 2 * H * K * D + N * D * H
EQUAL = 4 * H * N * D  # as many key/value heads as query heads
QKV_BIAS = N * D + 2 * K * D
SWIGLU, UNGATED = 3 * H * F, 2 * H * F
HEAD_NORMS = 2 * D
PLAIN = MATRICES + SWIGLU + 2 * H
ENDS = 2 * V * H + H  # embedding, head, final norm

CHATGLM: dict[str, Any] = {
    "hidden_size": H, "num_attention_heads": N, "multi_query_attention": True, "multi_query_group_num": K,
    "kv_channels": D, "ffn_hidden_size": F, "padded_vocab_size": V, "num_layers": L, "add_qkv_bias": True,
}  # fmt: skip
QWEN = BASE | {"kv_channels": D, "intermediate_size": 2 * F}

# Family, what differs from the base, parameters of one layer.
LAYERS: tuple[tuple[str, dict[str, Any], int], ...] = (
    ("cohere", {}, MATRICES + SWIGLU + H),
    ("cohere", {"attention_bias": True}, MATRICES + SWIGLU + H + QKV_BIAS + H),
    ("cohere", {"use_qk_norm": True}, MATRICES + SWIGLU + H + N * D + K * D),
    ("cohere2", {}, MATRICES + SWIGLU + H),
    ("glm", {}, PLAIN + QKV_BIAS),
    ("glm", {"attention_bias": False}, PLAIN),
    ("glm4", {}, PLAIN + QKV_BIAS + 2 * H),
    ("glm4", {"attention_bias": False}, PLAIN + 2 * H),
    ("baichuan", {"num_key_value_heads": None}, EQUAL + SWIGLU + 2 * H),
    ("internlm", {"num_key_value_heads": None}, EQUAL + SWIGLU + 2 * H + 3 * N * D + H),
    ("internlm2", {"bias": False}, PLAIN),
    ("internlm2", {}, PLAIN + QKV_BIAS + H),
    ("internlm3", {}, PLAIN),
    ("internlm3", {"qkv_bias": True}, PLAIN + QKV_BIAS),
    ("internlm3", {"bias": True}, PLAIN + H + 2 * F + H),
    ("minicpm", {}, PLAIN),
    ("exaone4", {}, PLAIN + HEAD_NORMS),
    ("seed_oss", {}, PLAIN + QKV_BIAS),
    ("seed_oss", {"attention_bias": False, "attention_out_bias": True}, PLAIN + H),
    ("hunyuan_v1_dense", {}, PLAIN + HEAD_NORMS),
    ("ernie4_5", {}, PLAIN),
    ("ernie4_5", {"use_bias": True}, PLAIN + QKV_BIAS + H + 2 * F + H),
    ("helium", {"attention_bias": True}, PLAIN + QKV_BIAS),
    ("apertus", {}, MATRICES + UNGATED + 2 * H + HEAD_NORMS + 2),
    ("apertus", {"hidden_act": "silu"}, MATRICES + UNGATED + 2 * H + HEAD_NORMS),
    ("arcee", {}, MATRICES + UNGATED + 2 * H),
    ("arcee", {"mlp_bias": True}, MATRICES + UNGATED + 2 * H + F + H),
    ("smollm3", {}, PLAIN),
    ("smollm3", {"attention_bias": True}, PLAIN + QKV_BIAS + H),
)
TIED = ("cohere", "cohere2", "ernie4_5", "minicpm", "smollm3")
FAMILIES = (*dict.fromkeys(family for family, _, _ in LAYERS), "chatglm", "nanochat", "nemotron", "qwen")


def read(family: str, document: dict[str, Any]) -> ModelConfig:
    keys = Keys(document, "config.json")
    model: ModelConfig = import_module(f"mansard.architectures.{family}").read(keys)
    keys.finish()
    return model


def faulty_keys(family: str, document: dict[str, Any]) -> set[str]:
    with pytest.raises(InputError) as caught:
        read(family, document)
    return {fault.key for fault in caught.value.faults}


def mixers(model: ModelConfig) -> list[Attention]:
    found = [layer.mixer for layer in model.layers if isinstance(layer.mixer, Attention)]
    assert len(found) == len(model.layers)
    return found


def windows(model: ModelConfig) -> list[int | None]:
    return [mixer.window for mixer in mixers(model)]


def rotated(model: ModelConfig) -> list[int]:
    return [mixer.rotary_dim for mixer in mixers(model)]


@pytest.mark.parametrize(("family", "changes", "layer"), LAYERS)
def test_parameters_of_one_layer(family: str, changes: dict[str, Any], layer: int) -> None:
    assert read(family, BASE | changes).parameters == L * layer + ENDS


@pytest.mark.parametrize("family", sorted({family for family, _, _ in LAYERS}))
def test_head_is_tied_where_the_class_says_so(family: str) -> None:
    head = read(family, {key: value for key, value in BASE.items() if key != "tie_word_embeddings"}).head
    assert head is not None
    assert head.tied == (family in TIED)


def test_norms_without_parameters() -> None:
    assert read("nanochat", BASE).parameters == L * (MATRICES + UNGATED) + 2 * V * H


def test_layer_norms_with_biases() -> None:
    assert read("nemotron", BASE).parameters == L * (MATRICES + UNGATED + 4 * H) + 2 * V * H + 2 * H


def test_gate_and_up_share_the_stated_width() -> None:
    layer = EQUAL + SWIGLU + 2 * H + 3 * N * D
    assert read("qwen", QWEN).parameters == L * layer + ENDS
    assert read("qwen", QWEN | {"no_bias": False}).parameters == L * (layer + H + 2 * F + H) + ENDS


def test_chatglm_has_keys_of_its_own() -> None:
    model = read("chatglm", CHATGLM)
    assert model.parameters == L * (PLAIN + QKV_BIAS) + ENDS
    assert rotated(model) == [D // 2] * L
    equal = read("chatglm", CHATGLM | {"multi_query_attention": False, "add_qkv_bias": False})
    assert equal.parameters == L * (EQUAL + SWIGLU + 2 * H) + ENDS


def test_chatglm_does_not_note_a_vocabulary_that_is_stated() -> None:
    keys = Keys(CHATGLM, "config.json")
    import_module("mansard.architectures.chatglm").read(keys)
    assert not [note for note in keys.notes if "vocab_size" in note.text]


def test_parallel_layers_read_one_norm() -> None:
    assert all(layer.parallel and len(layer.norms) == 1 for layer in read("cohere", BASE).layers)


def test_only_windowed_layers_are_rotated() -> None:
    for family in ("cohere2", "exaone4"):
        model = read(family, BASE | {"sliding_window": 16})
        assert windows(model) == [16, 16, 16, None]
        assert rotated(model) == [D, D, D, 0]
        assert windows(read(family, BASE | {"sliding_window": 16, "sliding_window_pattern": 2})) == [16, None] * 2


def test_listed_layer_types_win_over_the_pattern() -> None:
    kinds = ["full_attention", "sliding_attention"] * 2
    assert windows(read("cohere2", BASE | {"layer_types": kinds, "sliding_window": 16})) == [None, 16] * 2


def test_without_a_window_all_layers_are_rotated() -> None:
    model = read("exaone4", BASE | {"sliding_window": None})
    assert (windows(model), rotated(model)) == ([None] * L, [D] * L)


def test_cohere_2_takes_a_head_size_that_is_stated() -> None:
    assert {mixer.head_dim for mixer in mixers(read("cohere2", BASE | {"head_dim": 64}))} == {64}
    assert {mixer.head_dim for mixer in mixers(read("cohere2", BASE | {"head_dim": None}))} == {H // N}


def test_every_fourth_layer_is_not_rotated() -> None:
    assert rotated(read("smollm3", BASE)) == [D, D, D, 0]
    assert rotated(read("smollm3", BASE | {"no_rope_layers": [0, 1, 0, 1]})) == [0, D, 0, D]


def test_windows_are_where_nothing_is_rotated() -> None:
    assert windows(read("smollm3", BASE | {"use_sliding_window": True, "sliding_window": 16})) == [None] * 3 + [16]
    assert windows(read("smollm3", BASE | {"sliding_window": 16})) == [None] * L


def test_half_of_each_head_is_rotated() -> None:
    for family in ("glm", "glm4", "nemotron"):
        assert rotated(read(family, BASE)) == [D // 2] * L
        assert rotated(read(family, BASE | {"partial_rotary_factor": 0.25})) == [D // 4] * L
        both = {"partial_rotary_factor": 0.25, "rope_parameters": {"partial_rotary_factor": 1.0}}
        assert rotated(read(family, BASE | both)) == [D] * L


def test_alibi_where_only_the_model_length_is_stated() -> None:
    document = BASE | {"num_key_value_heads": None}
    long = read("baichuan", document | {"model_max_length": 4096})
    assert rotated(long) == [0] * L
    assert long.max_position_embeddings == 4096
    both = document | {"model_max_length": 4096, "max_position_embeddings": 4096}
    assert rotated(read("baichuan", both)) == [D] * L
    assert rotated(read("baichuan", document | {"num_hidden_layers": 40})) == [0] * 40


def test_the_square_output_of_helium_is_checked() -> None:
    assert faulty_keys("helium", BASE | {"head_dim": 2 * D}) == {"head_dim"}


def test_nanochat_has_a_key_head_for_each_query_head() -> None:
    assert {mixer.kv_heads for mixer in mixers(read("nanochat", BASE | {"num_key_value_heads": None}))} == {N}


@pytest.mark.parametrize("family", FAMILIES)
def test_a_bad_value_is_a_fault_at_its_key(family: str) -> None:
    base = CHATGLM if family == "chatglm" else QWEN if family == "qwen" else BASE
    assert faulty_keys(family, base | {"hidden_size": "wide"}) >= {"hidden_size"}
    assert faulty_keys(family, base | {"num_attention_heads": 0}) >= {"num_attention_heads"}


JUNK = st.one_of(st.none(), st.booleans(), st.integers(-2, 99), st.floats(), st.text(max_size=3), st.lists(st.none()))
NAMES = (
    *BASE, *CHATGLM, "attention_bias", "bias", "layer_types", "mlp_bias", "model_max_length", "no_bias",
    "no_rope_layer_interval", "no_rope_layers", "partial_rotary_factor", "rope_parameters", "seq_length",
    "sliding_window", "sliding_window_pattern", "use_qk_norm", "use_sliding_window",
)  # fmt: skip


@given(family=st.sampled_from(FAMILIES), changes=st.dictionaries(st.sampled_from(NAMES), JUNK, max_size=4))
def test_junk_is_read_or_refused(family: str, changes: dict[str, Any]) -> None:
    try:
        assert read(family, BASE | CHATGLM | changes).parameters > 0
    except InputError as error:
        assert error.faults
