"""Configurations to compare on: the catalogue's, the reference's, and seeded variations of each family's."""

import json
import tomllib
from pathlib import Path
from random import Random
from typing import Any

from linear import with_linear
from recurrent import with_states

from reference_data import folder

CATALOGUE = Path(__file__).resolve().parents[2] / "src" / "mansard" / "catalogue" / "models"
# In the catalogue's TOML, which has no null, an absent key of these means null.
_NULLS = ("sliding_window", "q_lora_rank")

# mechanism that the configuration is there for | name in the catalogue
REPRESENTATIVE = {
    "grouped-query attention": "llama-3.1-8b",
    "wider grouped-query attention": "llama-3.1-70b",
    "multi-head attention": "llama-2-7b",
    "heads wider than the hidden size": "mistral-nemo-12b",
    "window on every layer": "mistral-7b-v0.1",
    "biases on queries, keys and values": "qwen2.5-7b",
    "tied head": "qwen2.5-0.5b",
    "norms of queries and keys": "qwen3-8b",
    "windows on most layers, norms around each part": "gemma-3-27b",
    "soft caps": "gemma-2-9b",
    "one key/value head, wide heads": "gemma-2b",
    "learned positions, one matrix for q, k and v": "gpt2",
    "one key/value head among many": "starcoder",
    "parallel parts, biased": "gpt-j-6b",
    "parallel parts, rotated in part": "pythia-6.9b",
    "ALiBi, norm of the embedding": "bloom-7b1",
    "ALiBi without biases": "mpt-7b",
    "one key/value head, parallel parts": "falcon-7b",
    "two norms, parallel parts": "falcon-40b",
    "embedding narrower than the hidden size": "opt-350m",
    "offset learned positions": "opt-6.7b",
    "biased head": "phi-2",
    "gate and up as one matrix": "phi-4",
    "shared norm, parallel parts": "command-r",
    "windows and parallel parts": "command-r7b",
    "norms after each part": "olmo-2-7b",
    "norms after each part, windows": "olmo-3-7b",
    "biases everywhere, no gate": "starcoder2-7b",
    "norms without biases": "stablelm-2-1.6b",
    "layers without positions": "smollm3-3b",
    "multipliers": "granite-3.3-8b",
    "norms around each part": "glm-4-9b",
    "biases of three of four projections": "seed-oss-36b",
    "experts": "mixtral-8x7b",
    "many small experts": "qwen3-30b-a3b",
    "shared expert with a gate": "qwen1.5-moe-a2.7b",
    "latent attention, queries direct": "deepseek-v2-lite",
    "latent attention, dense layers first": "deepseek-v3",
    "experts with biases, sinks": "gpt-oss-120b",
    "sparse attention": "deepseek-v3.2",
    "heads of two sizes, experts beside a dense part": "gemma-4-26b-a4b",
    "chunks of attention, every other layer sparse": "llama-4-maverick",
    "gated delta layers, gated attention": "qwen3-next-80b-a3b",
    "delta layers gated by channel, latents that do not rotate": "kimi-linear-48b-a3b",
    "short convolutions": "lfm2-1.2b",
    "gated linear recurrence, local attention": "recurrentgemma-2b",
    "token shift": "rwkv-4-430m",
    "a state of each channel alone": "mamba-130m",
    "a state of each head alone": "mamba2-2.7b",
    "state and attention side by side": "falcon-h1-0.5b",
    "state or attention, with experts": "granite-4.0-h-tiny",
    "one set of weights applied before many layers": "zamba2-1.2b",
}


def catalogued(name: str) -> dict[str, Any]:
    """The configuration of a name in the catalogue, as its class reads it."""
    found = tomllib.loads((CATALOGUE / f"{name}.toml").read_text(encoding="utf-8"))["config"]
    return {**dict.fromkeys(_NULLS), **found}


def catalogue_names() -> list[str]:
    return sorted(path.stem for path in CATALOGUE.glob("*.toml"))


def reference_files() -> list[Path]:
    """The transformers-style configurations of the reference data; none where it is not here."""
    place = folder()
    return [] if place is None else sorted((place / "models" / "hf").glob("*[!g].json"))


def document_of(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return document


# Keys that many classes know, and values that are unusual and allowed. Heads are varied together, by `_heads`.
_CHOICES: dict[str, tuple[Any, ...]] = {
    "num_hidden_layers": (2, 3, 5, 7),
    "vocab_size": (320, 1000, 1024),
    "intermediate_size": (96, 160, 200),
    "moe_intermediate_size": (24, 40, 64),
    "shared_expert_intermediate_size": (48, 72),
    "attention_bias": (True, False),
    "mlp_bias": (True, False),
    "use_bias": (True, False),
    "bias": (True, False),
    "use_qkv_bias": (True, False),
    "qkv_bias": (True, False),
    "attention_out_bias": (True, False),
    "lm_head_bias": (True, False),
    "tie_word_embeddings": (True, False),
    "use_qk_norm": (True, False),
    "qk_layernorm": (True, False),
    "sliding_window": (16, 48, 4096),
    "use_sliding_window": (True, False),
    "max_window_layers": (0, 1, 2),
    "num_experts": (4, 6, 8),
    "num_local_experts": (4, 6, 8),
    "n_routed_experts": (8, 16),
    "num_experts_per_tok": (1, 2, 3),
    "n_shared_experts": (1, 2),
    "num_shared_experts": (1, 2),
    "moe_num_experts": (4, 6),
    "moe_k": (1, 2),
    "moe_num_shared_experts": (1, 2),
    "first_k_dense_replace": (0, 1, 2),
    "decoder_sparse_step": (1, 2),
    "mlp_only_layers": ([], [1]),
    "norm_topk_prob": (True, False),
    "q_lora_rank": (48, 64),
    "kv_lora_rank": (32, 40),
    "qk_nope_head_dim": (16, 24),
    "qk_rope_head_dim": (8, 16),
    "v_head_dim": (16, 20),
    "parallel_attn": (True, False),
    "multi_query": (True, False),
    "new_decoder_architecture": (True, False),
    "alibi": (True, False),
    "use_parallel_residual": (True, False),
    "n_group": (1,),
    "topk_group": (1,),
    "index_topk": (64,),
    "index_n_heads": (2, 5),
    "index_head_dim": (16, 24),
    "hidden_size_per_layer_input": (8, 16),
    "vocab_size_per_layer_input": (90,),
    "altup_num_inputs": (2, 3),
    "laurel_rank": (6,),
    "global_head_dim": (16, 40),
    "attention_k_eq_v": (True, False),
}
_WIDTHS = {"hidden_size", "n_embd", "d_model", "n_embed"}


def varied(defaults: dict[str, Any], model_type: str, seed: int) -> dict[str, Any]:
    """A small configuration of a class: of the keys that its own defaults know, some varied and the widths shrunk."""
    random = Random(f"{model_type} {seed}")
    found: dict[str, Any] = {"model_type": model_type}
    found |= {key: 1 for key in ("pad_token_id", "bos_token_id", "eos_token_id") if key in defaults}
    found |= {"rotary_dim": 8} if "rotary_dim" in defaults else {}
    for key, choices in _CHOICES.items():
        if key in defaults and (
            (isinstance(choices[0], int) and not isinstance(choices[0], bool)) or random.random() < 0.6
        ):
            found[key] = random.choice(choices)
    found |= _heads(defaults, random)
    if "qk_rope_head_dim" in found and "head_dim" in defaults:
        found["head_dim"] = found["qk_rope_head_dim"]  # the part that the class rotates
    if "kv_lora_rank" in found:
        found["num_key_value_heads"] = found["num_attention_heads"]  # latents are expanded to all heads
    if "activation_sparsity_pattern" in defaults:
        found["activation_sparsity_pattern"] = [0.0] * found["num_hidden_layers"]  # its threshold depends on data
    if "num_kv_shared_layers" in defaults:
        found["num_kv_shared_layers"] = random.choice((0, 0, 1))  # their kinds must have a cache before them
    if "attention_types" in defaults:  # GPT-Neo: whole and windowed layers by turns, in pairs
        pairs = random.choice((1, 2, 3))
        found |= {"attention_types": [[["global", "local"], pairs]], "num_layers": 2 * pairs, "window_size": 16}
    found = with_states(found, defaults, model_type, random)
    return with_linear(found, defaults, model_type, random)


def _heads(defaults: dict[str, Any], random: Random) -> dict[str, Any]:
    kv_heads, group, size = random.choice((1, 2, 3)), random.choice((1, 2, 4)), random.choice((16, 32))
    heads = kv_heads * group
    found = {key: heads * size for key in _WIDTHS if key in defaults}
    found |= {key: heads for key in ("num_attention_heads", "n_head", "n_heads", "num_heads") if key in defaults}
    found |= {key: kv_heads for key in ("num_key_value_heads", "num_kv_heads") if key in defaults}
    found |= {"head_dim": size} if defaults.get("head_dim") else {}
    found |= {key: random.choice((1, 2, 5)) for key in ("n_layer", "n_layers", "num_layers") if key in defaults}
    if "head_dim" in defaults and random.random() < 0.5:
        found["head_dim"] = random.choice((16, 24, 64))
    return found
