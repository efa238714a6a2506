"""The Zamba2 family: Mamba-2 layers, before some of which shared blocks of attention and a gated part run by turns.

As in Zamba a block reads the layer's input beside the embedding, 2·h wide, and a projection [h, h] of each
application's own takes its output to the Mamba layer. There are `num_mem_blocks` blocks. Each application has a
low-rank adapter of its own on the block's gate and up, and with `use_shared_attention_adapter` on its queries, keys and
values. The blocks are listed here as layers before the layers that they belong to. Heads are rotated with
`use_mem_rope`. The convolution always has a bias; `add_bias_linear` puts biases on the mixer's and the part's products.

Sources: arXiv:2411.15242; the class Zamba2ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures import _shared_blocks
from mansard.architectures._experts import gated
from mansard.architectures._reading import decoder, nullable_size, quiet_flag
from mansard.architectures._shared_blocks import block_attention, block_layer, require_tied, with_blocks
from mansard.architectures._state_space import expanded, layer_kinds, mamba2, note_chunks, scanned
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.mixers import Attention, Recurrence
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("zamba2",)
ARCHITECTURES = ("Zamba2ForCausalLM",)
MODULES = _shared_blocks.MODULES
_LISTS = ("layers_block_type", "layer_types")
_MOST_BLOCKS = 256
# The class's own order of 54 layers, by the distance from one block to the next: a block before each h.
_DEFAULT = "m" + "mmmmmh" * 7 + "mmmmh" + "mmmh" + "mm"


def read(keys: Keys) -> ModelConfig:
    """A Zamba2-class configuration."""
    hidden_size = keys.size("hidden_size", default=2560)
    bias = quiet_flag(keys, "add_bias_linear", default=False)
    mixer = _mamba(keys, hidden_size, bias=bias)
    plain = Layer(mixer=mixer, feed_forward=None, norms=(Norm(kind="rms", size=hidden_size),))
    attention = block_attention(keys, hidden_size, heads=32, kv_heads=None)
    if quiet_flag(keys, "use_mem_rope", default=False):
        attention = attention._replace(rotary_dim=attention.head_dim)
    width = nullable_size(keys, "intermediate_size", default=None) or 4 * hidden_size
    part = gated(width, bias=bias)._replace(activation="gelu")
    adapters = _adapters(keys, hidden_size, width, attention)
    joined = plain._replace(extras=(Matrix("block_proj", hidden_size, hidden_size), *adapters))
    names = range(keys.size("num_mem_blocks", default=1, maximum=_MOST_BLOCKS))
    blocks = tuple(block_layer(attention, part, hidden_size, name=f"shared block {name}") for name in names)
    layers = with_blocks(_is_hybrid(keys), plain, joined, blocks)
    require_tied(keys)
    return scanned(keys, decoder(keys, hidden_size, layers, vocab_size=32000, tied=True))


def _mamba(keys: Keys, hidden_size: int, *, bias: bool) -> Recurrence:
    inner = expanded(keys, "mamba_expand", hidden_size)
    heads, groups = keys.size("n_mamba_heads", default=8), keys.size("mamba_ngroups", default=1)
    head_dim = keys.optional_size("mamba_headdim") or max(1, inner // heads)
    problem = f"times the head size {head_dim} must be mamba_expand · hidden_size, {inner}"
    keys.require(heads * head_dim == inner, "n_mamba_heads", problem, heads)
    keys.require(heads % groups == 0, "mamba_ngroups", f"must divide n_mamba_heads, {heads}", groups)
    mixer = mamba2(
        hidden_size,
        heads=heads,
        head_dim=head_dim,
        groups=groups,
        state=keys.size("mamba_d_state", default=64),
        kernel=keys.size("mamba_d_conv", default=4),
        conv_bias=True,
        in_bias=bias,
        out_bias=bias,
    )
    note_chunks(keys, mixer, keys.size("chunk_size", default=256))
    return mixer


def _adapters(keys: Keys, hidden_size: int, width: int, attention: Attention) -> tuple[Matrix, ...]:
    """The low-rank pairs of one application: of gate and up, and of queries, keys and values if they have any."""
    rank = keys.size("adapter_rank", default=128)
    part = (Matrix("gate_up_adapter_in", hidden_size, rank), Matrix("gate_up_adapter_out", rank, 2 * width))
    if not quiet_flag(keys, "use_shared_attention_adapter", default=False):
        return part
    read = 2 * hidden_size
    for name, count in (("num_attention_heads", attention.heads), ("num_key_value_heads", attention.kv_heads)):
        problem = f"times the head size {attention.head_dim} must be {read} where attention has adapters"
        keys.require(count * attention.head_dim == read, name, problem, count)
    pairs = [
        pair
        for name in ("q", "k", "v")
        for pair in (
            Matrix(f"{name}_adapter_in", read, rank),
            Matrix(f"{name}_adapter_out", rank, read),
        )
    ]
    return (*part, *pairs)


def _is_hybrid(keys: Keys) -> tuple[bool, ...]:
    stated = keys.optional_size("num_hidden_layers", maximum=MOST_LAYERS)
    if keys.has(*_LISTS):
        kinds = layer_kinds(keys, *_LISTS, length=stated, kinds=("linear_attention", "hybrid"))
        found = tuple(kind == "hybrid" for kind in kinds)
    else:
        keys.note("class-default", f"layers_block_type is absent: the {len(_DEFAULT)} layers of the class")
        found = tuple(letter == "h" for letter in _DEFAULT)
        problem = f"must be {len(found)} where layers_block_type is absent"
        keys.require(stated in (None, len(found)), "num_hidden_layers", problem, stated)
    if keys.has("hybrid_layer_ids"):
        ids = keys.sizes("hybrid_layer_ids", minimum=0, maximum=MOST_LAYERS)
        places = tuple(index for index, is_hybrid in enumerate(found) if is_hybrid)
        keys.require(ids == places, "hybrid_layer_ids", "must list the layers that are hybrid", list(ids))
    return found
