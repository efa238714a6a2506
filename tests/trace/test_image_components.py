"""What denoisers and autoencoders of images and video dispatch, against what their components count, at two sizes each.

Sizes are of latents. A product of text and video that the class computes on angles alone (Mochi's) is a product here.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from mansard.inputs.parts import Attended, Convolution, Part, Product, Sample
from mansard.pipelines import read_component

pytestmark = [pytest.mark.trace, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("published")]


def empty(*shape: int) -> Any:
    import torch

    return torch.empty(*shape, device="meta")


def made(document: dict[str, Any]) -> Any:
    import diffusers
    import torch

    with torch.device("meta"):
        return getattr(diffusers, document["_class_name"]).from_config(document).eval()


class Case(NamedTuple):
    """A configuration, its inputs for a sample, and two samples."""

    document: dict[str, Any]
    inputs: Callable[[Sample, dict[str, Any]], dict[str, Any]]
    samples: tuple[Sample, Sample]


def packed(s: Sample) -> int:
    return (s.height // 2) * (s.width // 2)


def flux(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    n = packed(s)
    return {
        "hidden_states": empty(1, n, 64), "encoder_hidden_states": empty(1, s.text, 48), "timestep": empty(1),
        "pooled_projections": empty(1, 24), "guidance": empty(1), "img_ids": empty(n, 3), "txt_ids": empty(s.text, 3),
    }  # fmt: skip


def flux2(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    n = packed(s)
    return {
        "hidden_states": empty(1, n, 128), "encoder_hidden_states": empty(1, s.text, 48), "timestep": empty(1),
        "guidance": empty(1), "img_ids": empty(n, 4), "txt_ids": empty(s.text, 4),
    }  # fmt: skip


def sd3(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    return {
        "hidden_states": empty(1, 16, s.height, s.width), "encoder_hidden_states": empty(1, s.text, 48),
        "pooled_projections": empty(1, 24), "timestep": empty(1),
    }  # fmt: skip


def qwen(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    return {
        "hidden_states": empty(1, packed(s), 64), "encoder_hidden_states": empty(1, s.text, 48), "timestep": empty(1),
        "img_shapes": [[(1, s.height // 2, s.width // 2)]],
    }  # fmt: skip


def video(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    return {
        "hidden_states": empty(1, c.get("in_channels", 16), s.frames, s.height, s.width),
        "encoder_hidden_states": empty(1, s.text, 48), "timestep": empty(1),
    }  # fmt: skip


def pictured(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    return {**video(s, c), "encoder_hidden_states_image": empty(1, 257, c["image_dim"])}


def token_by_token(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    return {**video(s, c), "timestep": empty(1, s.timesteps)}


def hunyuan(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    import torch

    mask = torch.ones(1, s.text, dtype=torch.bool, device="meta")
    return {
        **video(s, c), "encoder_attention_mask": mask, "pooled_projections": empty(1, 24), "guidance": empty(1)
    }  # fmt: skip


def cogvideox(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    return {**video(s, c), "hidden_states": empty(1, s.frames, 16, s.height, s.width)}


def ltx(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    return {
        "hidden_states": empty(1, s.frames * s.height * s.width, 128), "encoder_hidden_states": empty(1, s.text, 48),
        "timestep": empty(1), "encoder_attention_mask": empty(1, s.text), "num_frames": s.frames, "height": s.height,
        "width": s.width,
    }  # fmt: skip


def image(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    return {
        "hidden_states": empty(1, c["in_channels"], s.height, s.width), "encoder_hidden_states": empty(1, s.text, 48),
        "timestep": empty(1),
    }  # fmt: skip


def sized(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    return {**image(s, c), "added_cond_kwargs": {"resolution": empty(1, 2), "aspect_ratio": empty(1, 1)}}


def unet(s: Sample, c: dict[str, Any]) -> dict[str, Any]:
    added = {"text_embeds": empty(1, 24), "time_ids": empty(1, 6)}
    return {
        "sample": empty(1, 4, s.height, s.width), "timestep": empty(1), "encoder_hidden_states": empty(1, s.text, 48),
        "added_cond_kwargs": added,
    }  # fmt: skip


SMALL = {"num_attention_heads": 4, "attention_head_dim": 16}
DENOISERS = {
    "FluxTransformer2DModel": Case(
        {**SMALL, "num_layers": 2, "num_single_layers": 3, "joint_attention_dim": 48, "pooled_projection_dim": 24,
         "guidance_embeds": True, "axes_dims_rope": [4, 6, 6]},
        flux, (Sample(8, 12, text=5), Sample(16, 4, text=9)),
    ),
    "Flux2Transformer2DModel": Case(
        {**SMALL, "num_layers": 2, "num_single_layers": 3, "joint_attention_dim": 48, "axes_dims_rope": [4, 4, 4, 4]},
        flux2, (Sample(8, 12, text=5), Sample(16, 4, text=9)),
    ),
    "SD3Transformer2DModel": Case(
        {**SMALL, "num_layers": 4, "joint_attention_dim": 48, "caption_projection_dim": 64, "qk_norm": "rms_norm",
         "pooled_projection_dim": 24, "dual_attention_layers": [0, 3]},
        sd3, (Sample(8, 12, text=5), Sample(16, 4, text=9)),
    ),
    "QwenImageTransformer2DModel": Case(
        {**SMALL, "num_layers": 3, "joint_attention_dim": 48, "axes_dims_rope": [4, 6, 6]},
        qwen, (Sample(8, 12, text=5), Sample(16, 4, text=9)),
    ),
    "HunyuanVideoTransformer3DModel": Case(
        {**SMALL, "num_layers": 2, "num_single_layers": 3, "num_refiner_layers": 1, "text_embed_dim": 48,
         "pooled_projection_dim": 24, "rope_axes_dim": [4, 6, 6]},
        hunyuan, (Sample(8, 12, 3, text=5), Sample(16, 4, 2, text=9)),
    ),
    "WanTransformer3DModel": Case(
        {**SMALL, "num_layers": 3, "ffn_dim": 96, "text_dim": 48},
        video, (Sample(8, 12, 3, text=5), Sample(16, 4, 2, text=9)),
    ),
    "WanTransformer3DModel with a picture": Case(
        {**SMALL, "num_layers": 3, "ffn_dim": 96, "text_dim": 48, "image_dim": 40, "added_kv_proj_dim": 64,
         "in_channels": 36},
        pictured, (Sample(8, 12, 3, text=512), Sample(16, 4, 2, text=512)),
    ),
    "WanTransformer3DModel with a timestep for every token": Case(
        {**SMALL, "num_layers": 3, "ffn_dim": 96, "text_dim": 48},
        token_by_token, (Sample(8, 12, 3, text=5, timesteps=72), Sample(16, 4, 2, text=9, timesteps=32)),
    ),
    "CogVideoXTransformer3DModel": Case(
        {**SMALL, "num_layers": 3, "text_embed_dim": 48, "time_embed_dim": 32, "max_text_seq_length": 7},
        cogvideox, (Sample(8, 12, 3, text=7), Sample(16, 4, 2, text=7)),
    ),
    "LTXVideoTransformer3DModel": Case(
        {**SMALL, "num_layers": 3, "cross_attention_dim": 64, "caption_channels": 48},
        ltx, (Sample(8, 12, 3, text=5), Sample(16, 4, 2, text=9)),
    ),
    "PixArtTransformer2DModel": Case(
        {"num_attention_heads": 4, "attention_head_dim": 18, "num_layers": 3, "cross_attention_dim": 72,
         "caption_channels": 48, "in_channels": 4},
        sized, (Sample(8, 12, text=5), Sample(16, 4, text=9)),
    ),
    "SanaTransformer2DModel": Case(
        {**SMALL, "num_layers": 3, "num_cross_attention_heads": 2, "cross_attention_head_dim": 32, "in_channels": 8,
         "cross_attention_dim": 64, "caption_channels": 48, "out_channels": 8},
        image, (Sample(8, 12, text=5), Sample(16, 4, text=9)),
    ),
    "CosmosTransformer3DModel": Case(
        {**SMALL, "num_layers": 3, "text_embed_dim": 48, "adaln_lora_dim": 8, "concat_padding_mask": False},
        video, (Sample(8, 12, 3, text=5), Sample(16, 4, 2, text=9)),
    ),
    "UNet2DConditionModel": Case(
        {"block_out_channels": [32, 64], "down_block_types": ["DownBlock2D", "CrossAttnDownBlock2D"],
         "up_block_types": ["CrossAttnUpBlock2D", "UpBlock2D"], "attention_head_dim": [2, 4],
         "transformer_layers_per_block": [1, 2], "cross_attention_dim": 48, "use_linear_projection": True,
         "addition_embed_type": "text_time", "addition_time_embed_dim": 8, "sample_size": 8,
         "projection_class_embeddings_input_dim": 24 + 6 * 8},
        unet, (Sample(8, 12, text=5), Sample(16, 4, text=9)),
    ),
}  # fmt: skip

AUTOENCODERS: dict[str, dict[str, Any]] = {
    "AutoencoderKL": {
        "block_out_channels": [32, 64], "down_block_types": ["DownEncoderBlock2D"] * 2,
        "up_block_types": ["UpDecoderBlock2D"] * 2,
    },
    "AutoencoderKLFlux2": {
        "block_out_channels": [32, 64], "down_block_types": ["DownEncoderBlock2D"] * 2,
        "up_block_types": ["UpDecoderBlock2D"] * 2,
    },
    "AutoencoderKLWan": {"base_dim": 8, "z_dim": 4},
    "AutoencoderKLQwenImage": {"base_dim": 8, "z_dim": 4},
    "AutoencoderKLHunyuanVideo": {"block_out_channels": [32, 32, 64, 64], "latent_channels": 4, "layers_per_block": 1},
    "AutoencoderKLCogVideoX": {"block_out_channels": [32, 64, 64, 64], "latent_channels": 4, "layers_per_block": 1},
    "AutoencoderKLLTXVideo": {"block_out_channels": [8, 16, 32, 32], "decoder_block_out_channels": [8, 16, 32, 32]},
    "AutoencoderKLMochi": {
        "encoder_block_out_channels": [32, 32, 64, 64], "decoder_block_out_channels": [32, 32, 64, 64],
    },
    "AutoencoderDC": {
        "encoder_block_out_channels": [32, 32, 64, 64, 64, 64], "decoder_block_out_channels": [32, 32, 64, 64, 64, 64],
        "encoder_block_types": ["ResBlock"] * 3 + ["EfficientViTBlock"] * 3, "latent_channels": 4,
        "decoder_block_types": ["ResBlock"] * 3 + ["EfficientViTBlock"] * 3, "attention_head_dim": 16,
    },
}  # fmt: skip


def counted(parts: tuple[Part, ...]) -> tuple[int, int, int]:
    """(products with weights, attention, convolutions) in FLOPs."""
    gemm = attention = convolution = 0
    for part in parts:
        if isinstance(part, Product):
            gemm += part.count * 2 * part.rows * sum(matrix.elements for matrix in part.matrices)
        elif isinstance(part, Convolution):
            convolution += part.count * 2 * part.positions * part.elements
        elif isinstance(part, Attended):
            keys = part.head_dim + 1 if part.linear else part.keys
            attention += part.count * 4 * part.heads * part.head_dim * part.queries * keys
    return gemm, attention, convolution


@pytest.mark.parametrize("name", DENOISERS)
def test_denoisers(name: str) -> None:
    from components import denoise

    case = DENOISERS[name]
    document = {"_class_name": name.split(" ", maxsplit=1)[0], **case.document}
    component, module = read_component(document, name), made(document)
    assert component.parameters == sum(one.numel() for one in module.parameters())
    for sample in case.samples:
        traced = denoise(module, **case.inputs(sample, module.config))
        assert counted(component.parts(sample)) == (
            traced.gemm_flops, traced.attention_flops, traced.convolution_flops,
        )  # fmt: skip


@pytest.mark.parametrize("name", AUTOENCODERS)
@pytest.mark.parametrize("size", [(4, 6, 3), (6, 4, 5)])
def test_autoencoders(name: str, size: tuple[int, int, int]) -> None:
    import torch
    from counting import WorkCounter

    document = {"_class_name": name, **AUTOENCODERS[name]}
    component, module = read_component(document, name), made(document)
    assert component.encoder is not None
    assert component.parameters == sum(one.numel() for one in module.parameters())
    height, width, frames = size if component.temporal > 1 and "Qwen" not in name else (*size[:2], 1)
    sample = Sample(height, width, frames)
    is_video = component.temporal > 1
    latents = empty(1, component.channels, *((frames,) if is_video else ()), height, width)
    time = (1 + (frames - 1) * component.temporal,) if is_video else ()
    pixels = empty(1, 3, *time, height * component.spatial, width * component.spatial)
    counter = WorkCounter(module)
    with torch.device("meta"), torch.no_grad():
        with counter.trace("decode", latents):
            module.decode(latents)
        with counter.trace("encode", pixels):
            module.encode(pixels)
    for phase, parts in (("decode", component.parts(sample)), ("encode", component.encoder(sample))):
        traced = counter.phases[phase]
        assert counted(parts) == (traced.gemm_flops, traced.attention_flops, traced.convolution_flops), phase
