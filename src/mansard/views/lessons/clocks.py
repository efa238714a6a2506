"""Lesson 1: two clocks, one for reading and one for working, and the intensity that decides between them."""

from mansard.algebra import compute_time, matmul_intensity, memory_time
from mansard.views.lessons._lesson import Exercise, Figure, Lesson, Prediction
from mansard.views.wording import figure, milliseconds

_PARAMETERS, _BYTES, _PEAK, _BANDWIDTH = 8e9, 2, 990e12, 3.35e12


def lesson() -> Lesson:
    """Two clocks and intensity."""
    moved = _PARAMETERS * _BYTES
    reading, working = memory_time(moved, _BANDWIDTH), compute_time(2 * _PARAMETERS, _PEAK)
    return Lesson(
        place=1,
        title="Two clocks",
        prediction=Prediction(
            "A model of 8 billion parameters makes one token on an H100. Its cores could multiply 990 trillion times a "
            "second. For how much of the time do they work?",
            ("almost all of it", "about half", "less than one percent"),
            2,
            f"Reading the weights takes {milliseconds(reading)}, multiplying with them {milliseconds(working)}.",
        ),
        text=(
            "A device does two things at once: it moves bytes from its memory, and it calculates. Each takes the time that "
            "the amount needs at the device's rate. Think of two clocks that start together; the step is over when the "
            "slower one stops.",
            "memory clock = bytes / bandwidth. compute clock = FLOPs / peak.",
            "To make one token, every weight is read once and used for one multiplication and one addition. With two "
            "bytes a weight that is one FLOP for each byte. This ratio is the arithmetic intensity: what the work asks "
            "for, whatever the device is.",
        ),
        figure=Figure("clocks", {"model": "params=8e9", "on": "h100-sxm", "output": 2}, "batch", 1, 1024,
                      "which of decode's clocks grows with the batch, and which stays"),
        worked=(
            "8e9 parameters of 2 bytes: 16 GB to read.",
            f"memory clock = 16e9 B / 3.35e12 B/s = {milliseconds(reading)}",
            f"compute clock = 2 · 8e9 FLOP / 990e12 FLOP/s = {milliseconds(working)}",
            f"The reading takes {figure(reading / working)} times as long: memory binds.",
        ),
        exercises=(
            Exercise("A device with 4.8 TB/s reads the same 16 GB. How long does it take?", memory_time(moved, 4.8e12), "s",
                     "Divide the bytes by the bandwidth.", ("16e9 B / 4.8e12 B/s = 3.33 ms.",)),
            Exercise("The weights are stored in one byte each, and the arithmetic stays. What is the intensity for one token?",
                     matmul_intensity(1, 1), "FLOP/byte", "Two FLOPs for each weight, and how many bytes for each weight?",
                     ("2 FLOP / 1 byte = 2 FLOP/byte.",)),
        ),
    )  # fmt: skip
