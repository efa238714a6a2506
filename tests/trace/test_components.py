"""What encoders, towers and denoisers dispatch, against their work derived by hand: the tracing side is right.

Letters: n tokens, d width, f feed-forward width, L layers, c channels. A multiply-add is 2 FLOPs; a matrix of K·N
elements takes 2·K·N for each token, attention of n queries to m keys 4·n·m·d over all heads.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

pytestmark = [pytest.mark.trace, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("published")]


def empty(*shape: int) -> Any:
    import torch

    return torch.empty(*shape, device="meta")


def made(build: Callable[[], Any]) -> Any:
    import torch

    with torch.device("meta"):
        return build().eval()


def diffused(name: str, reference: Path, file: str) -> Any:
    import diffusers

    document = json.loads((reference / "models" / "diffusers" / file).read_text(encoding="utf-8"))
    return made(lambda: getattr(diffusers, name).from_config(document))


def layer(n: int, d: int, f: int) -> tuple[int, int]:
    """(products with weights, attention) of one whole encoder layer with four projections and two matrices."""
    return 2 * n * (4 * d * d + 2 * d * f), 4 * n * n * d


def test_bert() -> None:
    from components import encode_tokens
    from transformers import BertConfig, BertModel

    n, d, f, L = 128, 768, 3072, 12
    traced = encode_tokens(made(lambda: BertModel(BertConfig())), batch=2, tokens=n)
    gemm, attention = layer(n, d, f)
    pooler = 2 * d * d
    assert (traced.gemm_flops, traced.attention_flops) == (2 * (L * gemm + pooler), 2 * L * attention)


def test_clip_text_encoder() -> None:
    from components import encode_tokens
    from transformers import CLIPTextConfig, CLIPTextModel

    n, d, f, L = 77, 512, 2048, 12
    traced = encode_tokens(made(lambda: CLIPTextModel(CLIPTextConfig())), batch=1, tokens=n)
    gemm, attention = layer(n, d, f)
    assert (traced.gemm_flops, traced.attention_flops) == (L * gemm, L * attention)


def test_vision_transformer() -> None:
    from components import encode_pixels
    from transformers import ViTConfig, ViTModel

    d, f, L, patch, c = 768, 3072, 12, 16, 3
    patches = (224 // patch) ** 2
    traced = encode_pixels(made(lambda: ViTModel(ViTConfig())), batch=1, height=224, width=224)
    gemm, attention = layer(patches + 1, d, f)  # the class token joins the patches
    assert traced.convolution_flops == 2 * patches * patch * patch * c * d
    assert traced.gemm_flops == L * gemm + 2 * d * d  # the pooler sees one token
    assert traced.flops == 35_126_120_448 + 1_179_648
    assert traced.attention_flops == L * attention


def test_siglip() -> None:
    from components import encode_pixels
    from transformers import SiglipVisionConfig, SiglipVisionModel

    n, d, f, L = 27 * 27, 1152, 4304, 27
    config = SiglipVisionConfig(
        hidden_size=d, intermediate_size=f, num_hidden_layers=L, num_attention_heads=16, image_size=384, patch_size=14
    )
    traced = encode_pixels(made(lambda: SiglipVisionModel(config)), batch=1, height=384, width=384)
    gemm, attention = layer(n, d, f)
    # One learned query over all tokens: keys and values of n, query and output of one, then a feed-forward part.
    pool, pool_attention = 2 * (2 * n + 2) * d * d + 2 * 2 * d * f, 4 * n * d
    assert traced.convolution_flops == 2 * n * 14 * 14 * 3 * d
    assert traced.gemm_flops == L * gemm + pool
    assert traced.attention_flops == L * attention + pool_attention
    assert traced.flops == 670_346_449_920


def test_whisper() -> None:
    from components import encode_decode
    from transformers import WhisperConfig, WhisperForConditionalGeneration

    d, f, L, V, mel, n, start = 1280, 5120, 32, 51866, 128, 1500, 4
    config = WhisperConfig(
        vocab_size=V, d_model=d, encoder_layers=L, decoder_layers=L, encoder_attention_heads=20,
        decoder_attention_heads=20, encoder_ffn_dim=f, decoder_ffn_dim=f, num_mel_bins=mel,
    )  # fmt: skip
    model = made(lambda: WhisperForConditionalGeneration(config))
    phases = encode_decode(model, states=empty(1, mel, 2 * n), name="input_features", tokens=start)
    gemm, attention = layer(n, d, f)
    encode = phases["encode"]
    assert encode.convolution_flops == 2 * 3 * mel * d * 2 * n + 2 * 3 * d * d * n
    assert (encode.gemm_flops, encode.attention_flops) == (L * gemm, L * attention)
    # Self-attention has four projections, cross-attention two more of each token; keys and values of the encoder once.
    token = 2 * (L * (6 * d * d + 2 * d * f) + d * V)
    across = 2 * n * L * 2 * d * d
    assert across == 314_572_800_000
    assert phases["prefill"].gemm_flops == start * token + across
    assert phases["decode"].gemm_flops == token
    assert phases["decode"].attention_flops == 4 * L * d * (start + 1 + n)


def test_t5() -> None:
    from components import encode_decode
    from transformers import T5Config, T5ForConditionalGeneration

    d, inner, f, L, V, n, start = 512, 512, 2048, 6, 32128, 100, 4
    model = made(lambda: T5ForConditionalGeneration(T5Config()))
    phases = encode_decode(model, states=empty(1, n, d), name="inputs_embeds", tokens=start)
    gemm, attention = layer(n, d, f)
    assert (phases["encode"].gemm_flops, phases["encode"].attention_flops) == (L * gemm, L * attention)
    token = 2 * (L * (6 * d * inner + 2 * d * f) + d * V)
    assert phases["prefill"].gemm_flops == start * token + 2 * n * L * 2 * d * inner
    assert phases["decode"].gemm_flops == token
    assert phases["decode"].attention_flops == 4 * L * inner * (start + 1 + n)


def test_flux(reference: Path) -> None:
    from components import denoise

    d, image, text = 3072, 4096, 512
    model = diffused("FluxTransformer2DModel", reference, "black-forest-labs--FLUX.1-dev--transformer.json")
    traced = denoise(
        model, hidden_states=empty(1, image, 64), encoder_hidden_states=empty(1, text, 4096),
        pooled_projections=empty(1, 768), timestep=empty(1), guidance=empty(1), img_ids=empty(image, 3),
        txt_ids=empty(text, 3),
    )  # fmt: skip
    n = image + text
    # 19 joint blocks and 38 single ones alike: 12·d² a token; then modulation, on one vector, and the embeddings.
    assert traced.attention_flops == 57 * 4 * n * n * d
    assert traced.flops == 57 * 24 * d * d * n + 57 * 4 * n * n * d + 2 * 3_246_391_296 + 16_170_614_784


def test_wan(reference: Path) -> None:
    from components import denoise

    d, text, L = 5120, 512, 40
    n = 21 * (90 // 2) * (160 // 2)
    model = diffused("WanTransformer3DModel", reference, "Wan-AI--Wan2.1-T2V-14B-Diffusers--transformer.json")
    traced = denoise(
        model, hidden_states=empty(1, 16, 21, 90, 160), timestep=empty(1), encoder_hidden_states=empty(1, text, 4096)
    )
    assert traced.attention_flops == L * 4 * n * (n + text) * d
    assert traced.convolution_flops == 2 * n * 16 * 2 * 2 * d
    assert traced.flops == 6_523_436_592_005_120


def test_sdxl(reference: Path) -> None:
    from components import denoise

    model = diffused("UNet2DConditionModel", reference, "stabilityai--stable-diffusion-xl-base-1.0--unet.json")
    traced = denoise(
        model, sample=empty(2, 4, 128, 128), timestep=empty(1), encoder_hidden_states=empty(2, 77, 2048),
        added_cond_kwargs={"text_embeds": empty(2, 1280), "time_ids": empty(2, 6)},
    )  # fmt: skip
    upper = 10 * 4 * 4096 * 640 * (4096 + 77)
    lower = 60 * 4 * 1024 * 1280 * (1024 + 77)
    assert traced.attention_flops == 2 * (upper + lower)
    assert (traced.gemm_flops, traced.convolution_flops) == (2 * 4_354_209_218_560, 2 * 1_623_111_761_920)
