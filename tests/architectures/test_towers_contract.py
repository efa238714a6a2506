"""What holds for every composite: its fixed names, its sources, its class's defaults, and no stray exception."""

import inspect
from collections import Counter
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mansard import registry
from mansard.errors import InputError
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig, encoder_parameters
from mansard.inputs.perception import Asked
from mansard.inputs.weights import Norm

FOLDER = "mansard.architectures.towers"
COMPOSITES = registry.names(FOLDER)
TYPES = [(name, kind) for name in COMPOSITES for kind in registry.module(FOLDER, name).MODEL_TYPES]
H, L = 64, 2
LAYER = Layer(
    mixer=Attention(heads=4, kv_heads=2, head_dim=16), feed_forward=FeedForward(96, gated=True), norms=(Norm("rms", H),)
)


def language_model() -> ModelConfig:
    return ModelConfig(
        name="", source="config.json", model_type="", architecture="", hidden_size=H, layers=(LAYER,) * L,
        embedding=None, head=None, final_norm=None,
    )  # fmt: skip


def attached(name: str, document: dict[str, Any]) -> ModelConfig:
    keys = Keys(document, "config.json")
    model: ModelConfig = registry.module(FOLDER, name).attach(keys, language_model())
    keys.finish()
    return model


def test_the_room_is_found() -> None:
    assert len(COMPOSITES) > 10
    assert "llava" in COMPOSITES


@pytest.mark.parametrize("name", COMPOSITES)
def test_fixed_names_are_there(name: str) -> None:
    module = registry.module(FOLDER, name)
    assert isinstance(module.MODEL_TYPES, tuple)
    assert name in module.MODEL_TYPES
    assert list(inspect.signature(module.attach).parameters) == ["keys", "model"]
    assert module.attach.__doc__
    _, _, sources = (inspect.getdoc(module) or "").partition("Sources:")
    assert sources.strip().endswith(".")


def test_a_word_names_one_composite_only() -> None:
    assert [word for word, count in Counter(kind for _, kind in TYPES).items() if count > 1] == []


@pytest.mark.parametrize(("name", "kind"), TYPES)
def test_the_defaults_of_the_class_are_counted_with_a_note_or_refused(name: str, kind: str) -> None:
    keys = Keys({"model_type": kind}, "config.json")
    model = registry.module(FOLDER, name).attach(keys, language_model())
    try:
        keys.finish()
    except InputError as refused:
        assert all(fault.key for fault in refused.faults)
        return
    assert model.encoders
    assert any(note.level == "warning" and "defaults of the class" in note.text for note in keys.notes)
    for encoder in model.encoders:
        assert encoder_parameters(encoder) > 0
        reading = encoder.reads.reading(Asked(images=1, height=500, width=700, seconds=12.0))
        assert reading.sequences * reading.tokens > 0
        assert reading.given > 0
        nothing = encoder.reads.reading(Asked(prompt=9))
        assert (nothing.sequences, nothing.given) == (0, 0)


WORDS = (
    "hidden_size", "intermediate_size", "num_hidden_layers", "num_attention_heads", "image_size", "patch_size", "depth",
    "num_heads", "embed_dim", "mlp_ratio", "out_hidden_size", "spatial_merge_size", "temporal_patch_size",
    "in_channels", "window_size",
    "fullatt_block_indexes", "deepstack_visual_indexes", "num_position_embeddings", "hidden_act",
    "model_type", "vision_use_head", "norm_type", "qk_normalization", "merge_kernel_size", "pixel_shuffle_ratio",
    "d_model", "encoder_layers", "max_source_positions", "num_mel_bins", "supported_aspect_ratios", "max_num_tiles",
    "intermediate_layers_indices", "vision_output_dim", "attention_heads", "qkv_bias", "attention_bias",
)  # fmt: skip
OUTER = (
    "vision_feature_layer", "vision_feature_select_strategy", "image_grid_pinpoints", "downsample_ratio",
    "mm_tokens_per_image", "projection_dim", "spatial_merge_size", "vision_aspect_ratio", "multimodal_projector_bias",
    "use_llm_lora", "min_dynamic_patch", "max_dynamic_patch", "force_image_size", "use_thumbnail", "text_config",
)  # fmt: skip
JUNK = st.recursive(
    st.none() | st.booleans() | st.integers(-3, 99) | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(WORDS), inner, max_size=3),
    max_leaves=8,
)
PART = JUNK | st.dictionaries(st.sampled_from(WORDS), JUNK, max_size=6)


@pytest.mark.parametrize(("name", "kind"), TYPES)
@settings(max_examples=40)
@given(outer=st.dictionaries(st.sampled_from(OUTER), JUNK, max_size=4), vision=PART, audio=PART)
def test_no_json_value_raises_anything_but_an_input_error(
    name: str, kind: str, outer: dict[str, Any], vision: Any, audio: Any
) -> None:
    document = {**outer, "model_type": kind, "vision_config": vision, "audio_config": audio}
    try:
        assert attached(name, document).parameters > 0
    except InputError as error:
        assert error.faults
