"""How many tokens images, videos and sound become: worked by hand from the rules of the published preprocessors."""

from math import ceil, floor, sqrt
from typing import Any

import pytest

import mansard
from mansard.inputs.perception import (
    Asked,
    BoundedImage,
    FixedImage,
    NativeImage,
    PaddedAudio,
    RowedImage,
    TrimmedAudio,
)
from mansard.inputs.tiles import CanvasTiles, PaddedTiles, RatioTiles, ResolutionTiles, Tile
from mansard.models import read_config

QWEN3 = NativeImage(16, 2, 65536, 16777216, 2, (4096, 25165824))
TILE = Tile(448, 14, 1, 256)


def image(height: int, width: int, **more: Any) -> Asked:
    return Asked(images=1, height=height, width=width, **more)


def test_a_small_image_is_scaled_up_to_the_least_pixels() -> None:
    scale = sqrt(65536 / (100 * 200))
    rows, columns = ceil(100 * scale / 32) * 2, ceil(200 * scale / 32) * 2
    assert QWEN3.reading(image(100, 200)).grid == (rows, columns) == (12, 24)


def test_a_large_image_is_scaled_down_to_the_most_pixels() -> None:
    scale = sqrt(6000 * 8000 / 16777216)
    rows, columns = floor(6000 / scale / 32) * 2, floor(8000 / scale / 32) * 2
    assert QWEN3.reading(image(6000, 8000)).grid == (rows, columns) == (220, 294)


def test_a_video_shares_the_pixels_among_its_frames() -> None:
    frames = 64
    scale = sqrt(frames * 1080 * 1920 / 25165824)
    rows, columns = floor(1080 / scale / 32) * 2, floor(1920 / scale / 32) * 2
    found = QWEN3.reading(image(1080, 1920, frames=frames))
    assert found.grid == (rows, columns)
    assert found.sequences == frames // 2
    assert found.given == frames // 2 * rows * columns // 4
    assert QWEN3.reading(image(1080, 1920, frames=5)).sequences == 3  # the last frame stands for two


def test_pixtral_scales_down_and_never_up() -> None:
    reads = RowedImage(1024, 16)
    assert reads.reading(image(2048, 1024)).grid == (64, 32)
    assert reads.reading(image(17, 100)).grid == (2, 7)
    assert reads.reading(image(17, 100)).given == 2 * (7 + 1)
    assert reads.reading(image(1, 100000)).grid == (1, 64)


def test_kimi_bounds_the_patches_and_a_side() -> None:
    reads = BoundedImage(14, 2, 16384, 512, 4096, 4)
    scale = sqrt(16384 / ((3000 // 14) * (4000 // 14)))
    rows, columns = ceil(int(3000 * scale) / 28) * 2, ceil(int(4000 * scale) / 28) * 2
    assert reads.reading(image(3000, 4000)).grid == (rows, columns)
    assert reads.reading(image(20, 14 * 600)).grid[1] == 512
    assert reads.reading(image(20, 20)).grid == (2, 2)


@pytest.mark.parametrize(("height", "width", "tiles"), [
    (448, 448, 1),  # one tile covers it
    (900, 900, 4),  # of 1, 4 and 9 tiles, all square: 4, since 9 have more than twice its area
    (100, 1200, 12),  # 12 × 1 exactly
    (448, 896, 2),  # 2 × 1, and 4 × 2 has more than twice the area
])  # fmt: skip
def test_internvl_takes_the_nearest_shape(height: int, width: int, tiles: int) -> None:
    whole = 1 if tiles > 1 else 0
    assert RatioTiles(TILE, 1, 12).reading(image(height, width)).sequences == tiles + whole
    assert RatioTiles(TILE, 1, 12, overview=False).reading(image(height, width)).sequences == tiles


def test_llama_4_scales_up_the_least() -> None:
    tile = Tile(336, 14, 1, 144)
    reads = CanvasTiles(tile, 16)
    assert reads.reading(image(336, 336)).given == 144 + 1  # the one tile is the whole image
    # 400 × 300 needs two tiles upright to be no smaller, at a scale of min(672/400, 336/300) = 1.12.
    assert reads.reading(image(400, 300)).given == 3 * 144 + 2 + 1
    assert reads.reading(Asked()).sequences == 0


def test_llava_next_prefers_the_canvas_that_keeps_most() -> None:
    reads = ResolutionTiles(Tile(336, 14, 1, 576), ((336, 672), (672, 336), (672, 672)))
    wide = reads.reading(image(336, 672))
    assert wide.sequences == 3
    assert wide.given == 576 + 24 * (48 + 1)  # nothing is padded
    # 672 × 100: on 672 × 336 all pixels are kept; of 24 columns 48·100/672 = 7.14 hold the image, and 8 stay.
    assert reads.reading(image(672, 100)).given == 576 + 48 * (8 + 1)


def test_tiles_that_are_always_there() -> None:
    reads = PaddedTiles(Tile(560, 14, 1), 4)
    assert reads.tokens == 4 * 1608
    assert reads.reading(Asked(images=2)).given == 2 * 4 * 1601
    assert reads.words == ("images",)


def test_sound_in_windows() -> None:
    assert PaddedAudio(30, 1500, 375).reading(Asked(seconds=30.5)).given == 750
    assert TrimmedAudio(30, 1500).reading(Asked(seconds=0.04)).given == 1  # four frames, two, one
    assert TrimmedAudio(30, 1500).reading(Asked(seconds=60.0)).sequences == 2
    assert TrimmedAudio(30, 1500).reading(Asked()).sequences == 0


def test_nothing_is_read_where_no_image_is_asked_for() -> None:
    ways = (FixedImage(224, 16), QWEN3, RowedImage(1024, 16), BoundedImage(14, 2, 4096, 512), RatioTiles(TILE, 1, 12))
    assert {way.reading(Asked(prompt=5)).sequences for way in ways} == {0}


# Qwen2.5-VL in small: W wide, X the part's width, B layers of which one sees all, windows of 8 × 8 patches.
W, X, B, H = 32, 48, 3, 64


def test_windows_of_an_image_are_cut_off_at_its_edges() -> None:
    document = {
        "model_type": "qwen2_5_vl", "hidden_size": H, "num_attention_heads": 4, "num_key_value_heads": 2,
        "num_hidden_layers": 2, "intermediate_size": 96, "vocab_size": 99, "torch_dtype": "bfloat16",
        "vision_config": {
            "hidden_size": W, "out_hidden_size": H, "num_heads": 4, "depth": B, "intermediate_size": X,
            "fullatt_block_indexes": [1], "window_size": 112,
        },
    }  # fmt: skip
    model = read_config(document, "config.json")
    found = mansard.analyze(model, on="h100-sxm", prompt=10, images=1, resolution=f"{14 * 22}x{14 * 18}")
    phase = found.phases["encode"]
    attention = sum(row.flops for row in phase.operators if row.kind == "attention")
    # 18 rows are windows of 8, 8 and 2, 22 columns of 8, 8 and 6.
    windows = (8**2 + 8**2 + 2**2) * (8**2 + 8**2 + 6**2)
    assert attention == 4 * W * (2 * windows + (18 * 22) ** 2)
    assert found.prefill is not None
    assert found.prefill.tokens == 10 + 18 * 22 // 4
