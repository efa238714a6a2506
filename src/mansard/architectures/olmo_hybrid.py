"""The OLMo-Hybrid family: three gated delta layers, then one of OLMo's attention with norms on the whole of q and k.

`layer_types` says which layer is which, else every fourth has attention, and the last if there are fewer. There must be
both kinds. Delta layers project q, k, v, decay, rate of writing and gate apart; sizes that are absent follow from the
attention's heads: as many heads of keys and of values, keys of ¾·h over the heads, values twice as wide. Norms: two a
layer, before its parts in delta layers, after them in others. The released model rotates nothing.

Sources: arXiv:2412.06464; the class OlmoHybridForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, stack
from mansard.architectures._heads import head_attention, rotary_share, whole_norms
from mansard.architectures._linear_attention import FULL, LINEAR, gated_delta, note_chunks
from mansard.architectures._reading import decoder, is_null, layer_count, quiet_flag, rms_pair
from mansard.architectures._state_space import scanned
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Attention, Recurrence
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("olmo_hybrid",)
ARCHITECTURES = ("OlmoHybridForCausalLM",)
_APART = ("q_proj", "k_proj", "v_proj", "a_proj", "b_proj", "g_proj", "o_proj")
MODULES = {f"mixer.{name}": f"linear_attn.{name} self_attn.{name}" for name in _APART}


def read(keys: Keys) -> ModelConfig:
    """An OLMo-Hybrid-class configuration."""
    hidden_size = keys.size("hidden_size", default=3840)
    attention = _attention(keys, hidden_size)
    linear = _delta(keys, hidden_size, attention.heads)
    count = layer_count(keys, default=32)
    kinds = _kinds(keys, count)
    layers = stack(
        count,
        lambda index: linear if kinds[index] == LINEAR else attention,
        rms_pair(hidden_size),
        gated(keys.size("intermediate_size", default=11008)),
    )
    return scanned(keys, decoder(keys, hidden_size, layers, vocab_size=100352, tied=False))


def _attention(keys: Keys, hidden_size: int) -> Attention:
    bias = quiet_flag(keys, "attention_bias", default=False)
    rotary = rotary_share(keys, default=1.0) if _rotates(keys) else 0.0
    mixer = head_attention(keys, hidden_size, heads=30, kv_heads=None, bias=bias, rotary=rotary, floored=True)
    q_norm, k_norm = whole_norms(mixer)
    return mixer._replace(q_norm=q_norm, k_norm=k_norm)


def _rotates(keys: Keys) -> bool:
    """Whether heads are rotated: a base of rotation that is null leaves positions out, an absent one is a default."""
    inner = keys.nested("rope_parameters")
    return not is_null(inner if inner.document else keys, "rope_theta")


def _delta(keys: Keys, hidden_size: int, heads: int) -> Recurrence:
    key_heads = keys.optional_size("linear_num_key_heads") or heads
    value_heads = keys.optional_size("linear_num_value_heads") or heads
    problem = f"must divide linear_num_value_heads, {value_heads}"
    keys.require(value_heads % key_heads == 0, "linear_num_key_heads", problem, key_heads)
    key_dim = keys.optional_size("linear_key_head_dim") or max(1, int(0.75 * hidden_size / key_heads))
    value_dim = keys.optional_size("linear_value_head_dim") or 2 * key_dim
    widths = (("q_proj", key_heads * key_dim), ("k_proj", key_heads * key_dim), ("v_proj", value_heads * value_dim))
    scalars = (("a_proj", value_heads), ("b_proj", value_heads), ("g_proj", value_heads * value_dim))
    mixer = gated_delta(
        [Matrix(name, hidden_size, width) for name, width in (*widths, *scalars)],
        Matrix("o_proj", value_heads * value_dim, hidden_size),
        key_heads=key_heads,
        value_heads=value_heads,
        key_dim=key_dim,
        value_dim=value_dim,
        kernel=keys.size("linear_conv_kernel_dim", default=4),
    )
    note_chunks(keys, mixer)
    return mixer


def _kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    if keys.has("layer_types"):
        kinds = keys.texts("layer_types", length=layers, choices=(LINEAR, FULL))
        both = len(set(kinds)) == 2
        keys.require(both, "layer_types", "must name layers of both kinds, as the class requires", kinds[0])
        return kinds
    keys.require(layers > 1, "num_hidden_layers", "must be at least 2, for there must be layers of both kinds", layers)
    return tuple(FULL if index % 4 == 3 or (layers < 4 and index == layers - 1) else LINEAR for index in range(layers))
