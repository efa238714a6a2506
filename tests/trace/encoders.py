"""Classes that read before they write, or only read: small configurations of each, and what they do on the meta device.

Sizes differ from each other, so that no two of them can be mistaken for one another.
"""

from collections.abc import Iterator
from typing import Any

THREE = {"0": "no", "1": "so", "2": "yes"}
_USUAL = {"hidden_size": 48, "num_attention_heads": 6, "num_hidden_layers": 3, "intermediate_size": 100}
_TEXT = {**_USUAL, "vocab_size": 77, "pad_token_id": 0}
_BERT = {**_TEXT, "max_position_embeddings": 40, "type_vocab_size": 3, "pad_token_id": 1}
_UNTIED, _LABELLED = {"tie_word_embeddings": False}, {"id2label": THREE}
_TASKS = (
    "Model", "ForMaskedLM", "ForSequenceClassification", "ForMultipleChoice", "ForTokenClassification",
    "ForQuestionAnswering",
)  # fmt: skip
_IMAGE = {**_USUAL, "image_size": 70, "patch_size": 16}
_DINO = {**_USUAL, "image_size": 70, "patch_size": 14, "mlp_ratio": 3}
_MODERN = {**_TEXT, "num_hidden_layers": 7, "eos_token_id": 1, "bos_token_id": 2, "cls_token_id": 3, "sep_token_id": 4}
_DISTIL = {"dim": 48, "n_heads": 6, "n_layers": 3, "hidden_dim": 100, "vocab_size": 77, "max_position_embeddings": 40}
_SEEING = {**_USUAL, "image_size": 70, "patch_size": 14}
_READING = {
    "hidden_size": 40, "num_attention_heads": 5, "num_hidden_layers": 2, "intermediate_size": 90, "vocab_size": 77,
    "max_position_embeddings": 19, "bos_token_id": 0, "eos_token_id": 1, "pad_token_id": 2,
}  # fmt: skip
_NAFLEX = {**_USUAL, "patch_size": 14, "num_patches": 49}
_PAIR = {
    "encoder_layers": 3, "decoder_layers": 2, "d_model": 48, "encoder_attention_heads": 4, "decoder_attention_heads": 6,
    "encoder_ffn_dim": 100, "decoder_ffn_dim": 90, "vocab_size": 77, "max_position_embeddings": 33, "pad_token_id": 1,
    "eos_token_id": 2, "bos_token_id": 0, "decoder_start_token_id": 2, "activation_function": "relu",
}  # fmt: skip
_T5 = {
    "d_model": 48, "d_kv": 10, "d_ff": 100, "num_layers": 4, "num_heads": 6, "vocab_size": 77,
    "relative_attention_num_buckets": 16,
}  # fmt: skip
_T5_FEWER = {"num_decoder_layers": 2, "feed_forward_proj": "gated-silu"}
_SOUND = {**_PAIR, "num_mel_bins": 33, "max_source_positions": 41, "max_target_positions": 19}
_BOTH = {"text_config": _READING, "vision_config": _SEEING, "projection_dim": 20}
_WITHOUT_TYPES = {key: value for key, value in _BERT.items() if key != "type_vocab_size"}

# (start of the class's name, ends of it, sizes, changes of them)
_FAMILIES: tuple[tuple[str, tuple[str, ...], dict[str, Any], tuple[dict[str, Any], ...]], ...] = (
    ("Bert", (*_TASKS, "LMHeadModel", "ForPreTraining", "ForNextSentencePrediction"), _BERT, (_UNTIED, _LABELLED)),
    ("Roberta", (*_TASKS, "ForCausalLM"), _BERT, (_UNTIED, _LABELLED)),
    ("XLMRoberta", (*_TASKS, "ForCausalLM"), _BERT, (_UNTIED,)),
    ("Camembert", _TASKS, _BERT, (_UNTIED,)),
    ("DistilBert", _TASKS, _DISTIL, (_UNTIED, {"sinusoidal_pos_embds": True})),
    (
        "Albert", (*_TASKS, "ForPreTraining"), {**_BERT, "embedding_size": 20, "num_hidden_layers": 6},
        ({**_UNTIED, "num_hidden_groups": 4}, {"num_hidden_groups": 2, "inner_group_num": 2}, {"embedding_size": 48}),
    ),
    (
        "Electra", (*_TASKS, "ForPreTraining", "ForCausalLM"), {**_BERT, "embedding_size": 20},
        (_UNTIED, {"embedding_size": 48}),
    ),
    ("MPNet", _TASKS, _WITHOUT_TYPES, ({**_UNTIED, "relative_attention_num_buckets": 16}, _LABELLED)),
    (
        "ModernBert", _TASKS, _MODERN,
        (
            {**_UNTIED, "norm_bias": True, "attention_bias": True},
            {"mlp_bias": True, "classifier_bias": True, "decoder_bias": False, "global_attn_every_n_layers": 2},
        ),
    ),
    (
        "NomicBert", ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification"), _TEXT,
        (_UNTIED, {"type_vocab_size": 0, "head_dim": 10}),
    ),
    (
        "Gte", ("Model", "ForMaskedLM", "ForSequenceClassification", "ForTokenClassification"), _TEXT,
        (_UNTIED, {"type_vocab_size": 0}),
    ),
    (
        "ViT", ("Model", "ForImageClassification"), {**_IMAGE, "num_channels": 4},
        ({"qkv_bias": False, "pooler_output_size": 33, "id2label": THREE},),
    ),
    (
        "DeiT", ("Model", "ForImageClassification", "ForImageClassificationWithTeacher"), _IMAGE,
        ({"qkv_bias": False, "pooler_output_size": 33, "id2label": THREE},),
    ),
    (
        "Dinov2", ("Model", "ForImageClassification"), _DINO,
        ({"use_swiglu_ffn": True, "qkv_bias": False}, {"use_mask_token": False, "id2label": THREE}),
    ),
    (
        "Dinov2WithRegisters", ("Model", "ForImageClassification"), _DINO,
        ({"use_swiglu_ffn": True, "num_register_tokens": 3},),
    ),
    (
        "DINOv3ViT", ("Model",), _IMAGE,
        (
            {"use_gated_mlp": True, "num_register_tokens": 4, "key_bias": True, "mlp_bias": False, "proj_bias": False},
            {"query_bias": False, "value_bias": False},
        ),
    ),
    ("CLIPText", ("Model", "ModelWithProjection"), _READING, ({"projection_dim": 22},)),
    ("CLIPVision", ("Model", "ModelWithProjection"), _SEEING, ({"projection_dim": 22},)),
    ("CLIP", ("Model", "ForImageClassification"), _BOTH, ({"projection_dim": 33, "id2label": THREE},)),
    ("SiglipText", ("Model",), _READING, ({"projection_size": 21},)),
    ("SiglipVision", ("Model",), _SEEING, ({"vision_use_head": False},)),
    (
        "Siglip", ("Model", "ForImageClassification"), _BOTH,
        ({"id2label": THREE, "vision_config": {**_SEEING, "vision_use_head": False}},),
    ),
    ("Siglip2Vision", ("Model",), _NAFLEX, ({"vision_use_head": False},)),
    ("Siglip2", ("Model", "ForImageClassification"), {"text_config": _READING, "vision_config": _NAFLEX}, ()),
    ("T5", ("ForConditionalGeneration", "Model", "EncoderModel", "ForTokenClassification"), _T5, (_T5_FEWER,)),
    ("MT5", ("ForConditionalGeneration", "Model", "EncoderModel"), _T5, (_T5_FEWER,)),
    ("UMT5", ("ForConditionalGeneration", "Model", "EncoderModel"), _T5, (_T5_FEWER,)),
    ("Bart", ("ForConditionalGeneration", "Model", "ForSequenceClassification"), _PAIR, ()),
    ("MBart", ("ForConditionalGeneration", "Model", "ForSequenceClassification"), _PAIR, ()),
    ("Pegasus", ("ForConditionalGeneration", "Model"), _PAIR, ()),
    ("Marian", ("MTModel", "Model"), _PAIR, ({"share_encoder_decoder_embeddings": False, "decoder_vocab_size": 91},)),
    ("M2M100", ("ForConditionalGeneration", "Model"), _PAIR, ()),
    ("Whisper", ("ForConditionalGeneration", "Model"), _SOUND, (_UNTIED,)),
)  # fmt: skip


def variants() -> Iterator[tuple[str, dict[str, Any]]]:
    """Classes with the configurations that they are compared on: the sizes, and each change of them."""
    for start, ends, sizes, changes in _FAMILIES:
        for end in ends:
            for change in ({}, *changes):
                yield start + end, {**sizes, **change}


def defaults() -> Iterator[tuple[str, dict[str, Any]]]:
    """One class of each family by its defaults."""
    for start, ends, _, _ in _FAMILIES:
        yield start + ends[0], {}
