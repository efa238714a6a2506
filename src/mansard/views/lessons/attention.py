"""Lesson 4: attention, whose cache each sequence reads for itself, so that no batch helps."""

from mansard.analysis import saturate
from mansard.models import named_model
from mansard.views.lessons._lesson import Exercise, Figure, Lesson, Prediction
from mansard.views.wording import bytes_both, figure


def lesson() -> Lesson:
    """Attention and its cache."""
    model = named_model("llama-3.1-8b")
    per_token = 2 * model.cache_elements_per_token
    never = saturate(model, on="h100-sxm", context=4096)
    return Lesson(
        place=4,
        title="Attention and its cache",
        prediction=Prediction(
            "Llama-3.1-8B decodes on an H100 at a context of 4,096 tokens. Weights alone would saturate at a batch of 296. "
            "At which batch does the whole model?",
            ("at 296 as well", "at about 1,000", "at none"),
            2,
            f"Its intensity levels off at about {figure(never.plateau_intensity or 0)} FLOP/byte, far below the ridge.",
        ),
        text=(
            "To attend, each new token compares its query with the key of every token before it, and adds up their values. "
            "Keys and values are kept in a cache, so that they need not be computed again; they do need to be read.",
            "Cache bytes for a token = 2 (key and value) · layers · key/value heads · head size · bytes. Each is used once for "
            "every query head that shares it: with 32 heads on 8 shared ones, four queries for each key.",
            "Two sequences share the weights but not the cache. As the batch grows, the cache is what is read, and the "
            "intensity tends to that of attention: heads over shared heads, in two bytes.",
        ),
        figure=Figure("context", {"model": "llama-3.1-8b", "on": "h100-sxm", "batch": 32}, "batch", 1, 128,
                      "the context from which the cache takes as long as the weights"),
        worked=(
            f"Llama-3.1-8B: 2 · 32 layers · 8 heads · 128 · 2 bytes = {per_token:,} bytes a token",
            f"4,096 tokens: {bytes_both(4096 * per_token)} for one sequence",
            "batch 32: 17.2 GB of cache in each step, more than the 15 GB of weights that it reads",
        ),
        exercises=(
            Exercise("A model has 80 layers, 8 key/value heads of 128, and a cache in two bytes. How many bytes does a token add?",
                     2.0 * 80 * 8 * 128 * 2, "byte", "Key and value, in every layer, for every key/value head.",
                     ("2 · 80 · 8 · 128 · 2 = 327,680 bytes.",), 0.001),
            Exercise("How long does an H100 (3.35 TB/s) take to read the cache of 64 such sequences of 8,192 tokens?",
                     64 * 8192 * 327680 / 3.35e12, "s", "Bytes of a token, times tokens, times sequences, over the bandwidth.",
                     ("64 · 8,192 · 327,680 B = 171.8 GB; / 3.35e12 B/s = 51.3 ms.",)),
        ),
    )  # fmt: skip
