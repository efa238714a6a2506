"""Composites that see and hear: parameters by hand from each class's shapes, tokens by the published preprocessors."""

from typing import Any

import pytest

from mansard.errors import InputError
from mansard.inputs.encoder import Encoder
from mansard.inputs.mixers import Attention, CrossAttention
from mansard.inputs.model import ModelConfig, encoder_parameters
from mansard.inputs.perception import Asked, Reading
from mansard.models import read_config

# The language model: H hidden, N query heads, K key/value heads, D head size, L layers, V vocabulary, F width.
H, N, K, D, L, V, F = 64, 4, 2, 16, 2, 99, 96
TEXT = {
    "hidden_size": H, "num_attention_heads": N, "num_key_value_heads": K, "head_dim": D, "num_hidden_layers": L,
    "vocab_size": V, "intermediate_size": F, "torch_dtype": "bfloat16",
}  # fmt: skip
# The tower: W hidden, X width of a part, B layers, P patch, S side of an image, C channels.
W, X, B, P, S, C = 32, 48, 3, 14, 56, 3
VISION = {
    "hidden_size": W, "intermediate_size": X, "num_attention_heads": 4, "num_hidden_layers": B, "image_size": S,
    "patch_size": P, "num_channels": C,
}  # fmt: skip
SQUARES = (S // P) ** 2


def linear(rows: int, columns: int, bias: int = 1) -> int:
    return rows * columns + bias * columns


def plain_layer(width: int = W, inner: int = X) -> int:
    """Four projections and two layers of a part, all with biases, and two layer norms."""
    return 4 * linear(width, width) + linear(width, inner) + linear(inner, width) + 2 * 2 * width


def gated_layer(width: int, inner: int, bias: int, o_bias: int) -> int:
    """Attention with biases, a gated part, and two RMS norms."""
    attention = 3 * linear(width, width, bias) + linear(width, width, o_bias)
    return attention + 2 * linear(width, inner, o_bias) + linear(inner, width, o_bias) + 2 * width


def composite(kind: str, vision: dict[str, Any] | None = None, text: str = "llama", **outer: Any) -> ModelConfig:
    document = {"model_type": kind, "text_config": {**TEXT, "model_type": text}, **outer}
    return read_config(document if vision is None else {**document, "vision_config": vision}, "config.json")


def tower(model: ModelConfig) -> Encoder:
    (found,) = model.encoders
    return found


def read(model: ModelConfig, **asked: Any) -> Reading:
    return tower(model).reads.reading(Asked(**asked))


def faulty(kind: str, vision: dict[str, Any], text: str = "llama", **outer: Any) -> set[str]:
    with pytest.raises(InputError) as caught:
        composite(kind, vision, text, **outer)
    return {fault.key for fault in caught.value.faults}


CLIP = linear(C * P * P, W, 0) + W + (SQUARES + 1) * W + 2 * 2 * W + B * plain_layer()
SIGLIP = linear(C * P * P, W) + SQUARES * W + 2 * W + B * plain_layer()


def test_llava_leaves_the_class_token_out_and_projects_the_rest() -> None:
    model = composite("llava", {**VISION, "model_type": "clip_vision_model"})
    assert encoder_parameters(tower(model)) == CLIP + linear(W, H) + linear(H, H)
    assert read(model, images=2) == Reading(2, SQUARES + 1, 2 * SQUARES, (S // P, S // P))
    into, out = tower(model).back
    assert (into.times, into.per) == (out.times, out.per) == (SQUARES, SQUARES + 1)


def test_llava_puts_features_of_several_layers_side_by_side() -> None:
    vision = {**VISION, "model_type": "siglip_vision_model", "vision_use_head": False}
    model = composite(
        "llava", vision, vision_feature_layer=[-2, -5], vision_feature_select_strategy="full",
        multimodal_projector_bias=False,
    )  # fmt: skip
    assert encoder_parameters(tower(model)) == SIGLIP + linear(2 * W, H, 0) + linear(H, H, 0)
    assert read(model, images=1).given == SQUARES


def test_a_pooling_head_is_stored_and_not_run() -> None:
    vision = {**VISION, "model_type": "siglip_vision_model"}
    head = W + 4 * linear(W, W) + 2 * W + linear(W, X) + linear(X, W)  # a query, attention, a norm, a part
    found = tower(composite("llava", vision, vision_feature_select_strategy="full"))
    assert found.unused == head
    assert encoder_parameters(found) == SIGLIP + head + linear(W, H) + linear(H, H)


def test_llava_next_has_a_vector_behind_each_row_of_its_tiles() -> None:
    canvases = [[S, 2 * S], [2 * S, S], [2 * S, 2 * S]]
    model = composite("llava_next", {**VISION, "model_type": "clip_vision_model"}, image_grid_pinpoints=canvases)
    assert encoder_parameters(tower(model)) == CLIP + linear(W, H) + linear(H, H) + H
    # 110 × 100 goes onto 2 × 2 tiles, 8 × 8 patches, of whose columns or rows 8·100/110 = 7.27 are filled: 8 stay.
    assert read(model, images=1, height=110, width=100) == Reading(5, SQUARES + 1, SQUARES + 8 * (8 + 1), (4, 4))
    bad = faulty("llava_next", {**VISION, "model_type": "clip_vision_model"}, image_grid_pinpoints=[[S, S + 1]])
    assert bad == {"image_grid_pinpoints"}


def test_llava_onevision_keeps_the_tokens_of_so_many_tiles() -> None:
    vision = {**VISION, "model_type": "siglip_vision_model", "vision_use_head": False}
    canvases = [[S * rows, S * columns] for rows in range(1, 5) for columns in range(1, 5)]
    model = composite(
        "llava_onevision", vision, "qwen2", image_grid_pinpoints=canvases, vision_aspect_ratio="anyres_max_2"
    )
    # A square of 4 × 4 tiles is 16 × 16 patches; of 2 tiles there are 32, √(256/32) = 2.83 times fewer a side: 5.
    assert read(model, images=1, height=300, width=300).given == SQUARES + 5 * (5 + 1)
    assert read(model, images=1, height=S, width=S, frames=8).given == 8 * 4 + 1  # pooled to 2 × 2, one behind all
    bad = faulty("llava_onevision", vision, "qwen2", image_grid_pinpoints=canvases, vision_aspect_ratio="square")
    assert bad == {"vision_aspect_ratio"}


def test_gemma_3_averages_its_patches() -> None:
    vision = {**VISION, "model_type": "siglip_vision_model", "vision_use_head": False}
    model = composite("gemma3", vision, "gemma3_text", mm_tokens_per_image=4)
    assert encoder_parameters(tower(model)) == SIGLIP + W + linear(W, H, 0)
    assert read(model, images=3) == Reading(3, SQUARES, 3 * 4, (4, 4))
    assert any(note.code == "image-attention" for note in model.notes)
    assert faulty("gemma3", vision, "gemma3_text", mm_tokens_per_image=9) == {"mm_tokens_per_image"}


@pytest.mark.parametrize(("stated", "both_ways"), [({}, True), ({"use_bidirectional_attention": False}, False)])
def test_the_prompt_of_paligemma_sees_itself_both_ways(stated: dict[str, bool], both_ways: bool) -> None:
    vision = {**VISION, "model_type": "siglip_vision_model", "vision_use_head": False}
    document = {
        "model_type": "paligemma", "vision_config": vision, "projection_dim": H,
        "text_config": {**TEXT, **stated, "model_type": "gemma"},
    }  # fmt: skip
    model = read_config(document, "config.json")
    assert encoder_parameters(tower(model)) == SIGLIP + linear(W, H)
    assert read(model, images=1).given == SQUARES
    mixers = [layer.mixer for layer in model.layers]
    assert [isinstance(one, Attention) and one.prefix for one in mixers] == [both_ways] * L


PIXTRAL = {**VISION, "model_type": "pixtral", "image_size": 112}
PIXTRAL_TOWER = linear(C * P * P, W, 0) + W + B * gated_layer(W, X, 0, 0)


def test_mistral_3_merges_patches_and_breaks_rows() -> None:
    model = composite("mistral3", PIXTRAL, "mistral")
    assert encoder_parameters(tower(model)) == PIXTRAL_TOWER + W + linear(4 * W, W, 0) + linear(W, H, 0) + linear(
        H, H, 0
    )
    # 80 × 100 pixels are 3 × 4 squares of 28, each of four patches; a marker stands behind each of the three rows.
    assert read(model, images=1, height=80, width=100) == Reading(1, 48, 3 * 5, (6, 8))


def test_pixtral_may_stand_in_llava() -> None:
    model = composite("llava", PIXTRAL, "mistral", vision_feature_layer=-1, vision_feature_select_strategy="full")
    assert encoder_parameters(tower(model)) == PIXTRAL_TOWER + linear(W, H) + linear(H, H)
    assert read(model, images=1, height=56, width=70).given == 4 * (5 + 1)


def test_internvl_merges_patches_within_tiles() -> None:
    vision = {**VISION, "qkv_bias": True, "qk_normalization": False, "norm_type": "layer_norm"}
    model = read_config(
        {
            "model_type": "internvl_chat", "llm_config": {**TEXT, "model_type": "qwen2"}, "vision_config": vision,
            "dynamic_image_size": True, "use_thumbnail": True, "min_dynamic_patch": 1, "max_dynamic_patch": 6,
        },
        "config.json",
    )  # fmt: skip
    front = linear(C * P * P, W) + W + (SQUARES + 1) * W
    merger = 2 * 4 * W + linear(4 * W, H) + linear(H, H)
    assert encoder_parameters(tower(model)) == front + B * (plain_layer() + 2 * W) + merger
    # A shape of 3:2 is that of 3 × 2 tiles, and a copy of the whole comes beside them, each with a quarter of 16.
    assert read(model, images=1, height=200, width=300) == Reading(7, SQUARES + 1, 7 * 4, (4, 4))
    assert read(model, images=1, height=200, width=300, frames=8).given == 8 * 4


def test_the_6b_internvit_has_rms_norms_on_queries_and_keys_and_no_biases_there() -> None:
    vision = {**VISION, "qkv_bias": False, "qk_normalization": True, "norm_type": "rms_norm"}
    text = {**TEXT, "model_type": "llama"}
    model = read_config({"model_type": "internvl_chat", "llm_config": text, "vision_config": vision}, "config.json")
    attention = 3 * linear(W, W, 0) + linear(W, W) + 2 * W
    layer = attention + linear(W, X) + linear(X, W) + 2 * W + 2 * W
    front = linear(C * P * P, W) + W + (SQUARES + 1) * W
    merger = 2 * 4 * W + linear(4 * W, H) + linear(H, H)
    assert encoder_parameters(tower(model)) == front + B * layer + merger
    assert read(model, images=1, height=200, width=300).sequences == 1  # dynamic_image_size is not stated


def test_low_rank_matrices_of_internvl_are_refused() -> None:
    text = {**TEXT, "model_type": "llama"}
    document = {"model_type": "internvl_chat", "llm_config": text, "vision_config": VISION, "use_llm_lora": 16}
    with pytest.raises(InputError, match="use_llm_lora"):
        read_config(document, "config.json")


def test_llama_4_merges_patches_before_its_adapter() -> None:
    into, out = 40, 44
    vision = {
        **VISION, "intermediate_size": 4 * W, "projector_input_dim": into, "projector_output_dim": into,
        "vision_output_dim": out,
    }  # fmt: skip
    model = composite("llama4", vision, "llama4_text")
    front = linear(C * P * P, W, 0) + W + (SQUARES + 1) * W + 2 * 2 * W
    adapter = linear(4 * W, into, 0) + linear(into, into, 0) + linear(out, H, 0)
    assert encoder_parameters(tower(model)) == front + B * plain_layer(W, 4 * W) + adapter
    # 2 × 3 tiles and the whole: 4 tokens each, two markers in the row of three twice, one behind each, one before the
    # copy.
    assert read(model, images=1, height=2 * S, width=3 * S) == Reading(7, SQUARES + 1, 7 * 4 + 2 * 2 + 2 + 1, (4, 4))
    assert faulty("llama4", {**vision, "intermediate_size": W}, "llama4_text") == {"vision_config.intermediate_size"}


QWEN = {"num_heads": 4, "depth": B}


def test_qwen2_vl_merges_four_patches_of_two_frames() -> None:
    vision = {**QWEN, "embed_dim": W, "hidden_size": H, "mlp_ratio": 3}
    model = composite("qwen2_vl", vision, "qwen2_vl_text")
    merger = 2 * W + linear(4 * W, 4 * W) + linear(4 * W, H)
    assert encoder_parameters(tower(model)) == linear(C * 2 * P * P, W, 0) + B * plain_layer(W, 3 * W) + merger
    assert read(model, images=1, height=112, width=168) == Reading(1, 96, 24, (8, 12))
    assert read(model, images=1, height=112, width=168, frames=6) == Reading(3, 96, 72, (8, 12))
    assert faulty("qwen2_vl", {**vision, "hidden_size": 99}, "qwen2_vl_text") == {"vision_config.hidden_size"}


def test_most_layers_of_qwen2_5_vl_see_a_window() -> None:
    vision = {**QWEN, "hidden_size": W, "out_hidden_size": H, "intermediate_size": X, "fullatt_block_indexes": [1]}
    model = composite("qwen2_5_vl", {**vision, "window_size": 112}, "qwen2_5_vl_text")
    layer = gated_layer(W, X, 1, 1)
    merger = W + linear(4 * W, 4 * W) + linear(4 * W, H)
    assert encoder_parameters(tower(model)) == linear(C * 2 * P * P, W, 0) + B * layer + merger
    mixers = [one.mixer for one in tower(model).layers]
    squares = [one.square for one in mixers if isinstance(one, Attention)]
    assert squares == [112 // P, None, 112 // P]
    assert faulty("qwen2_5_vl", {**vision, "window_size": 13}, "qwen2_5_vl_text") == {"vision_config.window_size"}


def test_the_older_flat_form_of_qwen2_5_vl_reads_the_same() -> None:
    vision = {**QWEN, "hidden_size": W, "out_hidden_size": H, "intermediate_size": X, "in_chans": C}
    flat = read_config({**TEXT, "model_type": "qwen2_5_vl", "vision_config": vision}, "config.json")
    nested = composite("qwen2_5_vl", vision, "qwen2_5_vl_text")
    assert flat.parameters == nested.parameters
    assert flat.encoders == nested.encoders


@pytest.mark.parametrize("depths", [[], [0, 2]])
def test_qwen3_vl_has_a_merger_for_each_depth(depths: list[int]) -> None:
    table, patch = 64, 16
    vision = {
        **QWEN, "hidden_size": W, "out_hidden_size": H, "intermediate_size": X, "num_position_embeddings": table,
        "deepstack_visual_indexes": depths, "patch_size": patch,
    }  # fmt: skip
    model = composite("qwen3_vl", vision, "qwen3_vl_text")
    merger = linear(4 * W, 4 * W) + linear(4 * W, H)
    mergers = 2 * W + merger + len(depths) * (2 * 4 * W + merger)
    front = linear(C * 2 * patch * patch, W) + table * W
    assert encoder_parameters(tower(model)) == front + B * plain_layer() + mergers
    assert faulty("qwen3_vl", {**vision, "deepstack_visual_indexes": [B]}, "qwen3_vl_text") == {
        "vision_config.deepstack_visual_indexes"
    }


def test_glm_4v_merges_by_a_convolution_and_a_gated_part() -> None:
    vision = {**QWEN, "hidden_size": W, "out_hidden_size": H, "intermediate_size": X, "image_size": S}
    model = composite("glm4v", vision, "glm4v_text")
    layer = gated_layer(W, H, 0, 0)  # its part is as wide as the language model
    merger = linear(4 * W, H) + linear(H, H, 0) + 2 * H + 2 * linear(H, X, 0) + linear(X, H, 0)
    front = linear(C * 2 * P * P, W) + SQUARES * W + 2 * W
    assert encoder_parameters(tower(model)) == front + B * layer + merger


def test_kimi_averages_the_frames_of_a_clip() -> None:
    table = 8
    vision = {
        "vt_hidden_size": W, "vt_num_attention_heads": 4, "vt_num_hidden_layers": B, "vt_intermediate_size": X,
        "init_pos_emb_height": table, "init_pos_emb_width": table, "patch_size": P, "text_hidden_size": H,
    }  # fmt: skip
    model = composite("kimi_k25", vision)
    front = linear(C * P * P, W) + table * table * W + 2 * W
    projector = 2 * W + linear(4 * W, 4 * W) + linear(4 * W, H)
    assert encoder_parameters(tower(model)) == front + B * plain_layer() + projector
    assert read(model, images=1, height=112, width=168) == Reading(1, 96, 24, (8, 12))
    assert read(model, images=1, height=112, width=168, frames=8) == Reading(2, 4 * 96, 2 * 24, (8, 12))
    assert faulty("kimi_k25", {**vision, "mm_projector_type": "mlp"}) == {"vision_config.mm_projector_type"}


def test_layers_of_llama_3_2_vision_attend_to_the_image_alone() -> None:
    shapes, tiles, gated = 8, 4, 2
    vision = {
        "hidden_size": W, "intermediate_size": X, "attention_heads": 4, "num_hidden_layers": B, "image_size": S,
        "patch_size": P, "num_global_layers": gated, "intermediate_layers_indices": [0, 1], "vision_output_dim": 3 * W,
        "supported_aspect_ratios": [[1, 1]] * shapes, "max_num_tiles": tiles,
    }  # fmt: skip
    text = {**TEXT, "model_type": "mllama_text_model", "cross_attention_layers": [1]}
    model = read_config({"model_type": "mllama", "vision_config": vision, "text_config": text}, "config.json")
    tokens = SQUARES + 1
    layer = 4 * linear(W, W, 0) + linear(W, X) + linear(X, W) + 2 * 2 * W
    tables = (
        tokens * W + (shapes + 1) * tiles * (tokens + 2) * W + 3
    )  # positions, tiles, tiles before and behind; gates
    whole = linear(C * P * P, W, 0) + W + tables + 2 * 2 * W + (B + gated) * layer + 2 * gated + linear(3 * W, H)
    assert encoder_parameters(tower(model)) == whole
    attention = 2 * linear(H, N * D, 0) + 2 * linear(H, K * D, 0)
    dense = 3 * linear(H, F, 0) + 2 * H
    language = (2 * V + 8) * H + H + 2 * (attention + dense) + 2 * D + 2
    assert model.parameters == whole + language
    assert model.layers[1].mixer is None
    assert isinstance(model.layers[1].mixers[0], CrossAttention)
    assert model.cache_elements_per_token == 2 * K * D
    assert model.source_elements_per_token == 2 * K * D
    padded = 24  # 17 tokens of a tile, to a multiple of eight
    assert read(model, images=1) == Reading(1, tiles * padded, tiles * tokens)


AUDIO = {"d_model": W, "encoder_layers": B, "encoder_attention_heads": 4, "encoder_ffn_dim": 4 * W}
BINS, POSITIONS = 16, 1500
HEARING = (
    linear(3 * BINS, W) + linear(3 * W, W) + POSITIONS * W + 2 * W
    + B * (3 * linear(W, W) + linear(W, W, 0) + linear(W, 4 * W) + linear(4 * W, W) + 2 * 2 * W)
)  # fmt: skip


def test_qwen2_audio_gives_the_tokens_that_hold_sound() -> None:
    audio = {**AUDIO, "num_mel_bins": BINS, "max_source_positions": POSITIONS}
    model = composite("qwen2_audio", None, "qwen2", audio_config=audio)
    assert encoder_parameters(tower(model)) == HEARING + linear(W, H)
    assert read(model, seconds=30.0) == Reading(1, POSITIONS, 750)
    # 5.1 s are 510 frames: 255 behind the convolution, and (255 - 2) // 2 + 1 means of two.
    assert read(model, seconds=5.1) == Reading(1, POSITIONS, 127)
    assert read(model, seconds=35.1) == Reading(2, POSITIONS, 750 + 127)


def test_voxtral_puts_four_tokens_side_by_side() -> None:
    audio = {
        "hidden_size": W, "num_hidden_layers": B, "num_attention_heads": 4, "intermediate_size": 4 * W,
        "num_mel_bins": BINS, "max_source_positions": POSITIONS,
    }  # fmt: skip
    model = composite("voxtral", None, audio_config=audio)
    assert encoder_parameters(tower(model)) == HEARING + linear(4 * W, H, 0) + linear(H, H, 0)
    assert read(model, seconds=31.0) == Reading(2, POSITIONS, 2 * 375)


def test_a_tower_of_an_unknown_type_is_refused_and_a_key_noted() -> None:
    assert faulty("llava", {**VISION, "model_type": "convnext"}) == {"vision_config.model_type"}
    vision = {**VISION, "model_type": "clip_vision_model", "num_register_tokens": 4}
    notes = [note.text for note in composite("llava", vision).notes if note.code == "unknown-key"]
    assert notes == ["vision_config.num_register_tokens is not understood and left out"]
