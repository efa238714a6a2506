"""Lesson 7: quantisation, which moves the memory clock, and the compute clock only where the arithmetic changes too."""

from mansard.analysis import step
from mansard.precision import WEIGHT_FORMATS
from mansard.views.lessons._lesson import Exercise, Figure, Lesson, Prediction
from mansard.views.wording import duration, figure


def lesson() -> Lesson:
    """Quantisation."""
    before = step("llama-3.1-8b", on="h100-sxm", context=1024)
    after = step("llama-3.1-8b", on="h100-sxm", context=1024, weights="int4-g128")
    bits = WEIGHT_FORMATS["int4-g128"].bits_per_weight
    return Lesson(
        place=7,
        title="Quantisation",
        prediction=Prediction(
            "The weights go from 16 bits to 4, and are widened again before they are multiplied. Prefill of a long prompt "
            "was bound by compute. How much faster does it get?",
            ("four times", "twice", "not at all"),
            2,
            "It multiplies as many numbers at the same rate as before; only fewer bytes are read, which it did not wait for.",
        ),
        text=(
            "Fewer bits for each weight are fewer bytes to read: decode, which waits for them, speeds up nearly as much. Not quite, "
            "since scales and zero points are stored beside the weights, and the cache and the head stay.",
            "If only the weights are short, the arithmetic stays what it was. If activations are short too (fp8 times fp8), the "
            "cores run at a higher rate and the compute clock gets shorter as well.",
            "A shorter cache helps where contexts are long, and lets more sequences fit. What binds tells what to shorten.",
        ),
        figure=Figure("clocks", {"model": "llama-3.1-8b", "on": "h100-sxm", "weights": "int4-g128"}, "prompt", 1, 32768,
                      "decode's memory clock against prefill's compute clock"),
        worked=(
            f"4 bits in groups of 128 with 16-bit scales and 4-bit zeros: {figure(bits)} bits a weight",
            f"Llama-3.1-8B at batch 1: {duration(before.best_s)} in bf16, {duration(after.best_s)} with 4-bit weights, "
            f"{before.best_s / after.best_s:.2f} times as fast",
        ),
        exercises=(
            Exercise("Blocks of 32 weights of 4 bits share a scale of 8 bits. How many bits is that for each weight?", 4 + 8 / 32,
                     "bits", "Spread the scale over its block.", ("4 + 8 / 32 = 4.25 bits.",), 0.001),
            Exercise("A decode step reads 14 GB of weights and 2 GB of cache. The weights are halved. How many times as fast is it "
                     "(memory-bound)?", 16 / 9, "times", "What is read before, and what after?", ("16 / (7 + 2) = 1.78 times.",)),
        ),
    )  # fmt: skip
