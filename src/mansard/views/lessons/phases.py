"""Lesson 5: prefill and decode, the same model in two regimes."""

from mansard.algebra import compute_time
from mansard.analysis import analyze
from mansard.views.lessons._lesson import Exercise, Figure, Lesson, Prediction
from mansard.views.wording import duration, scaled


def lesson() -> Lesson:
    """Prefill and decode."""
    found = analyze("llama-3.1-8b", on="h100-sxm", prompt=8000)
    assert found.decode is not None  # more than one token is asked for
    assert found.prefill is not None
    return Lesson(
        place=5,
        title="Prefill and decode",
        prediction=Prediction(
            "A prompt of 8,000 tokens goes through a model, then one token is made. Which takes longer, and by how much?",
            ("the token, since decode is slow", "both the same", "the prompt, about thirty times"),
            2,
            f"The prompt takes {duration(found.prefill.best_s)}, a token {duration(found.decode.best_s)}.",
        ),
        text=(
            "All tokens of a prompt are known, and go through the model at once: one reading of the weights, 8,000 "
            "multiplications with each. Prefill has the intensity of a batch of 8,000 and is bound by compute.",
            "The answer's tokens are made one after the other, since each depends on the last. Decode reads all weights and "
            "the whole cache for each of them, and is bound by memory.",
            "In prefill a token attends only to those before it: n · (n + 1) / 2 pairs and not n². And only the last token's "
            "logits are needed.",
        ),
        figure=Figure("roofline", {"model": "llama-3.1-8b", "on": "h100-sxm"}, "prompt", 1, 65536,
                      "prefill: from which prompt on it is bound by compute"),
        worked=(
            f"prefill of 8,000 tokens: {scaled(found.prefill.flops, 'FLOP')} / 989.4 TFLOP/s = {duration(found.prefill.best_s)}",
            f"decode at 8,128 tokens: {scaled(found.decode.bytes.total, 'B')} / 3.35 TB/s = {duration(found.decode.best_s)}",
        ),
        exercises=(
            Exercise("8e9 parameters, 2 FLOPs each for a token, a prompt of 2,000 tokens, 990 TFLOP/s. How long is prefill, "
                     "without attention?", compute_time(2 * 8e9 * 2000, 990e12), "s", "FLOPs = 2 · parameters · tokens.",
                     ("2 · 8e9 · 2,000 = 32 TFLOP; / 990e12 = 32.3 ms.",)),
            Exercise("How many pairs of query and key does a prompt of 1,000 tokens have in one head?", 1000 * 1001 / 2, "pairs",
                     "The first token sees itself, the second two, and so on.", ("1,000 · 1,001 / 2 = 500,500.",), 0.0),
        ),
    )  # fmt: skip
