"""Images and video: the worked values of the counting rules, derived by hand from named symbols, to the last digit."""

import pytest

from mansard.imaging import Run, latents, plan, stage_flops
from mansard.inputs.parts import Sample
from mansard.pipelines import load_pipeline


def denoise(name: str, **sizes: int | float) -> Run:
    return plan(load_pipeline(name), **sizes)  # type: ignore[arg-type]


def test_flux_is_row_17() -> None:
    h, double, single, text, image = 3072, 19, 38, 512, 64 * 64
    n, layers = image + text, double + single
    blocks = layers * 24 * h * h * n
    attention = layers * 4 * n * n * h
    # On one vector: two streams of six in a double block, three in a single one.
    modulation = double * 2 * 6 * h * h + single * 3 * h * h
    vectors = 2 * (256 * h + h * h) + 768 * h + h * h + 2 * h * h  # timestep, guidance, pooled text; the last norm
    tokens = image * 64 * h + text * 4096 * h + image * h * 64
    stage = denoise("flux.1-dev", height=1024, width=1024, steps=1).stages["denoise"]
    assert (blocks, attention) == (59_489_592_016_896, 14_872_398_004_224)
    assert modulation + 2 * h * h == 3_246_391_296
    assert 2 * (vectors - 2 * h * h + tokens) == 16_170_614_784
    assert stage_flops(stage, "attention") == attention
    assert stage_flops(stage, "linear") == blocks + 2 * (modulation + vectors + tokens)
    assert stage_flops(stage) == 74_384_653_418_496
    assert stage.items == 1  # guidance is an input: one pass


def test_wan_is_row_18() -> None:
    d, layers, f, text, n = 5120, 40, 13_824, 512, 21 * 45 * 80
    stage = denoise("wan-2.1-t2v-14b", height=720, width=1280, frames=81, steps=1).stages["denoise"]
    itself, across = layers * 4 * n * n * d, layers * 4 * n * text * d
    assert (n, itself, across) == (75_600, 4_682_022_912_000_000, 31_708_938_240_000)
    linear = layers * 2 * (n * (6 * d * d + 2 * d * f) + text * 2 * d * d)
    patches, embedders = 2 * n * 16 * 4 * d, 2 * (256 * d + d * d + 6 * d * d + text * (4096 * d + d * d))
    out = 2 * n * d * 16 * 4
    assert linear == 1_809_556_963_328_000
    assert patches + embedders + out == 147_778_437_120
    assert stage.items == 2  # guidance
    assert stage_flops(stage, "attention") == 2 * (itself + across)
    assert stage_flops(stage, "convolution") == 2 * patches
    assert stage_flops(stage) == 2 * 6_523_436_592_005_120 == 13_046_873_184_010_240
    assert itself / 6_523_436_592_005_120 == pytest.approx(0.72, abs=5e-3)


def test_sdxl_is_row_19() -> None:
    stage = denoise("sdxl", height=1024, width=1024, steps=1).stages["denoise"]
    upper, lower = 10 * 4 * 4096 * 640 * (4096 + 77), 60 * 4 * 1024 * 1280 * (1024 + 77)
    assert upper + lower == 783_915_417_600
    assert stage.items == 2
    assert stage_flops(stage, "attention") == 2 * (upper + lower)
    assert stage_flops(stage, "linear") == 2 * 4_354_209_218_560
    assert stage_flops(stage, "convolution") == 2 * 1_623_111_761_920
    assert stage_flops(stage) == 13_522_472_796_160
    assert (upper + lower) / 6_761_236_398_080 == pytest.approx(0.12, abs=5e-3)


@pytest.mark.parametrize(
    ("name", "height", "width", "frames", "tokens"),
    [
        ("flux.1-dev", 1024, 1024, 1, 64 * 64),
        ("qwen-image", 1328, 1328, 1, 83 * 83),
        ("sd3-medium", 1024, 1024, 1, 64 * 64),
        ("wan-2.1-t2v-14b", 720, 1280, 81, 75_600),
        ("wan-2.1-t2v-14b", 480, 832, 81, 32_760),
        ("hunyuanvideo", 720, 1280, 129, 118_800),
        ("cogvideox-2b", 480, 720, 49, 17_550),
        ("wan-2.2-ti2v-5b", 704, 1280, 121, 31 * 22 * 40),
        ("ltx-video", 512, 704, 161, 21 * 16 * 22),
    ],
)
def test_latent_tokens(name: str, height: int, width: int, frames: int, tokens: int) -> None:
    pipeline = load_pipeline(name)
    assert pipeline.denoiser is not None
    assert pipeline.denoiser.tokens(latents(pipeline, height, width, frames)) == tokens


def test_parameters_are_those_of_the_table() -> None:
    wanted = {
        "flux.1-dev": 11_901_408_320,
        "flux.1-schnell": 11_891_178_560,
        "wan-2.1-t2v-1.3b": 1_418_996_800,
        "wan-2.1-t2v-14b": 14_288_491_584,
        "wan-2.2-ti2v-5b": 4_999_787_712,
        "qwen-image": 20_430_401_088,
        "hunyuanvideo": 12_821_012_544,
        "cogvideox-2b": 1_693_783_872,
        "cogvideox-5b": 5_570_283_072,
        "ltx-video": 1_923_385_472,
        "sd-1.5": 859_520_964,
        "sdxl": 2_567_463_684,
        "sd3-medium": 2_028_328_000,
    }
    found = {name: load_pipeline(name).denoiser for name in wanted}
    assert {name: one.parameters for name, one in found.items() if one} == wanted


def test_the_decoder_of_stable_diffusion_by_hand() -> None:
    h = w = 128  # latents

    def block(inputs: int, outputs: int, area: int) -> int:
        shortcut = inputs * outputs if inputs != outputs else 0
        return 2 * area * (9 * inputs * outputs + 9 * outputs * outputs + shortcut)

    areas = [h * w * 4**level for level in range(4)]
    middle = 2 * block(512, 512, areas[0])
    ups = 3 * block(512, 512, areas[0]) + 3 * block(512, 512, areas[1])
    ups += block(512, 256, areas[2]) + 2 * block(256, 256, areas[2])
    ups += block(256, 128, areas[3]) + 2 * block(128, 128, areas[3])
    resized = 2 * 9 * (512 * 512 * areas[1] + 512 * 512 * areas[2] + 256 * 256 * areas[3])
    ends = 2 * (4 * 4 * areas[0] + 9 * 4 * 512 * areas[0] + 9 * 128 * 3 * areas[3])
    stage = denoise("sdxl", height=8 * h, width=8 * w).stages["decode_image"]
    assert stage_flops(stage, "convolution") == middle + ups + resized + ends
    assert stage_flops(stage, "attention") == 4 * areas[0] ** 2 * 512
    assert stage_flops(stage, "linear") == 2 * areas[0] * 4 * 512 * 512


def test_a_causal_decoder_makes_one_frame_of_the_first_and_four_of_every_other() -> None:
    vae = load_pipeline("wan-2.1-t2v-14b").autoencoder
    assert vae is not None
    one, two, three = (
        {part.name: part for part in vae.parts(Sample(height=8, width=8, frames=frames)) if part.group == "output"}
        for frames in (1, 2, 3)
    )
    pixels = 64 * 64
    assert [parts["conv_out"].positions for parts in (one, two, three)] == [pixels, 5 * pixels, 9 * pixels]  # type: ignore[union-attr]


def test_text_encoders_of_flux_by_hand() -> None:
    n, h, f, layers = 77, 768, 3072, 12  # CLIP, whose tokens see those before them
    clip = layers * (2 * n * (4 * h * h + 2 * h * f) + 4 * h * n * (n + 1) // 2)
    m, d, wide, deep = 512, 4096, 10_240, 24  # T5, with a gate
    t5 = deep * (2 * m * (4 * d * d + 3 * d * wide) + 4 * m * m * d)
    found = denoise("flux.1-dev")
    assert stage_flops(found.stages["encode"]) == clip + t5
    assert {name: found.weight_bytes[name] for name in ("text_encoder", "text_encoder_2")} == {
        "text_encoder": 2 * 123_060_480,
        "text_encoder_2": 2 * 4_762_310_656,
    }


def test_text_encoders_of_catalogued_pipelines_have_the_parameters_of_their_classes() -> None:
    wanted = {
        "sdxl": [123_060_480, 694_659_840],
        "sd3-medium": [123_650_304, 694_659_840, 4_762_310_656],
        "wan-2.2-t2v-a14b": [5_680_910_336],
        "qwen-image": [8_292_166_656],
    }
    assert {name: [text.model.parameters for text in load_pipeline(name).texts] for name in wanted} == wanted
