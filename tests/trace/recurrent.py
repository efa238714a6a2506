"""Keys of state-space families and hybrids drawn by seed: sizes of mixers, and which layers are of which kind."""

from random import Random
from typing import Any

_CHOICES: dict[str, tuple[Any, ...]] = {
    "state_size": (8, 16),
    "mamba_d_state": (8, 16),
    "ssm_state_size": (8, 16),
    "conv_kernel": (2, 4),
    "mamba_d_conv": (2, 4),
    "time_step_rank": ("auto", 3),
    "mamba_dt_rank": ("auto", 3, 7),
    "use_conv_bias": (True, False),
    "mamba_conv_bias": (True, False),
    "mamba_proj_bias": (True, False),
    "mamba_rms_norm": (True, False),
    "projectors_bias": (True, False),
    "add_bias_linear": (True, False),
    "use_mem_rope": (True, False),
    "use_shared_attention_adapter": (True, False),
    "adapter_rank": (4, 6),
    "num_mem_blocks": (1, 2, 3),
    "shared_intermediate_size": (56, 88),
    "moe_shared_expert_intermediate_size": (40, 72),
    "moe_latent_size": (None, 20, 48),
    "position_embedding_type": (None, "rope", "nope"),
    "chunk_size": (16,),
    "mamba_chunk_size": (16,),
}
_EXPANSIONS, _HEADS = ("expand", "mamba_expand"), ("num_heads", "mamba_n_heads", "mamba_num_heads", "n_mamba_heads")
_GROUPS = ("n_groups", "mamba_n_groups", "mamba_ngroups")
_OWN_LISTS = {
    "granitemoehybrid": ("layer_types", ("linear_attention", "full_attention")),
    "nemotron_h": ("layers_block_type", ("linear_attention", "full_attention", "mlp", "moe")),
    "zamba": ("layers_block_type", ("linear_attention", "hybrid")),
    "zamba2": ("layers_block_type", ("linear_attention", "hybrid")),
}
_HEAD_SIZES = {
    "mamba2": "head_dim",
    "bamba": "mamba_d_head",
    "granitemoehybrid": "mamba_d_head",
    "falcon_h1": "mamba_d_head",
    "nemotron_h": "mamba_head_dim",
}


def with_states(found: dict[str, Any], defaults: dict[str, Any], model_type: str, random: Random) -> dict[str, Any]:
    """The configuration with what concerns a state drawn; as it is for a class that knows no state."""
    if not {"state_size", "mamba_d_state", "ssm_state_size"} & set(defaults):
        return found
    made = found | {key: random.choice(choices) for key, choices in _CHOICES.items() if key in defaults}
    if model_type in ("zamba", "zamba2"):  # the only switch of ties between blocks, and adapters as wide as all heads
        made |= {"tie_word_embeddings": True, "num_key_value_heads": made["num_attention_heads"]}
    return made | _mixer(made, defaults, model_type, random) | _layers(made, defaults, model_type, random)


def _mixer(made: dict[str, Any], defaults: dict[str, Any], model_type: str, random: Random) -> dict[str, Any]:
    """Heads that divide the channels, groups that divide the heads."""
    times, heads = random.choice((1, 2, 3)), random.choice((2, 4, 8))
    found = {key: times for key in _EXPANSIONS if key in defaults}
    found |= {key: heads for key in _HEADS if key in defaults}
    found |= {key: random.choice((1, 2)) for key in _GROUPS if key in defaults}
    channels = times * made["hidden_size"]
    if "mamba_d_ssm" in defaults and random.random() < 0.7:
        channels = found["mamba_d_ssm"] = heads * random.choice((8, 12))
    elif "mamba_d_ssm" in defaults:
        found["mamba_d_ssm"] = None
    if model_type in _HEAD_SIZES:
        found[_HEAD_SIZES[model_type]] = 12 if model_type == "nemotron_h" else channels // heads
    return found


def _layers(made: dict[str, Any], defaults: dict[str, Any], model_type: str, random: Random) -> dict[str, Any]:
    count = random.choice((3, 5, 7))
    found: dict[str, Any] = {"num_hidden_layers": count}
    if model_type in _OWN_LISTS:
        key, kinds = _OWN_LISTS[model_type]
        found[key] = [*kinds, kinds[1], *random.choices(kinds, k=count)]
        found["num_hidden_layers"] = len(found[key])
    if "attn_layer_indices" in defaults:
        found["attn_layer_indices"] = sorted(random.sample(range(count), k=2))
    for name in ("attn_layer", "expert_layer"):
        if model_type == "jamba":
            period = random.choice((2, 3))
            found |= {f"{name}_period": period, f"{name}_offset": random.randrange(period)}
    return found
