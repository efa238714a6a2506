"""Encoders alone: what each family and each class of it counts, derived by hand from named sizes."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from mansard.inputs.mechanisms import FeedForward
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig
from mansard.models import read_config
from mansard.operators.step import pairs_both_ways
from mansard.records import Phase

# H hidden, N heads, L layers, F width of the part, V vocabulary, P positions, Y token types, E width of narrow tables,
# C labels.
H, N, L, F, V, P, Y, E, C = 48, 6, 3, 100, 77, 40, 3, 20, 5
A = 2  # bytes of a weight
NORM = 2 * H
LAYER = 4 * (H * H + H) + H * F + F + F * H + H + 2 * NORM
TABLES = (V + P + Y) * H + NORM
POOLER = H * H + H
LABELS = {"id2label": {str(index): str(index) for index in range(C)}}
BERT: dict[str, Any] = {
    "model_type": "bert", "hidden_size": H, "num_attention_heads": N, "num_hidden_layers": L, "intermediate_size": F,
    "vocab_size": V, "max_position_embeddings": P, "type_vocab_size": Y, "torch_dtype": "bfloat16",
}  # fmt: skip


def read(document: dict[str, Any], **changes: Any) -> ModelConfig:
    return read_config(document | changes, "config.json")


def of(name: str, document: dict[str, Any] = BERT, **changes: Any) -> ModelConfig:
    return read(document, architectures=[name], **changes)


def faulty(document: dict[str, Any], **changes: Any) -> set[str]:
    with pytest.raises(InputError) as caught:
        read(document, **changes)
    return {fault.key for fault in caught.value.faults}


def encode(model: ModelConfig, **words: Any) -> Phase:
    return mansard.analyze(model, on="h100-sxm", **words).phases["encode"]


def flops(phase: Phase, *names: str) -> float:
    return sum(row.flops for row in phase.operators if row.name in names)


# -- BERT and its classes

MASKED = H * H + H + NORM + V  # the table itself is the embedding's


@pytest.mark.parametrize(
    ("name", "behind"),
    [
        ("BertModel", POOLER),
        ("BertForMaskedLM", MASKED),
        ("BertForPreTraining", POOLER + MASKED + 2 * H + 2),
        ("BertForNextSentencePrediction", POOLER + 2 * H + 2),
        ("BertForSequenceClassification", POOLER + C * H + C),
        ("BertForMultipleChoice", POOLER + H + 1),
        ("BertForTokenClassification", C * H + C),
    ],
)
def test_each_class_has_its_own_ends(name: str, behind: int) -> None:
    model = of(name, **LABELS)
    assert model.parameters == TABLES + L * LAYER + behind
    assert model.layers == ()
    assert model.head is None
    assert model.cache_elements_per_token == 0
    assert model.max_position_embeddings == P


def test_what_is_looked_up_is_left_out_unless_a_head_is_tied_to_it() -> None:
    bare, masked = of("BertModel"), of("BertForMaskedLM")
    assert bare.parameters - bare.parameters_active_no_embedding == V * H
    assert masked.parameters_active_no_embedding == masked.parameters


def test_an_untied_head_has_a_table_and_its_bias_twice() -> None:
    tied, untied = (of("BertForMaskedLM", tie_word_embeddings=flag) for flag in (True, False))
    assert untied.parameters - tied.parameters == V * H + V
    for family in ("distilbert", "electra"):
        name = {"distilbert": "DistilBertForMaskedLM", "electra": "ElectraForMaskedLM"}[family]
        document = BERT | {"model_type": family, "dim": H, "n_heads": N, "embedding_size": H}
        tied, untied = (of(name, document, tie_word_embeddings=flag) for flag in (True, False))
        assert untied.parameters - tied.parameters == V * H


def test_a_pooler_sees_one_token_and_a_head_over_the_vocabulary_all() -> None:
    tokens, batch = 32, 4
    pooled = encode(of("BertModel"), prompt=tokens, batch=batch)
    assert flops(pooled, "pooler") == batch * 2 * H * H
    masked = encode(of("BertForMaskedLM"), prompt=tokens, batch=batch)
    assert flops(masked, "head_transform") == batch * tokens * 2 * H * H
    assert flops(masked, "lm_head") == batch * tokens * 2 * H * V
    assert flops(masked, "attention") == batch * L * 4 * tokens**2 * H
    assert masked.tokens == batch * tokens
    # A tied table is stored once, and read for the head beside the rows that are looked up.
    read_rows = batch * tokens * 3 * H
    assert masked.bytes.weights == A * (L * LAYER + MASKED + V * H + NORM + read_rows)


def test_without_a_class_the_base_is_counted_and_noted() -> None:
    model = read(BERT)
    assert model.parameters == of("BertModel").parameters
    assert any("BertModel is counted" in note.text for note in model.notes)
    assert not any("BertModel" in note.text for note in of("BertModel").notes)


@pytest.mark.parametrize(
    ("changes", "key"),
    [
        ({"architectures": ["BertForSomething"]}, "architectures"),
        ({"is_decoder": True}, "is_decoder"),
        ({"add_cross_attention": True}, "add_cross_attention"),
        ({"position_embedding_type": "relative_key"}, "position_embedding_type"),
        ({"pruned_heads": {"0": [1]}}, "pruned_heads"),
        ({"hidden_act": "gulp"}, "hidden_act"),
        ({"num_experts": 8}, "num_experts"),
        ({"num_attention_heads": 5}, "num_attention_heads"),
        ({"architectures": ["BertForTokenClassification"], "id2label": []}, "id2label"),
        ({"architectures": ["BertForTokenClassification"], "num_labels": 0}, "num_labels"),
    ],
)
def test_what_is_not_understood_is_refused_once_and_by_name(changes: dict[str, Any], key: str) -> None:
    assert faulty(BERT, **changes) == {key}


def test_near_names_of_classes_are_suggested() -> None:
    with pytest.raises(InputError, match="BertForMaskedLM"):
        of("BertForMaskLM")


def test_roberta_has_two_positions_that_no_token_has() -> None:
    document = BERT | {"model_type": "xlm-roberta"}
    model = of("XLMRobertaModel", document)
    assert model.parameters == TABLES + L * LAYER + POOLER
    assert model.max_position_embeddings == P - 2
    classifier = of("XLMRobertaForSequenceClassification", document, num_labels=1)
    assert classifier.parameters == TABLES + L * LAYER + POOLER + H + 1  # a product of its own instead of the pooler
    assert encode(model).tokens == P - 2  # as many as it can read, where no length is given


def test_distilbert_has_neither_types_nor_a_pooler() -> None:
    document = {
        "model_type": "distilbert", "dim": H, "n_heads": N, "n_layers": L, "hidden_dim": F, "vocab_size": V,
        "max_position_embeddings": P,
    }  # fmt: skip
    assert of("DistilBertModel", document).parameters == TABLES - Y * H + L * LAYER
    classifier = of("DistilBertForSequenceClassification", document)
    assert classifier.parameters == TABLES - Y * H + L * LAYER + POOLER + 2 * H + 2


def test_albert_stores_its_layers_once_and_reads_them_each_time() -> None:
    document = BERT | {"model_type": "albert", "embedding_size": E}
    tables = (V + P + Y) * E + 2 * E + E * H + H
    one = of("AlbertModel", document)
    assert one.parameters == tables + LAYER + POOLER
    two = of("AlbertModel", document, num_hidden_layers=4, num_hidden_groups=2)
    assert two.parameters == tables + 2 * LAYER + POOLER
    analysis = mansard.analyze(one, on="h100-sxm", prompt=16)
    assert analysis.memory.weights_bytes == A * one.parameters
    assert flops(analysis.phases["encode"], "attention") == L * 4 * 16**2 * H
    rows = 16 * 3 * E
    assert analysis.phases["encode"].bytes.weights == A * (L * LAYER + POOLER + 2 * E + E * H + H + rows)
    assert "num_hidden_groups" in faulty(document, num_hidden_groups=L + 1)
    # Six places and four groups: 0, 0, 1, 2, 2, 3.
    places = of("AlbertModel", document, num_hidden_layers=6, num_hidden_groups=4).encoders[0].layers
    assert [layer.shared.split()[1] for layer in places] == ["0,", "0,", "1,", "2,", "2,", "3,"]


def test_electra_leads_from_narrow_tables_and_judges_every_token() -> None:
    document = BERT | {"model_type": "electra", "embedding_size": E}
    tables = (V + P + Y) * E + 2 * E + E * H + H
    assert of("ElectraModel", document).parameters == tables + L * LAYER
    judge = of("ElectraForPreTraining", document)
    assert judge.parameters == tables + L * LAYER + H * H + H + H + 1
    assert flops(encode(judge, prompt=16), "head_dense", "token_classifier") == 16 * 2 * (H * H + H)
    assert faulty(document, summary_use_proj=False) == {"summary_use_proj"}


def test_mpnet_has_one_table_of_relative_positions() -> None:
    document = BERT | {"model_type": "mpnet", "relative_attention_num_buckets": 16}
    assert of("MPNetModel", document).parameters == TABLES - Y * H + L * LAYER + POOLER + 16 * N


# -- rotary positions and gated parts


def test_modernbert_sees_both_ways_within_windows_in_two_layers_of_three() -> None:
    document = BERT | {"model_type": "modernbert", "num_hidden_layers": 7, "local_attention": 8}
    model = of("ModernBertModel", document)
    layer = 4 * H * H + 3 * H * F + 2 * H
    assert model.parameters == V * H + H + 7 * layer - H + H  # the first layer has one norm, and one is the last
    windows = [layer.mixer.window for layer in model.encoders[0].layers if isinstance(layer.mixer, Attention)]
    assert windows == [None, 9, 9, None, 9, 9, None]
    tokens = 30
    # A token sees four on each side: 9 in the middle, fewer at the ends.
    near = sum(min(tokens, place + 5) - max(0, place - 4) for place in range(tokens))
    assert pairs_both_ways(tokens, window=9) == near
    assert flops(encode(model, prompt=tokens), "attention") == 4 * H * (3 * tokens**2 + 4 * near)


def test_nomic_is_read_by_its_own_names_too() -> None:
    by_class = BERT | {"model_type": "nomic_bert"}
    own = {
        "model_type": "nomic_bert", "n_embd": H, "n_head": N, "n_layer": L, "n_inner": F, "n_positions": 64,
        "vocab_size": V, "type_vocab_size": Y, "activation_function": "swiglu", "prenorm": False,
        "torch_dtype": "bfloat16",
    }  # fmt: skip
    layer = 4 * H * H + 3 * H * F + 2 * NORM
    expected = (V + Y) * H + NORM + L * layer
    for document in (by_class, own):
        assert of("NomicBertModel", document).parameters == expected
    biased = of("NomicBertModel", own, qkv_proj_bias=True, mlp_fc1_bias=True, mlp_fc2_bias=True)
    assert biased.parameters == expected + L * (4 * H + 2 * F + H)
    for key, value in (("use_rms_norm", True), ("parallel_block", True), ("num_experts", 8), ("mlp_fc2_bias", True),
                       ("activation_function", "gelu"), ("rotary_emb_fraction", 0)):  # fmt: skip
        assert faulty(own, **{key: value}) == {key}


def test_gte_has_biases_in_attention_and_behind_the_gate() -> None:
    document = BERT | {"model_type": "new", "type_vocab_size": 0}
    layer = 4 * (H * H + H) + 3 * H * F + H + 2 * NORM
    assert of("NewModel", document).parameters == V * H + NORM + L * layer
    assert of("NewForSequenceClassification", document).parameters == V * H + NORM + L * layer + POOLER + 2 * H + 2
    assert faulty(document, position_embedding_type="absolute") == {"position_embedding_type"}
    # gte-base-en-v1.5 and gte-multilingual-base, whose checkpoints hold as many.
    base = {"model_type": "new", "architectures": ["NewModel"]}
    assert read(base, vocab_size=30528, type_vocab_size=0).parameters == 136_776_192
    assert read(base).parameters == 305_368_320


# -- images

SIDE, PATCH, CHANNELS = 70, 16, 3
SQUARES = (SIDE // PATCH) ** 2
VIT = BERT | {"model_type": "vit", "image_size": SIDE, "patch_size": PATCH}
SEEN = CHANNELS * PATCH**2 * H + H


def test_vit_has_a_class_token_before_the_squares() -> None:
    model = of("ViTModel", VIT)
    assert model.parameters == SEEN + H + (SQUARES + 1) * H + L * LAYER + NORM + POOLER
    classifier = of("ViTForImageClassification", VIT, **LABELS)
    assert classifier.parameters == model.parameters - POOLER + C * H + C
    phase = encode(model, images=3)
    assert phase.tokens == 3 * (SQUARES + 1)
    assert flops(phase, "patch_embedding") == 3 * 2 * SQUARES * CHANNELS * PATCH**2 * H
    assert flops(phase, "attention") == 3 * L * 4 * (SQUARES + 1) ** 2 * H
    assert faulty(VIT, patch_size=SIDE + 1) == {"patch_size"}
    assert faulty(VIT, image_size=[70, 84]) == {"image_size"}


def test_vit_base_is_row_20_of_the_counting_rules() -> None:
    document = {"model_type": "vit", "torch_dtype": "bfloat16", "num_labels": 1}
    phase = encode(of("ViTForImageClassification", document))
    assert phase.flops == 35_126_120_448 + 2 * 768
    assert phase.bound == "memory"


def test_deit_has_a_second_token_and_with_its_teacher_a_second_classifier() -> None:
    document = VIT | {"model_type": "deit"}
    plain = of("DeiTForImageClassification", document)
    assert plain.parameters == SEEN + 2 * H + (SQUARES + 2) * H + L * LAYER + NORM + 2 * H + 2
    both = of("DeiTForImageClassificationWithTeacher", document)
    assert both.parameters - plain.parameters == 2 * H + 2
    assert encode(plain).tokens == SQUARES + 2


def test_dinov2_scales_each_part_and_may_gate_it() -> None:
    document = VIT | {"model_type": "dinov2", "patch_size": 14, "mlp_ratio": 3}
    squares, width = 25, 3 * H
    layer = 4 * (H * H + H) + 2 * H * width + width + H + 2 * NORM + 2 * H
    around = CHANNELS * 14**2 * H + H + 2 * H + (squares + 1) * H + NORM
    model = of("Dinov2Model", document)
    assert model.parameters == around + L * layer
    assert "image-size" in {note.code for note in model.notes}
    gated = of("Dinov2Model", document, use_swiglu_ffn=True).encoders[0].layers[0].feed_forward
    assert gated == FeedForward(-(-(width * 2 // 3) // 8) * 8, gated=True, activation="silu", bias=True)
    registers = of("Dinov2WithRegistersModel", document | {"model_type": "dinov2_with_registers"})
    assert registers.parameters == around + 4 * H + L * layer
    assert encode(registers).tokens == squares + 1 + 4
    assert of("Dinov2ForImageClassification", document).parameters == model.parameters + 2 * (2 * H) + 2


def test_dinov3_has_no_table_of_positions_and_no_bias_on_keys() -> None:
    document = VIT | {"model_type": "dinov3_vit", "num_register_tokens": 4}
    layer = LAYER - H + 2 * H
    assert of("DINOv3ViTModel", document).parameters == SEEN + (2 + 4) * H + L * layer + NORM
    assert faulty(document, value_bias=False) == {"query_bias"}


# -- two towers

TOWER = {key: value for key, value in BERT.items() if key != "model_type"}
SHARED = 20
CLIP = {
    "model_type": "clip", "projection_dim": SHARED, "torch_dtype": "bfloat16",
    "text_config": TOWER, "vision_config": TOWER | {"image_size": SIDE, "patch_size": PATCH},
}  # fmt: skip
CLIP_TEXT = (V + P) * H + L * LAYER + NORM
CLIP_VISION = SEEN - H + H + (SQUARES + 1) * H + L * LAYER + 2 * NORM


def test_clip_has_two_towers_two_products_and_a_scale() -> None:
    model = of("CLIPModel", CLIP)
    assert model.parameters == CLIP_TEXT + CLIP_VISION + 2 * H * SHARED + 1
    analysis = mansard.analyze(model, on="h100-sxm")
    assert [*analysis.phases] == ["encode_text", "encode_image"]
    text, image = analysis.phases.values()
    assert text.tokens == P
    assert image.tokens == SQUARES + 1
    assert flops(text, "attention") == L * 4 * H * P * (P + 1) // 2  # a causal mask
    assert flops(image, "attention") == L * 4 * H * (SQUARES + 1) ** 2
    assert text.bytes.cache_write == analysis.memory.cache_bytes == 0  # which keeps nothing


def test_clip_towers_alone() -> None:
    text = TOWER | {"model_type": "clip_text_model", "projection_dim": 11}
    assert of("CLIPTextModel", text).parameters == CLIP_TEXT
    assert of("CLIPTextModelWithProjection", text).parameters == CLIP_TEXT + H * 11
    vision = VIT | {"model_type": "clip_vision_model", "projection_dim": 11}
    assert of("CLIPVisionModel", vision).parameters == CLIP_VISION
    assert of("CLIPVisionModelWithProjection", vision).parameters == CLIP_VISION + H * 11
    assert of("CLIPForImageClassification", CLIP).parameters == CLIP_VISION + 2 * H + 2
    assert of("CLIPTextModel", CLIP).parameters == CLIP_TEXT  # out of a configuration of both


def test_towers_without_a_configuration_have_the_class_s_defaults_with_a_note() -> None:
    model = read({"model_type": "clip", "architectures": ["CLIPModel"]})
    assert model.parameters == 151_277_313  # clip-vit-base-patch32
    assert {note.text for note in model.notes if note.level == "warning"} == {
        "text_config is absent: the defaults of the class", "vision_config is absent: the defaults of the class",
    }  # fmt: skip
    assert faulty({"model_type": "clip", "text_config": 7}) == {"text_config"}


def test_a_clip_text_encoder_moves_a_byte_for_77_operations() -> None:
    """Each two-byte weight is used by 77 tokens, 2 FLOPs each (COUNTING 12)."""
    model = read(TOWER | {"model_type": "clip_text_model", "architectures": ["CLIPTextModel"],
                          "hidden_size": 768, "num_attention_heads": 12, "intermediate_size": 3072,
                          "num_hidden_layers": 12, "vocab_size": 49408, "max_position_embeddings": 77})  # fmt: skip
    phase = encode(model)
    weights = 12 * (4 * 768**2 + 2 * 768 * 3072)
    assert sum(row.flops for row in phase.operators if row.kind == "linear") / (A * weights) == 77
    assert phase.bound == "memory"


SIGLIP_HEAD = 4 * (H * H + H) + H + 2 * H * F + F + H + NORM


def test_siglip_pools_by_a_query_that_attends_to_all() -> None:
    document = VIT | {"model_type": "siglip_vision_model"}
    model = of("SiglipVisionModel", document)
    assert model.parameters == SEEN + SQUARES * H + L * LAYER + NORM + SIGLIP_HEAD
    phase = encode(model)
    assert phase.tokens == SQUARES
    assert flops(phase, "pooling_attention") == 4 * SQUARES * H
    assert flops(phase, "pool_k_proj", "pool_v_proj") == 2 * 2 * SQUARES * H * H
    assert flops(phase, "pool_q_proj", "pool_o_proj") == 2 * 2 * H * H
    assert flops(phase, "pool_up_proj", "pool_down_proj") == 2 * 2 * H * F
    assert of("SiglipVisionModel", document, vision_use_head=False).parameters == model.parameters - SIGLIP_HEAD


def test_siglip_so400m_is_row_20_of_the_counting_rules() -> None:
    model = read({
        "model_type": "siglip_vision_model", "architectures": ["SiglipVisionModel"], "hidden_size": 1152,
        "intermediate_size": 4304, "num_hidden_layers": 27, "num_attention_heads": 16, "image_size": 384,
        "patch_size": 14, "torch_dtype": "bfloat16",
    })  # fmt: skip
    phase = encode(model)
    assert phase.tokens == 729
    assert flops(phase, "patch_embedding") == 987_614_208
    assert flops(phase, "attention") == 66_119_763_456
    assert flops(phase, "qkv_proj", "o_proj", "up_proj", "down_proj") == 599_340_736_512
    assert phase.flops == 670_346_449_920
    assert phase.bound == "compute"


def test_siglip_models_have_both_towers_a_scale_and_a_shift() -> None:
    text = (V + P) * H + L * LAYER + NORM + POOLER
    vision = SEEN + SQUARES * H + L * LAYER + NORM + SIGLIP_HEAD
    assert of("SiglipModel", CLIP | {"model_type": "siglip"}).parameters == text + vision + 2
    naflex = CLIP | {"model_type": "siglip2", "vision_config": TOWER | {"patch_size": PATCH, "num_patches": 49}}
    model = of("Siglip2Model", naflex)
    assert model.parameters == text + vision + (49 - SQUARES) * H + 2
    image = mansard.analyze(model, on="h100-sxm", images=2).phases["encode_image"]
    assert image.tokens == 2 * 49  # padded to as many, whatever the image
    assert flops(image, "patch_embedding") == 2 * 49 * 2 * CHANNELS * PATCH**2 * H


MATRICES = L * (4 * H * H + 2 * H * F)


def test_a_format_of_everything_is_that_of_the_layers() -> None:
    method = {"quant_method": "bitsandbytes", "load_in_8bit": True}
    plain, short = of("BertModel"), of("BertModel", quantization_config=method)
    assert "encoder-formats" in {note.code for note in short.notes}
    scales = 4 * L * (4 * H + F + H)  # one in fp32 for each output
    saved = (A - 1) * MATRICES - scales
    held = [mansard.analyze(one, on="h100-sxm").memory.weights_bytes for one in (plain, short)]
    assert held[0] - held[1] == saved
    moved = [encode(one).bytes.weights for one in (plain, short)]
    assert moved[0] - moved[1] == saved
    # Where modules are named they are not known, and the model's dtype is counted.
    named = of("BertModel", quantization_config=method | {"llm_int8_skip_modules": ["classifier"]})
    assert mansard.analyze(named, on="h100-sxm").memory.weights_bytes == held[0]


def test_a_deployment_s_format_is_stored_as_it_is_read() -> None:
    model = of("BertForMaskedLM")
    words = {"prompt": 16, "weights": "fp8"}
    analysis = mansard.analyze(model, on="h100-sxm", **words)
    head = H * H  # the product before the table, which keeps its dtype
    assert analysis.memory.weights_bytes == A * model.parameters - (MATRICES + head)
    rows, table = 16 * 3 * H, V * H
    everything = A * (model.parameters - (V + P + Y) * H + table + rows) - (MATRICES + head)
    assert analysis.phases["encode"].bytes.weights == everything
