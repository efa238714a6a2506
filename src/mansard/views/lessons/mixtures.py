"""Lesson 8: mixtures, which touch more experts as the batch grows; images; several devices."""

from mansard.analysis import step
from mansard.operators.step import distinct_experts
from mansard.views.lessons._lesson import Exercise, Figure, Lesson, Prediction
from mansard.views.wording import duration, figure


def lesson() -> Lesson:
    """Mixtures, images, several devices."""
    touched = distinct_experts(256, 8, 32)
    one, many = (step("mixtral-8x7b", on="h200-sxm", batch=batch, context=1024) for batch in (1, 32))
    return Lesson(
        place=8,
        title="Mixtures, images and several devices",
        prediction=Prediction(
            "A mixture sends each token to 8 of 256 experts. For 32 tokens, how many experts are read?",
            ("8", "all 256", "about 163"),
            2,
            f"Each expert is missed by a token with 31/32, by all 32 with (31/32)^32: {figure(touched)} are touched.",
        ),
        text=(
            "A mixture works with few of its experts for each token, but a batch touches many of them. Expected distinct "
            "experts = E · (1 − (1 − k/E)^tokens). At batch 1 it reads like a small model, at batch 100 like a large one, "
            "and still works like a small one: mixtures stay bound by memory for longer.",
            "Image generation is the other way round: a step works on thousands of image tokens at once, like a prefill, and is "
            "repeated for every step of the denoising. It is bound by compute from batch 1 on, and guidance doubles it.",
            "Several devices share the weights and read their parts at the same time: the memory clock is divided, and a third "
            "clock appears, for what they must tell each other in every layer. More devices help until that clock is the longest.",
        ),
        figure=Figure("batch", {"model": "mixtral-8x7b", "on": "h200-sxm"}, "batch", 1, 512,
                      "the step's time growing from the first batches on, while experts are still being added"),
        worked=(
            f"256 experts, 8 for each token, 32 tokens: 256 · (1 − (1 − 8/256)^32) = {figure(touched)}",
            f"Mixtral-8x7B: {duration(one.best_s)} at batch 1, {duration(many.best_s)} at batch 32, "
            f"{many.best_s / one.best_s:.1f} times, where a dense model would hardly change",
        ),
        exercises=(
            Exercise("8 experts, 2 for each token, 4 tokens. How many experts are touched, on average?",
                     float(distinct_experts(8, 2, 4)), "experts", "A token misses an expert with 1 − 2/8.",
                     ("8 · (1 − 0.75^4) = 5.47.",)),
            Exercise("141 GB of weights on 4 devices with 4.8 TB/s each, read side by side. How long does it take at best?",
                     141e9 / 4 / 4.8e12, "s", "Each reads a quarter.", ("141e9 / 4 / 4.8e12 = 7.34 ms.",)),
        ),
    )  # fmt: skip
