"""Lesson 6: requests, from the first token to the last, and what a mean does not tell."""

from mansard.algebra import request_times
from mansard.views.lessons._lesson import Exercise, Figure, Lesson, Prediction
from mansard.views.wording import duration, figure


def lesson() -> Lesson:
    """Requests and tails."""
    times = request_times(0.2, 0.05, 5)
    return Lesson(
        place=6,
        title="Requests and tails",
        prediction=Prediction(
            "The first token comes after 200 ms, each further one after 50 ms, five tokens in all. At which rate does the user "
            "get tokens over the whole request?",
            ("20 tokens/s", "25 tokens/s", "12.5 tokens/s"),
            2,
            "5 tokens in 200 + 4 · 50 = 400 ms. 20 tokens/s is the rate while it streams.",
        ),
        text=(
            "TTFT is the time to the first token: the queue and the prefill. ITL is the gap between two tokens, TPOT the mean of "
            "the gaps. End to end = TTFT + (n − 1) · TPOT: n tokens have n − 1 gaps.",
            "One over ITL is the rate while it streams; n over the whole time is the rate of the request; and all tokens of all "
            "users over the time is what the device puts out. Whoever says tokens per second must say which.",
            "Users feel the worst gaps, not the mean. When one step in twenty carries another's prefill and takes ten times as "
            "long, the mean grows by 45 percent, but the 99th percentile is ten times the median. Compare percentiles.",
        ),
        figure=Figure("request", {"model": "llama-3.1-8b", "on": "h100-sxm", "prompt": 8000, "output": 64}, "prompt", 256, 65536,
                      "how much of the request is gone before the first token"),
        worked=(
            f"end to end = 0.2 s + 4 · 0.05 s = {duration(times.e2e_s)}",
            f"while it streams: 1 / 0.05 s = {figure(times.steady_tokens_per_s or 0)} tokens/s",
            f"over the request: 5 / 0.4 s = {figure(times.request_tokens_per_s)} tokens/s",
        ),
        exercises=(
            Exercise("TTFT 300 ms, ITL 20 ms, 101 tokens. How long does the request take?", request_times(0.3, 0.02, 101).e2e_s,
                     "s", "How many gaps have 101 tokens?", ("0.3 + 100 · 0.02 = 2.3 s.",)),
            Exercise("19 of 20 gaps are 10 ms and one is 100 ms. What is the mean gap?", (19 * 0.01 + 0.1) / 20, "s",
                     "Add up all twenty, and divide by twenty.", ("(19 · 10 + 100) / 20 = 14.5 ms; the median is 10 ms.",)),
        ),
    )  # fmt: skip
