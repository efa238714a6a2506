"""Lesson 3: batching, which reads the weights once for many sequences, and the batch that saturates."""

from mansard.algebra import batch_to_saturate, memory_time
from mansard.views.lessons._lesson import Exercise, Figure, Lesson, Prediction
from mansard.views.wording import milliseconds, number


def lesson() -> Lesson:
    """Batching."""
    saturating = batch_to_saturate(989.4e12, 3.35e12)
    step = memory_time(16e9, 3.35e12)
    return Lesson(
        place=3,
        title="Batching",
        prediction=Prediction(
            "One user gets a token every 4.8 ms. Now 100 users are served in the same steps, by weights alone. How long is a "
            "step?",
            ("480 ms", "about 48 ms", "4.8 ms"),
            2,
            "The weights are read once for all of them, and the cores were idle anyway.",
        ),
        text=(
            "A weight that has been read can be used for every sequence of the batch. The bytes stay, the FLOPs grow, and so "
            "the intensity of the linear layers is the batch (in two bytes): b sequences, b FLOPs for each byte.",
            "Until the intensity reaches the ridge point, a larger batch is free: the same step makes more tokens. From "
            "there on the compute clock is the longer one, and each further sequence makes the step longer.",
            "This holds for weights. What each sequence brings for itself, its cache, grows with the batch: that is the next "
            "lesson.",
        ),
        figure=Figure("batch", {"model": "params=8e9", "on": "h100-sxm"}, "batch", 1, 4096,
                      "the knee: the step's time stays flat before it and grows after it"),
        worked=(
            "ridge point of an H100 in bf16: 295.3 FLOP/byte; intensity of a batch b in two bytes: b FLOP/byte",
            f"smallest b that reaches it: {number(saturating)}",
            f"step before it: 16e9 B / 3.35e12 B/s = {milliseconds(step)}, for 1 sequence as for {number(saturating - 1)}",
        ),
        exercises=(
            Exercise("A device has 312 TFLOP/s and 2.0 TB/s. From which batch on does compute bind (two-byte weights)?",
                     float(batch_to_saturate(312e12, 2.0e12)), "sequences", "The batch must reach the ridge point.",
                     ("312e12 / 2.0e12 = 156, and a batch of 156 has 156 FLOP/byte.",), 0.0),
            Exercise("And with weights of one byte, multiplied at the same rate?",
                     float(batch_to_saturate(312e12, 2.0e12, 1)), "sequences",
                     "Half the bytes: what intensity has a batch of b now?",
                     ("2·b FLOP for each byte, so that b = 156 / 2 = 78.",), 0.0),
        ),
    )  # fmt: skip
