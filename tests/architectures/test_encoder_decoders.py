"""Encoder-decoders: tables, stacks, what cross-attention keeps, and how a request runs. Every number by hand."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from mansard.inputs.model import ModelConfig
from mansard.models import read_config

A = 2  # bytes of a weight and of a cache element
# D width, N heads, K size of a head, F width of the part, L layers of the encoder, M of the decoder, V vocabulary, B
# buckets of relative positions.
D, N, K, F, L, M, V, B = 48, 6, 10, 100, 4, 2, 77, 16
INNER = N * K
T5: dict[str, Any] = {
    "model_type": "t5", "d_model": D, "d_kv": K, "d_ff": F, "num_layers": L, "num_decoder_layers": M, "num_heads": N,
    "vocab_size": V, "relative_attention_num_buckets": B, "torch_dtype": "bfloat16",
}  # fmt: skip
ATTENTION, PART = 4 * D * INNER, 2 * D * F
ENCODER = L * (ATTENTION + PART + 2 * D) + D
DECODER = M * (2 * ATTENTION + PART + 3 * D) + D


def read(document: dict[str, Any], name: str | None = None, **changes: Any) -> ModelConfig:
    named = {"architectures": [name]} if name else {}
    return read_config(document | named | changes, "config.json")


def faulty(document: dict[str, Any], **changes: Any) -> set[str]:
    with pytest.raises(InputError) as caught:
        read(document, **changes)
    return {fault.key for fault in caught.value.faults}


# -- T5


def test_t5_has_one_table_of_relative_positions_in_each_stack_and_umt5_one_in_every_layer() -> None:
    t5 = read(T5, "T5ForConditionalGeneration")
    assert t5.parameters == V * D + ENCODER + DECODER + 2 * B * N
    umt5 = read(T5, "UMT5ForConditionalGeneration", model_type="umt5", feed_forward_proj="relu")
    assert umt5.parameters == V * D + ENCODER + DECODER + (L + M) * B * N
    assert t5.parameters_active_no_embedding == t5.parameters  # the head is the table


def test_the_encoder_alone_looks_tokens_up_in_its_own_table() -> None:
    alone = read(T5, "T5EncoderModel")
    assert alone.parameters == V * D + ENCODER + B * N
    assert alone.layers == ()
    assert alone.parameters_active_no_embedding == ENCODER + B * N
    labelled = read(T5, "T5ForTokenClassification", num_labels=3)
    assert labelled.parameters == alone.parameters + 3 * D + 3


@pytest.mark.parametrize("place", ["text_encoder_2.json", "pipeline/text_encoder/config.json", "x--text_encoder.json"])
def test_a_component_of_a_pipeline_without_a_class_is_the_encoder(place: str) -> None:
    model = read_config(T5, place)
    assert model.parameters == V * D + ENCODER + B * N
    assert any("T5EncoderModel" in note.text for note in model.notes)
    assert read_config(T5, "config.json").parameters > model.parameters


@pytest.mark.parametrize(
    ("stated", "gated"),
    [
        ({"feed_forward_proj": "relu"}, False),
        ({"feed_forward_proj": "gated-gelu"}, True),
        ({"is_gated_act": True, "dense_act_fn": "gelu_new"}, True),
        ({"feed_forward_proj": "gated-gelu", "is_gated_act": True, "dense_act_fn": "gelu_new"}, True),
    ],
)
def test_a_gate_is_a_third_matrix(stated: dict[str, Any], gated: bool) -> None:
    plain = read(T5, "T5EncoderModel").parameters
    assert read(T5, "T5EncoderModel", **stated).parameters == plain + L * D * F * gated


def test_an_untied_head_is_counted_as_the_checkpoints_hold_it() -> None:
    tied, untied = (read(T5, "T5ForConditionalGeneration", tie_word_embeddings=flag) for flag in (True, False))
    assert untied.parameters - tied.parameters == V * D
    assert "untied-head" in {note.code for note in untied.notes}
    # Flan-T5 base and XL, whose checkpoints hold as many: sizes of arXiv:2210.11416 and of T5 1.1.
    shape = {"model_type": "t5", "architectures": ["T5ForConditionalGeneration"], "feed_forward_proj": "gated-gelu"}
    base = shape | {"d_model": 768, "d_ff": 2048, "num_layers": 12, "num_heads": 12, "tie_word_embeddings": False}
    assert read(base).parameters == 247_577_856
    large = shape | {"d_model": 2048, "d_ff": 5120, "num_layers": 24, "num_heads": 32, "tie_word_embeddings": False}
    assert read(large).parameters == 2_849_757_184


def test_a_request_reads_then_writes() -> None:
    prompt, output = 30, 5
    analysis = mansard.analyze(read(T5, "T5ForConditionalGeneration"), on="h100-sxm", prompt=prompt, output=output)
    assert [*analysis.phases] == ["encode", "prefill", "decode"]
    encode, prefill, decode = analysis.phases.values()
    assert encode.tokens == prompt
    assert sum(row.flops for row in encode.operators if row.name == "attention") == L * 4 * prompt**2 * INNER
    written = [row for row in encode.operators if row.name.startswith("cross_")]
    assert sum(row.flops for row in written) == M * 2 * prompt * 2 * D * INNER
    assert sum(row.cache_write_bytes for row in written) == M * prompt * 2 * INNER * A
    assert prefill.tokens == 1
    made = {row.name: row for row in decode.operators}
    across = [
        row for row in decode.operators if row.name == "cross_attention"
    ]  # the first layer has a table, and a row
    assert sum(row.flops for row in across) == M * 4 * prompt * INNER
    assert sum(row.cache_read_bytes for row in across) == M * prompt * 2 * INNER * A
    assert made["lm_head"].flops == 2 * D * V
    own = M * output * 2 * INNER * A  # the token that it begins with, and all but the last that it makes
    assert analysis.memory.cache_bytes == own + M * prompt * 2 * INNER * A


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"feed_forward_proj": "twice-gelu"}, "feed_forward_proj"),
        ({"architectures": ["T5ForQuestionAnswering"]}, "architectures"),
        ({"pruned_heads": {"1": [0]}}, "pruned_heads"),
        ({"num_experts": 8}, "num_experts"),
    ],
)
def test_what_t5_does_not_have_is_refused(changes: dict[str, Any], key: str) -> None:
    assert faulty(T5, **changes) == {key}


# -- BART and its kin

W, E_HEADS, D_HEADS, EF, DF, P = 48, 4, 6, 100, 90, 33
BART: dict[str, Any] = {
    "model_type": "bart", "d_model": W, "encoder_layers": L, "decoder_layers": M, "encoder_attention_heads": E_HEADS,
    "decoder_attention_heads": D_HEADS, "encoder_ffn_dim": EF, "decoder_ffn_dim": DF, "vocab_size": V,
    "max_position_embeddings": P, "torch_dtype": "bfloat16",
}  # fmt: skip
NORM = 2 * W
HEADS = 4 * (W * W + W)
STACKS = (
    L * (HEADS + 2 * W * EF + EF + W + 2 * NORM)  # the encoder's layers
    + M * (2 * HEADS + 2 * W * DF + DF + W + 3 * NORM)
)


@pytest.mark.parametrize(
    ("family", "name", "tables", "norms"),
    [
        ("bart", "BartForConditionalGeneration", 2 * (P + 2) * W, 2),
        ("mbart", "MBartForConditionalGeneration", 2 * (P + 2) * W, 4),
        ("pegasus", "PegasusForConditionalGeneration", 2 * P * W, 2),
        ("marian", "MarianMTModel", 2 * P * W, 0),
        ("m2m_100", "M2M100ForConditionalGeneration", 0, 2),
    ],
)
def test_families_differ_in_positions_and_norms(family: str, name: str, tables: int, norms: int) -> None:
    model = read(BART, name, model_type=family)
    assert model.parameters == V * W + STACKS + tables + norms * NORM
    assert model.cache_elements_per_token == M * 2 * W
    assert model.source_elements_per_token == M * 2 * W
    assert model.start_tokens == 1
    assert faulty(BART, model_type=family, tie_word_embeddings=False) == {"tie_word_embeddings"}


def test_marian_may_have_a_table_for_each_side() -> None:
    stated = {"model_type": "marian", "share_encoder_decoder_embeddings": False, "decoder_vocab_size": V + 9}
    together, apart = read(BART, "MarianMTModel", model_type="marian"), read(BART, "MarianMTModel", **stated)
    assert apart.parameters - together.parameters == (V + 9) * W
    assert apart.head is not None
    assert apart.head.vocab_size == V + 9


def test_a_classifier_on_bart_runs_both_stacks_once() -> None:
    bare, model = read(BART, "BartModel"), read(BART, "BartForSequenceClassification")
    assert model.parameters - bare.parameters == W * W + W + 3 * W + 3
    analysis = mansard.analyze(model, on="h100-sxm", prompt=20)
    assert [*analysis.phases] == ["encode", "prefill"]
    made = {row.name: row for row in analysis.phases["prefill"].operators}
    assert made["project_out"].flops == 2 * W * W
    assert made["lm_head"].flops == 2 * W * 3


# -- Whisper

LARGE = {
    "model_type": "whisper", "architectures": ["WhisperForConditionalGeneration"], "d_model": 1280,
    "encoder_layers": 32, "decoder_layers": 32, "encoder_attention_heads": 20, "decoder_attention_heads": 20,
    "encoder_ffn_dim": 5120, "decoder_ffn_dim": 5120, "num_mel_bins": 128, "vocab_size": 51866,
    "torch_dtype": "bfloat16",
}  # fmt: skip


def test_whisper_large_v3_has_the_parameters_that_it_is_known_by() -> None:
    w, f, layers, words = 1280, 5120, 32, 51866
    heads = 4 * w * w + 3 * w  # keys have no bias
    part, norm = 2 * w * f + f + w, 2 * w
    front = 3 * 128 * w + w + 3 * w * w + w + 1500 * w
    encoder = front + layers * (heads + part + 2 * norm) + norm
    decoder = words * w + 448 * w + layers * (2 * heads + part + 3 * norm) + norm
    assert read(LARGE).parameters == encoder + decoder == 1_543_490_560


def test_whisper_large_v3_is_row_16_of_the_counting_rules() -> None:
    analysis = mansard.analyze(read(LARGE), on="h100-sxm")
    encode = {row.name: row for row in analysis.phases["encode"].operators}
    total = analysis.phases["encode"].flops - encode["cross_kv_proj"].flops
    assert encode["conv1"].flops + encode["conv2"].flops == 17_694_720_000
    assert total == 2_273_771_520_000
    assert encode["cross_kv_proj"].flops == 314_572_800_000
    read_again = {row.name: row for row in analysis.phases["decode"].operators}["cross_attention"]
    assert read_again.cache_read_bytes == 245_760_000


def test_sound_is_read_in_windows_and_the_decoder_begins_with_what_is_forced() -> None:
    half = read(LARGE, max_source_positions=750)
    assert mansard.analyze(half, on="h100-sxm", seconds=16.0).phases["encode"].tokens == 2 * 750
    assert read(LARGE).start_tokens == 4
    assert read(LARGE, forced_decoder_ids=[[1, 50259], [2, 50359]]).start_tokens == 3
    assert faulty(LARGE, forced_decoder_ids="none") == {"forced_decoder_ids"}
    assert "architectures" in faulty(LARGE, architectures=["WhisperForAudioClassification"])
