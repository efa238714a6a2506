"""What towers of composites dispatch, against what is counted: products, attention, convolutions and parameters.

The classes are made small and run on one image, clip or sound; their windows follow from values, so that they need
real numbers. Heads that the library ties by itself where a configuration does not say are stated.
"""

from collections import Counter
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from mansard.encoding import encoder_operators
from mansard.inputs.engine import load_engine
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import Asked, Reading
from mansard.inputs.scenario import Deployment
from mansard.models import read_config
from mansard.operators.step import Step

pytestmark = [pytest.mark.trace, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("published")]

S, P = 56, 14  # an image's side and a patch's, of towers that scale all images to one size
TEXT = {
    "hidden_size": 64, "intermediate_size": 96, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 16,
    "num_hidden_layers": 2, "vocab_size": 99, "max_position_embeddings": 512, "tie_word_embeddings": False,
}  # fmt: skip
ROPE = {"rope_parameters": {"mrope_section": [2, 3, 3], "rope_type": "default", "rope_theta": 1e4}}
VISION = {"hidden_size": 32, "intermediate_size": 48, "num_attention_heads": 4, "num_hidden_layers": 3,
          "image_size": S, "patch_size": P}  # fmt: skip
CLIP = {**VISION, "model_type": "clip_vision_model"}
SIGLIP = {**VISION, "model_type": "siglip_vision_model", "vision_use_head": False}
PIXTRAL = {**VISION, "model_type": "pixtral", "image_size": 112}
QWEN = {"hidden_size": 32, "out_hidden_size": 64, "num_heads": 4, "depth": 4, "intermediate_size": 48}
CANVASES = {"image_grid_pinpoints": [[S, 2 * S], [2 * S, S], [2 * S, 2 * S]]}
MOONVIT = {"hidden_size": 32, "num_attention_heads": 4, "num_hidden_layers": 3, "intermediate_size": 48,
           "pos_emb_height": 8, "pos_emb_width": 8}  # fmt: skip
LATENT = {"model_type": "deepseek_v3", "n_routed_experts": 4, "num_experts_per_tok": 2, "n_group": 1, "topk_group": 1,
          "kv_lora_rank": 16, "q_lora_rank": 16, "qk_nope_head_dim": 8, "qk_rope_head_dim": 8, "v_head_dim": 8,
          "moe_intermediate_size": 32, "num_key_value_heads": 4, "n_shared_experts": 1,
          "first_k_dense_replace": 1}  # fmt: skip
SOUND = {"num_mel_bins": 16, "max_source_positions": 50}


class Case(NamedTuple):
    """A composite, what is asked of it, and how its class is run, given torch and the model."""

    kind: str
    parts: dict[str, Any]
    asked: Asked
    run: Callable[[Any, Any], Any]
    text: dict[str, Any] = {"model_type": "llama"}  # noqa: RUF012 (a default of a named tuple, never written to)


def squares(many: int, *, tiled: tuple[int, int] | None = None) -> Callable[[Any, Any], Any]:
    """Runs a tower on so many images or tiles of its own size; `tiled`: of one image of that height and width."""

    def run(torch: Any, model: Any) -> Any:
        pixels = torch.randn(many, 3, S, S)
        if tiled is None:
            return model.get_image_features(pixel_values=pixels)
        return model.model.get_image_features(pixel_values=pixels[None], image_sizes=torch.tensor([tiled]))

    return run


def patches(*grid: int, patch: int = P, frames: int = 2) -> Callable[[Any, Any], Any]:
    """Runs a tower that takes flat patches, and a grid of them in time, down and across."""

    def run(torch: Any, model: Any) -> Any:
        many, own = grid[0] * grid[1] * grid[2], 3 * frames * patch * patch
        shape = (many, own) if frames > 1 else (many, 3, patch, patch)
        return model.model.get_image_features(torch.randn(*shape), torch.tensor([grid]))

    return run


def pixtral(torch: Any, model: Any) -> Any:
    return model.model.get_image_features(
        pixel_values=torch.randn(1, 3, 84, 112), image_sizes=torch.tensor([[84, 112]])
    )


def tiles_together(torch: Any, model: Any) -> Any:
    shape, mask = torch.tensor([[6]]), torch.ones(1, 1, 4, dtype=torch.long)
    seen = model.model.vision_model(
        pixel_values=torch.randn(1, 1, 4, 3, S, S), aspect_ratio_ids=shape, aspect_ratio_mask=mask
    )
    return model.model.multi_modal_projector(seen.last_hidden_state)


def heard(torch: Any, model: Any) -> Any:
    inner = getattr(model, "model", model)
    return inner.multi_modal_projector(inner.audio_tower(torch.randn(1, 16, 100)).last_hidden_state)


ONE = Asked(images=1, height=S, width=S)
BOTH = {"model_type": "qwen2"}
CASES = {
    "llava": Case("llava", {"vision_config": CLIP}, Asked(images=2), squares(2)),
    "llava with features of two layers": Case(
        "llava", {"vision_config": SIGLIP, "vision_feature_select_strategy": "full", "vision_feature_layer": [-1, -2]},
        Asked(images=1), squares(1),
    ),
    "llava_next": Case(
        "llava_next", {"vision_config": CLIP, **CANVASES}, Asked(images=1, height=100, width=110),
        squares(5, tiled=(100, 110)),
    ),
    "llava_onevision": Case(
        "llava_onevision", {"vision_config": SIGLIP, **CANVASES}, Asked(images=1, height=100, width=110),
        squares(5, tiled=(100, 110)), BOTH,
    ),
    "gemma3": Case("gemma3", {"vision_config": SIGLIP, "mm_tokens_per_image": 4}, Asked(images=2), squares(2),
                   {"model_type": "gemma3_text"}),
    "paligemma": Case("paligemma", {"vision_config": SIGLIP, "projection_dim": 64}, Asked(images=2), squares(2),
                      {"model_type": "gemma"}),
    "mistral3": Case("mistral3", {"vision_config": PIXTRAL}, Asked(images=1, height=80, width=100), pixtral,
                     {"model_type": "mistral"}),
    "internvl": Case(
        "internvl", {"vision_config": {**VISION, "image_size": [S, S], "patch_size": [P, P], "use_qk_norm": True}},
        ONE, squares(1), BOTH,
    ),
    "qwen2_vl": Case(
        "qwen2_vl", {"vision_config": {"embed_dim": 32, "hidden_size": 64, "num_heads": 4, "depth": 3, "mlp_ratio": 3}},
        Asked(images=1, height=112, width=168), patches(1, 8, 12), {**ROPE, "model_type": "qwen2_vl_text"},
    ),
    "qwen2_5_vl": Case(
        "qwen2_5_vl", {"vision_config": {**QWEN, "fullatt_block_indexes": [1]}},
        Asked(images=1, height=14 * 18, width=14 * 22), patches(1, 18, 22), {**ROPE, "model_type": "qwen2_5_vl_text"},
    ),
    "qwen2_5_vl on a video": Case(
        "qwen2_5_vl", {"vision_config": {**QWEN, "fullatt_block_indexes": [1]}},
        Asked(images=1, height=14 * 18, width=14 * 22, frames=6), patches(3, 18, 22),
        {**ROPE, "model_type": "qwen2_5_vl_text"},
    ),
    "qwen3_vl": Case(
        "qwen3_vl",
        {"vision_config": {**QWEN, "deepstack_visual_indexes": [0, 2], "num_position_embeddings": 64}},
        Asked(images=1, height=16 * 16, width=16 * 20), patches(1, 16, 20, patch=16),
        {**ROPE, "model_type": "qwen3_vl_text"},
    ),
    "glm4v": Case(
        "glm4v", {"vision_config": {**QWEN, "depth": 3, "image_size": S}}, Asked(images=1, height=112, width=168),
        patches(1, 8, 12), {**ROPE, "model_type": "glm4v_text"},
    ),
    "kimi_k25": Case("kimi_k25", {"vision_config": MOONVIT, "projection_hidden_size": 32},
                     Asked(images=1, height=112, width=168), patches(1, 8, 12, frames=1), LATENT),
    "kimi_k25 on a clip": Case(
        "kimi_k25", {"vision_config": MOONVIT, "projection_hidden_size": 32},
        Asked(images=1, height=112, width=168, frames=4), patches(4, 8, 12, frames=1), LATENT,
    ),
    "mllama": Case(
        "mllama",
        {"vision_config": {**VISION, "attention_heads": 4, "num_global_layers": 2, "max_num_tiles": 4,
                           "intermediate_layers_indices": [0, 1], "vision_output_dim": 96}},
        Asked(images=1), tiles_together,
        {"model_type": "mllama_text_model", "cross_attention_layers": [1], "pad_token_id": 0},
    ),
    "qwen2_audio": Case(
        "qwen2_audio",
        {"audio_config": {**SOUND, "model_type": "qwen2_audio_encoder", "d_model": 32, "encoder_layers": 3,
                          "encoder_attention_heads": 4, "encoder_ffn_dim": 128}},
        Asked(seconds=1.0), heard, BOTH,
    ),
    "voxtral": Case(
        "voxtral",
        {"audio_config": {**SOUND, "model_type": "voxtral_encoder", "hidden_size": 32, "num_hidden_layers": 3,
                          "num_attention_heads": 4, "intermediate_size": 128, "max_source_positions": 52}},
        Asked(seconds=1.04), lambda torch, model: model.get_audio_features(torch.randn(1, 16, 104)),
    ),
}  # fmt: skip


def counted(model: ModelConfig, reading: Reading) -> Counter[str]:
    """FLOPs of one pass by kind, without what cross-attention makes of it for the decoder."""
    (encoder,) = model.encoders
    source = reading.given // reading.sequences
    step = Step(batch=reading.sequences, new=reading.tokens, cached=0, source=source, grid=reading.grid)
    found: Counter[str] = Counter()
    for op in encoder_operators(encoder, model, Deployment(weights="bf16", kv="bf16"), load_engine("ideal")):
        if not op.name.startswith("cross_"):
            found[op.kind] += op.count * sum(int(term.coefficient * step.value(term.basis)) for term in op.flops)
    return found


@pytest.mark.parametrize("name", CASES)
def test_towers_do_what_their_classes_do(name: str) -> None:
    import torch
    from classes import unique_parameters
    from counting import WorkCounter
    from transformers import AutoConfig, AutoModelForImageTextToText, AutoModelForSeq2SeqLM

    case = CASES[name]
    document = {**case.parts, "text_config": {**TEXT, **case.text}, "tie_word_embeddings": False}
    config = AutoConfig.for_model(case.kind, **document, attn_implementation="eager")
    build = AutoModelForSeq2SeqLM if "audio_config" in document else AutoModelForImageTextToText
    published = build.from_config(config, attn_implementation="eager").eval()
    counter = WorkCounter(published)
    with torch.no_grad(), counter.trace("encode"):
        case.run(torch, published)
    traced = counter.phases["encode"]
    model = read_config({**document, "model_type": case.kind}, "config.json")
    (encoder,) = model.encoders
    found = counted(model, encoder.reads.reading(case.asked))
    assert model.parameters == unique_parameters(published)
    assert found["linear"] == traced.gemm_flops
    assert found["attention"] == traced.attention_flops
    assert found["convolution"] == traced.convolution_flops
