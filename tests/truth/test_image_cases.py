"""Public questions and bug reports on images and video by their ids, each with the right value."""

from typing import Any

import pytest

from mansard.imaging import Run, best_s, phases, plan, stage_flops
from mansard.inputs.device_file import load_device
from mansard.inputs.parts import Convolution
from mansard.inputs.scenario import Deployment
from mansard.pipelines import load_pipeline


def run(name: str, **asked: Any) -> Run:
    return plan(load_pipeline(name), **asked)


def denoise_s(found: Run, device: str) -> float:
    """Seconds of all steps at their bound."""
    return found.stages["denoise"].times * phases(found, load_device(device))["denoise"].best_s


def test_d01_volta_has_no_matrix_units_for_bf16() -> None:
    steps = 50
    short = run("flux.1-dev", steps=steps, deployment=Deployment(activations="fp16", weights="fp16"))
    own = run("flux.1-dev", steps=steps)
    v100 = load_device("v100-sxm-32gb")
    assert denoise_s(short, "v100-sxm-32gb") == pytest.approx(steps * 74_384_653_418_496 / 125e12, rel=1e-3)
    assert denoise_s(short, "v100-sxm-32gb") == pytest.approx(29.7, abs=0.1)
    slow = v100.peak("bf16").flops_per_s
    assert slow == 15.7e12
    assert denoise_s(own, "v100-sxm-32gb") == pytest.approx(237, abs=0.5)


def test_d02_attention_is_a_fifth_and_stays_in_bf16() -> None:
    stage = run("flux.1-dev").stages["denoise"]
    linear, attention = stage_flops(stage, "linear"), stage_flops(stage, "attention")
    assert attention / (linear + attention) == pytest.approx(0.2, abs=5e-3)
    assert 1 / (linear / 1979e12 + attention / 989e12) == pytest.approx(22, abs=0.2)


def test_d05_a_unet_is_counted_with_its_attention_and_guidance_doubles_it() -> None:
    stage = run("sdxl", height=1024, width=1024).stages["denoise"]
    assert stage_flops(stage) / stage.items == pytest.approx(6.76e12, rel=1e-3)
    assert stage.items == 2


def test_d07_a_batch_gains_nothing_where_one_image_is_compute_bound() -> None:
    l4 = load_device("l4")
    one, four = (phases(run("sdxl", batch=batch), l4)["denoise"] for batch in (1, 4))
    assert one.bound == four.bound == "compute"
    assert one.intensity > 1000 > one.ridge_point
    assert four.best_s == pytest.approx(4 * one.best_s)


def test_d09_six_images_take_six_times_as_long_once_compute_binds() -> None:
    h100 = load_device("h100-sxm")
    one, six = (phases(run("sd-1.5", batch=batch), h100)["denoise"] for batch in (1, 6))
    assert one.bound == "compute"
    assert six.flops == 6 * one.flops
    assert 5 < six.best_s / one.best_s <= 6


def test_d10_fewer_bits_of_weights_fit_and_are_no_faster() -> None:
    plain = run("flux.1-dev")
    small = run("flux.1-dev", deployment=Deployment(weights="nf4"))
    assert small.weight_bytes["transformer"] < 0.3 * plain.weight_bytes["transformer"]
    assert denoise_s(small, "h100-sxm") == denoise_s(plain, "h100-sxm")


def test_d12_fp8_products_gain_little_where_attention_is_most() -> None:
    stage = run("hunyuanvideo", height=720, width=1280, frames=129).stages["denoise"]
    whole, attention = stage_flops(stage), stage_flops(stage, "attention")
    assert whole == pytest.approx(12.07e15, rel=1e-3)
    assert attention / whole == pytest.approx(0.87, abs=5e-3)
    assert whole / (attention + (whole - attention) / 2) == pytest.approx(1.07, abs=5e-3)


def test_d14_guidance_doubles_the_passes_of_a_video() -> None:
    found = run("wan-2.1-t2v-14b", height=480, width=832, frames=81, steps=30, guidance=7.5)
    assert found.stages["denoise"].tokens == 32_760
    assert denoise_s(found, "h100-pcie") == pytest.approx(133, abs=1)


def test_d17_a_small_denoiser_is_mostly_attention() -> None:
    found = run("wan-2.1-t2v-1.3b", height=480, width=832, frames=81, steps=50)
    stage = found.stages["denoise"]
    assert stage_flops(stage) / stage.items == pytest.approx(0.283e15, rel=2e-3)
    assert stage_flops(stage, "attention") / stage_flops(stage) == pytest.approx(0.7, abs=0.01)
    assert stage.times * stage_flops(stage) / 165e12 == pytest.approx(171, abs=1)


def test_a33_a_multiply_add_is_two_operations() -> None:
    """ResNet-50 at 224×224: bottlenecks of 1×1, 3×3 (with the stride) and 1×1 convolutions, and a classifier."""

    def flops(inputs: int, outputs: int, side: int, kernel: int) -> int:
        positions = side * side
        part = Convolution("", "", inputs, outputs, (kernel, kernel), positions, positions, positions, bias=False)
        return 2 * part.positions * part.elements

    total, inputs = flops(3, 64, 112, 7), 64
    for width, blocks, side, stride in ((64, 3, 56, 1), (128, 4, 28, 2), (256, 6, 14, 2), (512, 3, 7, 2)):
        total += flops(inputs, 4 * width, side, 1)  # the shortcut
        for block in range(blocks):
            total += flops(inputs, width, side * (stride if block == 0 else 1), 1)
            total += flops(width, width, side, 3) + flops(width, 4 * width, side, 1)
            inputs = 4 * width
    total += 2 * 2048 * 1000
    assert total == pytest.approx(8.2e9, abs=0.03e9)


def test_the_whole_image_is_encode_steps_and_decode() -> None:
    found = run("flux.1-dev", steps=28)
    one = phases(found, load_device("h100-sxm"))
    rest = sum(one[name].best_s for name in one if name != "denoise")
    assert best_s(found, one) == pytest.approx(28 * one["denoise"].best_s + rest)
