"""Lesson 2: the ridge point, where both clocks take the same time, and the roof that it divides."""

from mansard.algebra import attainable, ridge_point
from mansard.views.lessons._lesson import Exercise, Figure, Lesson, Prediction
from mansard.views.wording import figure, scaled

_PEAK, _BANDWIDTH = 1e14, 1e12


def lesson() -> Lesson:
    """The ridge point."""
    ridge = ridge_point(_PEAK, _BANDWIDTH)
    return Lesson(
        place=2,
        title="The ridge point",
        prediction=Prediction(
            "A workload does one FLOP for each byte, on a device that needs a hundred to be busy. The vendor doubles the "
            "peak. How much faster does it get?",
            ("twice as fast", "a little faster", "not at all"),
            2,
            "It waits for memory before and after. Only the part that binds makes a difference.",
        ),
        text=(
            "Divide the peak by the bandwidth and you get the FLOPs that the device can do while it reads one byte. This is "
            "its ridge point. A workload of lower intensity waits for memory, one of higher intensity for the cores.",
            "attainable = the smaller of peak and bandwidth · intensity. Drawn on logarithmic axes this is a roof: a slope "
            "that is the bandwidth, and a ceiling that is the peak.",
            "A device with a better peak and the same bandwidth has its ridge further right: more workloads are bound by its "
            "memory, not fewer.",
        ),
        figure=Figure("roofline", {"model": "params=8e9", "on": "h100-sxm", "output": 2}, "batch", 1, 1024,
                      "decode climbing the slope, one batch at a time, until it meets the ridge"),
        worked=(
            "peak 1e14 FLOP/s, bandwidth 1e12 B/s",
            f"ridge point = 1e14 / 1e12 = {figure(ridge)} FLOP/byte",
            f"at 1 FLOP/byte: the smaller of 1e14 and 1e12 · 1 = {scaled(attainable(_PEAK, _BANDWIDTH, 1), 'FLOP/s')}, "
            "one percent of the peak",
            f"at 400 FLOP/byte: {scaled(attainable(_PEAK, _BANDWIDTH, 400), 'FLOP/s')}, all of it",
        ),
        exercises=(
            Exercise("An H100 SXM has 989.4 TFLOP/s in bf16 and 3.35 TB/s. Where is its ridge point?",
                     ridge_point(989.4e12, 3.35e12), "FLOP/byte", "Peak over bandwidth.",
                     ("989.4e12 / 3.35e12 = 295.3 FLOP/byte.",)),
            Exercise("What can it attain at 50 FLOP/byte?", attainable(989.4e12, 3.35e12, 50), "FLOP/s",
                     "Below the ridge the slope counts: bandwidth times intensity.",
                     ("3.35e12 · 50 = 167.5 TFLOP/s, below the peak.",)),
        ),
    )  # fmt: skip
