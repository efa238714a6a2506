"""The GPT-Neo family: whole and local layers in turn, learned positions, a bias on the output of attention alone, tied.

`attention_types` lists patterns with how often each repeats, [[["global", "local"], 12]] by default; a local layer sees
`window_size` keys. Queries, keys and values have no biases, the plain GELU part has.

Sources: the model cards of EleutherAI/gpt-neo; the class GPTNeoForCausalLM of Hugging Face transformers.
"""

from collections.abc import Sequence
from typing import Any

from mansard.architectures._plain import layer_norm, layer_pair, plain_attention, with_positions
from mansard.architectures._reading import decoder, layer_count
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("gpt_neo",)
ARCHITECTURES = ("GPTNeoForCausalLM",)
MODULES = {
    "layer": "transformer.h.{layer}", "embedding": "transformer.wte", "mixer.q_proj": "attn.attention.q_proj",
    "mixer.k_proj": "attn.attention.k_proj", "mixer.v_proj": "attn.attention.v_proj",
    "mixer.o_proj": "attn.attention.out_proj", "feed_forward.up_proj": "mlp.c_fc",
    "feed_forward.down_proj": "mlp.c_proj",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """A GPT-Neo-class configuration."""
    hidden_size = keys.size("hidden_size", default=2048)
    heads = keys.size("num_heads", "num_attention_heads", default=16)
    whole = plain_attention(keys, hidden_size, heads, o_bias=True)
    local = whole._replace(window=keys.size("window_size", default=256))
    width = keys.optional_size("intermediate_size") or 4 * hidden_size
    part = FeedForward(intermediate_size=width, gated=False, activation="gelu", bias=True)
    near, far = (Layer(mixer=mixer, feed_forward=part, norms=layer_pair(hidden_size)) for mixer in (local, whole))
    kinds = _kinds(keys, layer_count(keys, "num_layers", "num_hidden_layers", default=24))
    layers = [near if kind == "local" else far for kind in kinds]
    model = decoder(keys, hidden_size, layers, vocab_size=50257, tied=True, final_norm=layer_norm(hidden_size))
    return with_positions(model, keys.size("max_position_embeddings", default=2048))


def _kinds(keys: Keys, layers: int) -> Sequence[str]:
    """The kind of each layer, from the patterns written out; faulty ones are noted and replaced by whole layers."""
    patterns = keys.raw("attention_types")
    expanded = _expanded(patterns if keys.has("attention_types") else [[["global", "local"], 12]])
    if expanded is None:
        hint = 'for example [[["global", "local"], 12]]'
        keys.fault("attention_types", "must list patterns of global and local with their repeats", patterns, hint)
    elif len(expanded) != layers:
        keys.fault("attention_types", f"must give {layers} layers, as num_layers says, and gives {len(expanded)}")
    else:
        return expanded
    return ("global",) * layers


def _expanded(patterns: Any) -> list[str] | None:
    if not isinstance(patterns, (list, tuple)):
        return None
    kinds: list[str] = []
    for item in patterns:
        match item:
            case [[*names], int(repeats)] if (
                all(name in ("global", "local") for name in names) and 0 < repeats * len(names) <= MOST_LAYERS
            ):
                kinds += list(names) * repeats
            case _:
                return None
    return kinds if len(kinds) <= MOST_LAYERS else None
