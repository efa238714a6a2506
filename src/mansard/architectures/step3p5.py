"""The Step 3.5 and 3.7 families' language model: windowed layers with more heads, a gate on every head, small experts.

Layers of `layer_types` "sliding_attention" see a window and have `num_sliding_attention_heads` heads (older files:
`attention_other_setting`); key/value heads and their size are those of all layers. RMS norms on each head of queries
and keys; a projection [hidden → heads] gates what each head returns. The layers that `mlp_layer_types` calls sparse, or
`moe_layers_enum` lists, or all from the fourth on, have routed experts beside a shared one of `share_expert_dim`. Lists
may be longer by the prediction layers, which are dense unless listed.

Sources: arXiv:2602.10604; the class Step3p7ForConditionalGeneration of Hugging Face transformers.
"""

from collections.abc import Callable
from dataclasses import replace

from mansard.architectures._experts import gated, require_nested, routed, stack
from mansard.architectures._heads import head_attention, head_norms
from mansard.architectures._prediction import joining, note_prediction_layers, prediction_count
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mixers import Attention
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("step3p5", "step3p7")
ARCHITECTURES = ("Step3p5ForCausalLM", "Step3p7ForConditionalGeneration")
MODULES = {
    "mixer.g_proj": "self_attn.g_proj", "router.router": "mlp.gate moe.gate",
    "expert.gate_proj": "mlp.experts.gate_up_proj mlp.experts.{expert}.gate_proj moe.gate_proj",
    "expert.up_proj": "mlp.experts.gate_up_proj mlp.experts.{expert}.up_proj moe.up_proj",
    "expert.down_proj": "mlp.experts.down_proj mlp.experts.{expert}.down_proj moe.down_proj",
    "shared_expert.gate_proj": "mlp.shared_experts.gate_proj share_expert.gate_proj",
    "shared_expert.up_proj": "mlp.shared_experts.up_proj share_expert.up_proj",
    "shared_expert.down_proj": "mlp.shared_experts.down_proj share_expert.down_proj",
}  # fmt: skip
_KINDS = ("full_attention", "sliding_attention")


def read(keys: Keys) -> ModelConfig:
    """A Step-3.5-class configuration of the language model."""
    require_nested(keys, "step3p7")
    hidden_size = keys.size("hidden_size", default=4096)
    count = layer_count(keys, default=45)
    further = _described(keys, count)
    bias = quiet_flag(keys, "mlp_bias", default=False)
    part = routed(
        keys,
        names=("n_routed_experts", "num_local_experts", "moe_num_experts"),
        experts=288,
        top_k=8,
        top_names=("num_experts_per_tok", "moe_top_k"),
        expert=gated(keys.size("moe_intermediate_size", default=1280)),
        shared_width=keys.size("share_expert_dim", "share_expert_dims", default=1280),
        shared_bias=bias,
        buffered=True,
    )
    layers = stack(
        count + further,
        _mixers(keys, hidden_size, count, further),
        rms_pair(hidden_size),
        part,
        dense=gated(keys.size("intermediate_size", default=11264), bias=bias),
        is_sparse=_sparse(keys, count, further),
    )
    model = decoder(keys, hidden_size, layers[:count], vocab_size=128815, tied=False)
    return replace(model, prediction_layers=tuple(joining(model, layer) for layer in layers[count:]))


def _described(keys: Keys, layers: int) -> int:
    """How many prediction layers are named, of which it is said what they are; noted where it is not."""
    further = prediction_count(keys)
    for name in ("layer_types", "mlp_layer_types"):
        stated = keys.raw(name)
        is_short = isinstance(stated, list) and len(stated) == layers
        if further and is_short and not keys.has(f"mtp_{name}"):
            note_prediction_layers(keys)
            return 0
    return further


def _listed(keys: Keys, name: str, layers: int, further: int, choices: tuple[str, ...]) -> tuple[str, ...]:
    """A list with a word for each layer, and behind them one for each prediction layer."""
    stated = keys.raw(name)
    if isinstance(stated, list) and len(stated) == layers + further:
        return keys.texts(name, length=layers + further, choices=choices)
    own = keys.texts(name, length=layers, choices=choices)
    return (*own, *keys.texts(f"mtp_{name}", length=further, choices=choices))


def _mixers(keys: Keys, hidden_size: int, layers: int, further: int) -> Callable[[int], Attention]:
    bias = quiet_flag(keys, "attention_bias", default=False)
    plain = _kept(keys, head_attention(_grouped(keys), hidden_size, heads=64, kv_heads=8, head_dim=128, bias=bias))
    if not keys.has("layer_types"):
        return lambda _index: plain
    kinds = _listed(keys, "layer_types", layers, further, _KINDS)
    window = keys.optional_size("sliding_window")
    keys.require(window is not None or _KINDS[1] not in kinds, "sliding_window", "is needed for sliding_attention")
    older = keys.nested("attention_other_setting")
    heads = keys.optional_size("num_sliding_attention_heads") or older.optional_size("num_attention_heads")
    for name, value in (("num_attention_groups", plain.kv_heads), ("head_dim", plain.head_dim)):
        stated = older.optional_size(name)
        older.require(stated in (None, value), name, f"must be that of all layers, {value}", stated)
    local = _kept(keys, plain._replace(heads=heads or plain.heads, window=window))
    return lambda index: local if kinds[index] == _KINDS[1] else plain


def _grouped(keys: Keys) -> Keys:
    """The keys with key/value heads under their usual name."""
    if keys.has("num_key_value_heads") or not keys.has("num_attention_groups"):
        return keys
    return keys.over({**keys.document, "num_key_value_heads": keys.document["num_attention_groups"]})


def _kept(keys: Keys, mixer: Attention) -> Attention:
    """Attention with what depends on its number of heads: norms and the gate."""
    keys.require(
        mixer.heads % mixer.kv_heads == 0,
        "num_sliding_attention_heads",
        f"must be a multiple of the {mixer.kv_heads} key/value heads",
        mixer.heads,
    )
    q_norm, k_norm = head_norms(mixer.head_dim, mixer.heads, mixer.kv_heads)
    return mixer._replace(q_norm=q_norm, k_norm=k_norm, gate_size=mixer.heads)


def _sparse(keys: Keys, layers: int, further: int) -> Callable[[int], bool]:
    if keys.has("mlp_layer_types"):
        kinds = _listed(keys, "mlp_layer_types", layers, further, ("dense", "sparse"))
        return lambda index: kinds[index] == "sparse"
    if not keys.has("moe_layers_enum"):
        return lambda index: 3 <= index < layers
    stated = keys.raw("moe_layers_enum")
    if not isinstance(stated, str):
        named = keys.sizes("moe_layers_enum", minimum=0, maximum=MOST_LAYERS)
        return lambda index: index in named
    words = [word.strip() for word in stated.split(",") if word.strip()]
    if not all(word.isascii() and word.isdigit() and len(word) < 6 for word in words):
        keys.fault("moe_layers_enum", "must be layers' numbers with commas between them", stated[:200])
        return lambda _index: True
    listed = frozenset(map(int, words))
    return lambda index: index in listed
