"""The six functions and the clocks: their values, errors and edges, for numbers and arrays."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import mansard as ms

positive = st.floats(1e-6, 1e18)


def test_values() -> None:
    assert ms.arithmetic_intensity(2 * 4096**2, 2 * 4096**2) == 1
    assert ms.matmul_intensity(0) == 0
    assert ms.matmul_intensity(32, 0.5) == 128
    assert ms.attainable(1e14, 1e12, 1) == 1e12
    assert ms.attainable(1e14, 1e12, 1e6) == 1e14
    assert ms.ridge_point(1e14, 1e12) == 100
    assert round(ms.ridge_point(989.4e12, 3.35e12), 1) == 295.3
    assert round(ms.ridge_point(990e12, 3.35e12), 1) == 295.5
    assert ms.bound(1e14, 1e12, 100) == "compute"
    assert ms.bound(1e14, 1e12, math.nextafter(100, 0)) == "bandwidth"


@pytest.mark.parametrize(
    ("peak", "bandwidth", "width", "batch"),
    [(1e14, 1e12, 2, 100), (990e12, 3.35e12, 2, 296), (1e14, 1e12, 0.1, 5), (0, 1e12, 2, 0), (1e14, 1e12, 0.53125, 27)],
)
def test_batch_to_saturate(peak: float, bandwidth: float, width: float, batch: int) -> None:
    assert ms.batch_to_saturate(peak, bandwidth, width) == batch


@given(st.floats(1e6, 1e18), st.floats(1e6, 1e15), st.floats(0.05, 8))
def test_batch_to_saturate_is_the_edge(peak: float, bandwidth: float, width: float) -> None:
    batch = ms.batch_to_saturate(peak, bandwidth, width)
    if batch < 2**50:
        ridge = ms.ridge_point(peak, bandwidth)
        assert ms.matmul_intensity(batch, width) >= ridge
        assert batch == 0 or ms.matmul_intensity(batch - 1, width) < ridge
        assert ms.batch_to_saturate(np.array([peak]), np.array([bandwidth]), width)[0] == batch


@pytest.mark.parametrize("bad", [0, -1, math.nan])
def test_errors(bad: float) -> None:
    for call in (
        lambda: ms.arithmetic_intensity(1, bad),
        lambda: ms.matmul_intensity(1, bad),
        lambda: ms.ridge_point(1e14, bad),
        lambda: ms.batch_to_saturate(1e14, bad),
        lambda: ms.batch_to_saturate(1e14, 1e12, bad),
        lambda: ms.bound(1e14, bad, 1),
        lambda: ms.arithmetic_intensity(np.array([1.0, 1.0]), np.array([1.0, bad])),
    ):
        with pytest.raises(ValueError, match="positive"):
            call()
    with pytest.raises(ValueError, match="b must"):
        ms.matmul_intensity(-1)
    with pytest.raises(ValueError, match="finite"):
        ms.batch_to_saturate(math.inf, 1e12)


@given(st.lists(positive, min_size=1, max_size=5), positive, positive)
def test_numbers_and_arrays_agree(values: list[float], peak: float, bandwidth: float) -> None:
    many = ms.attainable(peak, bandwidth, np.array(values))
    assert many.tolist() == [ms.attainable(peak, bandwidth, value) for value in values]
    verdicts = ms.bound(peak, bandwidth, np.array(values))
    assert verdicts.tolist() == [ms.bound(peak, bandwidth, value) for value in values]


@given(positive, positive, positive)
def test_the_roof_is_two_slopes(peak: float, bandwidth: float, intensity: float) -> None:
    roof = ms.attainable(peak, bandwidth, intensity)
    assert roof <= peak
    assert roof == (bandwidth * intensity if roof < peak else peak)


def test_clocks_of_the_worked_example() -> None:
    assert ms.memory_time(16e9, 3.35e12) * 1e3 == pytest.approx(4.78, abs=0.005)
    assert ms.compute_time(16e9, 990e12) * 1e3 == pytest.approx(0.016, abs=0.0005)
    assert ms.compute_time(128e12, 990e12) * 1e3 == pytest.approx(129.29, abs=0.005)


def test_a_request() -> None:
    times = ms.request_times(0.2, 0.05, 5)
    assert times.e2e_s == pytest.approx(0.4)
    assert (times.steady_tokens_per_s, times.request_tokens_per_s) == (20, pytest.approx(12.5))
    assert ms.request_times(0.2, 0.05, 1).tpot_s is None
    for bad in ((-1, 1, 1), (1, math.nan, 1), (1, 1, 0), (1, 1, 1.5), (1, 1, True), (0, 0, 1)):
        with pytest.raises(ValueError, match=r"must|some time"):
            ms.request_times(*bad)


def test_request_times_of_arrays_are_those_of_numbers() -> None:
    ttft, itl, tokens = np.array([0.2, 0.3, 0.1]), np.array([0.05, 0.02, 0.0]), np.array([5, 1, 10])
    found = ms.request_times(ttft, itl, tokens)
    for place in range(3):
        one = ms.request_times(float(ttft[place]), float(itl[place]), int(tokens[place]))
        for many, single in zip(found, one, strict=True):
            value = np.broadcast_to(many, (3,))[place]
            assert np.isnan(value) if single is None else value == single
    with pytest.raises(ValueError, match="whole"):
        ms.request_times(0.2, 0.05, np.array([1.5]))
    with pytest.raises(ValueError, match="itl_s"):
        ms.request_times(0.2, np.array([-1.0]), 5)
    with pytest.raises(ValueError, match="whole"):
        ms.request_times(0.2, 0.05, True)


def test_batches_beyond_whole_numbers_are_refused() -> None:
    with pytest.raises(ValueError, match="larger"):
        ms.batch_to_saturate(np.array([1e30]), np.array([1.0]))
