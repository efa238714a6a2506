"""Numbers as people read them."""

import pytest

from mansard.views import wording


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.0, "0 s"), (16e9 / 3.35e12, "4.78 ms"), (0.1292929, "129.3 ms"), (2.5, "2.50 s"), (16e-6, "16 µs")],
)
def test_durations(seconds: float, text: str) -> None:
    assert wording.duration(seconds) == text


@pytest.mark.parametrize(
    ("seconds", "text"),
    # 8e9 parameters of 2 bytes at 3.35e12 B/s; 16e9 FLOP and 128e12 FLOP at 990e12 FLOP/s.
    [(2 * 8e9 / 3.35e12, "4.78 ms"), (2 * 8e9 / 990e12, "0.016 ms"), (2 * 8e9 * 8000 / 990e12, "129.29 ms")],
)
def test_milliseconds_of_the_worked_example(seconds: float, text: str) -> None:
    assert wording.milliseconds(seconds) == text


def test_memory_is_given_in_both_units() -> None:
    gib = 1 << 30
    assert wording.bytes_both(80 * gib) == "85.9 GB (80 GiB)"
    assert wording.bytes_both(143 * gib) == "153.5 GB (143 GiB)"
    assert wording.bytes_both(None) == "–"


def test_nouns_agree_with_their_counts() -> None:
    assert wording.counted(1, "sequence") == "1 sequence"
    assert wording.counted(2, "sequence") == "2 sequences"


@pytest.mark.parametrize(
    ("share", "text"), [(0, "0 %"), (1, "100 %"), (0.9966, "over 99 %"), (0.5, "50 %"), (0.0004, "< 0.1 %")]
)
def test_a_share_is_never_rounded_to_all_or_nothing(share: float, text: str) -> None:
    assert wording.percent(share) == text


@pytest.mark.parametrize(("speedup", "text"), [(1.0, "no gain"), (1.0000001, "no gain"), (2.0, "2.00 times")])
def test_no_gain_is_said(speedup: float, text: str) -> None:
    assert wording.gain(speedup) == text


@pytest.mark.parametrize("value", [9.9951, 99.9501, 999.96, 0.99951, 1e3, 1e6, 999_999_999.0])
def test_rounding_never_shows_four_digits_before_a_prefix(value: float) -> None:
    assert "1000 " not in wording.scaled(value, "B")
    assert "1,000 " not in wording.scaled(value, "B")
