"""The Nemotron-H family, Nemotron-3 too: each layer is one thing, Mamba-2, attention, a feed-forward part or experts.

`layers_block_type` says which in words, or `hybrid_override_pattern` in letters: M Mamba-2, * attention, -
feed-forward, E experts. The mixer has mamba_num_heads · mamba_head_dim channels, and `expand` is ignored. Parts that
feed forward are not gated (relu²). Beside the experts there is always a shared part; with `moe_latent_size` the experts
live in a width of their own between two projections. The router keeps a correction [n_routed_experts] that is a buffer.
Attention has no biases and no rotation. The class never ties its head.

Sources: arXiv:2504.03624, arXiv:2512.20848; the class NemotronHForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import routed
from mansard.architectures._heads import head_attention
from mansard.architectures._prediction import note_prediction_layers
from mansard.architectures._reading import decoder, nullable_size, quiet_flag, untied
from mansard.architectures._state_space import layer_kinds, mamba2, note_chunks, scanned
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mechanisms import FeedForward, Layer, MixtureOfExperts
from mansard.inputs.mixers import Attention, Recurrence
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("nemotron_h",)
ARCHITECTURES = ("NemotronHForCausalLM",)
# The publisher's own class says "backbone", the one of transformers "model"; all kinds of layers have one name.
MODULES = {
    "layer": "backbone.layers.{layer} model.layers.{layer}",
    "embedding": "backbone.embeddings model.embeddings",
    **{f"mixer.{name}": f"mixer.{name}" for name in ("in_proj", "out_proj", "q_proj", "k_proj", "v_proj", "o_proj")},
    **{f"feed_forward.{name}": f"mixer.{name}" for name in ("up_proj", "down_proj")},
    **{f"expert.{name}": f"mixer.experts.{{expert}}.{name}" for name in ("up_proj", "down_proj")},
    **{f"shared_expert.{name}": f"mixer.shared_experts.{name}" for name in ("up_proj", "down_proj")},
    "router.router": "mixer.gate",
    "latent.latent_in_proj": "mixer.fc1_latent_proj",
    "latent.latent_out_proj": "mixer.fc2_latent_proj",
}
_LETTERS = {"M": "linear_attention", "*": "full_attention", "-": "mlp", "E": "moe"}
_LISTS, _PATTERN = ("layers_block_type", "layer_types"), "hybrid_override_pattern"


def read(keys: Keys) -> ModelConfig:
    """A Nemotron-H-class configuration."""
    hidden_size = keys.size("hidden_size", default=4096)
    norms = (Norm(kind="rms", size=hidden_size),)
    kinds = _kinds(keys)
    keys.has("ssm_state_size", "n_routed_experts")  # the class knows them, whether or not a layer needs them
    made = {
        "linear_attention": lambda: Layer(mixer=_mamba(keys, hidden_size), feed_forward=None, norms=norms),
        "full_attention": lambda: Layer(mixer=_attention(keys, hidden_size), feed_forward=None, norms=norms),
        "mlp": lambda: Layer(mixer=None, feed_forward=_dense(keys), norms=norms),
        "moe": lambda: Layer(mixer=None, feed_forward=_experts(keys), norms=norms),
    }
    layers = {kind: made[kind]() for kind in dict.fromkeys(kinds)}
    note_prediction_layers(keys)
    model = decoder(keys, hidden_size, [layers[kind] for kind in kinds], vocab_size=131072, tied=False)
    return scanned(keys, untied(keys, model))


def _kinds(keys: Keys) -> tuple[str, ...]:
    """The kind of each layer; a pattern beside a list, and a stated number of layers, must agree with it."""
    listed, spelled = keys.has(*_LISTS), keys.has(_PATTERN)
    name = next(name for name in (*_LISTS, _PATTERN) if keys.has(name)) if listed or spelled else _LISTS[0]
    pattern = _spelled(keys, keys.text(_PATTERN)) if spelled else ()
    if listed:
        kinds = layer_kinds(keys, *_LISTS, length=None, kinds=tuple(_LETTERS.values()))
        keys.require(
            pattern in ((), kinds) or not keys.is_sound(name), _PATTERN, f"is not what {name} says", keys.raw(_PATTERN)
        )
    else:
        kinds = pattern if spelled else ("linear_attention", "moe", "full_attention", "mlp")
    if not listed and not spelled:
        keys.note("class-default", f"{name} is absent: the four layers of the class, one of each kind")
    keys.require(0 < len(kinds) <= MOST_LAYERS, name, f"must name between 1 and {MOST_LAYERS} layers", len(kinds))
    stated = keys.optional_size("num_hidden_layers", maximum=MOST_LAYERS)
    if stated is not None and keys.is_sound(name):
        problem = f"must be {len(kinds)}, as many as {name} names"
        keys.require(stated == len(kinds), "num_hidden_layers", problem, stated)
    return kinds or ("mlp",)


def _spelled(keys: Keys, pattern: str) -> tuple[str, ...]:
    unknown = sorted(set(pattern[: MOST_LAYERS + 1]) - set(_LETTERS))
    hint = "M is Mamba-2, * attention, - a feed-forward part, E experts"
    keys.require(not unknown, _PATTERN, "has letters that are not known", "".join(unknown)[:20], hint)
    return tuple(_LETTERS.get(letter, "mlp") for letter in pattern[: MOST_LAYERS + 1])


def _mamba(keys: Keys, hidden_size: int) -> Recurrence:
    heads, groups = keys.size("mamba_num_heads", default=128), keys.size("mamba_n_groups", "n_groups", default=8)
    keys.require(heads % groups == 0, "n_groups", f"must divide mamba_num_heads, {heads}", groups)
    bias = quiet_flag(keys, "use_bias", default=False)
    conv = "mamba_conv_bias" if keys.has("mamba_conv_bias") else "use_conv_bias"
    mixer = mamba2(
        hidden_size,
        heads=heads,
        head_dim=keys.size("mamba_head_dim", default=64),
        groups=groups,
        state=keys.size("ssm_state_size", default=128),
        kernel=keys.size("mamba_d_conv", "conv_kernel", default=4),
        conv_bias=quiet_flag(keys, conv, default=True),
        in_bias=bias,
        out_bias=bias,
    )
    note_chunks(keys, mixer, keys.size("mamba_chunk_size", "chunk_size", default=128))
    return mixer


def _attention(keys: Keys, hidden_size: int) -> Attention:
    if quiet_flag(keys, "attention_bias", default=False):
        keys.note("ignored-key", "attention_bias is left out: the class has no biases in attention", "warning")
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=8, head_dim=128, rotary=0.0)
    return mixer._replace(head_dim=keys.size("head_dim", "attention_head_dim", default=128))


def _plain(keys: Keys, width: int) -> FeedForward:
    bias = quiet_flag(keys, "mlp_bias", default=False)
    return FeedForward(intermediate_size=width, gated=False, activation="relu2", bias=bias)


def _dense(keys: Keys) -> FeedForward:
    return _plain(keys, keys.size("intermediate_size", default=21504))


def _experts(keys: Keys) -> MixtureOfExperts:
    width = keys.size("moe_intermediate_size", default=7688)
    name = "moe_shared_expert_intermediate_size"
    shared = keys.size(name, default=7688, minimum=0) or keys.size("intermediate_size", default=21504)
    expert, bias = _plain(keys, width)._replace(bias=False), quiet_flag(keys, "mlp_bias", default=False)
    part = routed(
        keys,
        names=("n_routed_experts", "num_local_experts", "num_experts"),
        experts=8,
        top_k=2,
        expert=expert,
        buffered=True,
    )
    latent = nullable_size(keys, "moe_latent_size", default=None)
    return part._replace(shared=_plain(keys, shared), latent_size=latent, latent_bias=bias and latent is not None)
