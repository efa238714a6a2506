"""Keys of linear attention, gated recurrences and short convolutions drawn by seed, and which layers have them."""

from random import Random
from typing import Any

_CHOICES: dict[str, tuple[Any, ...]] = {
    "linear_key_head_dim": (8, 12),
    "linear_value_head_dim": (8, 20),
    "linear_head_dim": (8, 12),
    "linear_num_heads": (2, 3),
    "linear_conv_kernel_dim": (2, 3, 4),
    "conv_L_cache": (2, 3, 4),
    "conv_bias": (True, False),
    "conv1d_width": (2, 4),
    "block_multiple_of": (1, 8, 32),
    "block_ffn_dim_multiplier": (1.0, 1.5),
    "block_auto_adjust_ff_dim": (True, False),
    "num_dense_layers": (0, 1, 2),
    "use_expert_bias": (True, False),
    "attention_window_size": (16, 48),
    "attention_hidden_size": (None,),
    "short_conv_kernel_size": (2, 4),
    "use_attention_gate": (True, False),
    "use_sandwich_norm": (True, False),
}
_KINDS = {
    **dict.fromkeys(
        ("qwen3_next", "qwen3_5_text", "qwen3_5_moe_text", "kimi_linear", "olmo_hybrid"),
        ("linear_attention", "full_attention"),
    ),
    **dict.fromkeys(("lfm2", "lfm2_moe"), ("conv", "full_attention")),
    "lfm3": ("conv", "full_attention", "sliding_attention"),
    "bailing_hybrid": ("linear_attention", "full_attention"),
}


def with_linear(found: dict[str, Any], defaults: dict[str, Any], model_type: str, random: Random) -> dict[str, Any]:
    """The configuration with what concerns such layers drawn; as it is for a class that has none."""
    marks = {"linear_conv_kernel_dim", "conv_L_cache", "lru_width", "attention_hidden_size", "short_conv_kernel_size"}
    if not marks & set(defaults):
        return found
    made = found | {key: random.choice(choices) for key, choices in _CHOICES.items() if key in defaults}
    if "linear_num_key_heads" in defaults:
        heads = random.choice((1, 2, 3))
        made |= {"linear_num_key_heads": heads, "linear_num_value_heads": heads * random.choice((1, 2))}
    if "lru_width" in defaults:
        made["lru_width"] = made["num_attention_heads"] * random.choice((12, 20))
        made["sliding_window"] = made["attention_window_size"]  # the class takes both for the same
        made["num_hidden_layers"] = random.choice((3, 5, 7))
    if model_type in (
        "kimi_linear",
        "bailing_hybrid",
    ):  # as many keys as heads, whatever the number says
        made |= {"num_key_value_heads": made["num_attention_heads"], "num_experts_per_token": random.choice((1, 2))}
        made |= {key: 1 for key in ("num_expert_group", "topk_group") if key in defaults}
    if model_type in _KINDS:
        kinds = _KINDS[model_type]
        made["layer_types"] = [*kinds, *random.choices(kinds, k=random.choice((1, 3)))]
        made["num_hidden_layers"] = len(made["layer_types"])
        made.pop("mlp_layer_types", None)
    return made
