"""The Zamba family: Mamba-1 layers, before some of which one shared block of attention and a gated part is run.

The block reads the layer's input beside the embedding, 2·h wide, and has one set of weights for all its applications; a
projection [h, h] of each application's own takes its output to the Mamba layer's input. It is listed here as a layer of
its own before the layer that it belongs to. A Mamba layer has `n_mamba_heads` heads with products of their own. Which
layers have the block, says `layers_block_type` ("hybrid"), else `attn_layer_period` and `attn_layer_offset` from the
fourth layer on, with the third always among them. Heads are not rotated; there is a cache for each application.

Sources: arXiv:2405.16712; the class ZambaForCausalLM of Hugging Face transformers.
"""

from mansard.architectures import _shared_blocks
from mansard.architectures._experts import gated
from mansard.architectures._reading import decoder, layer_count
from mansard.architectures._shared_blocks import block_attention, block_layer, require_tied, with_blocks
from mansard.architectures._state_space import MOST_HEADS, layer_kinds, mamba1_part, scanned
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("zamba",)
ARCHITECTURES = ("ZambaForCausalLM",)
MODULES = _shared_blocks.MODULES
_LISTS = ("layers_block_type", "layer_types")


def read(keys: Keys) -> ModelConfig:
    """A Zamba-class configuration."""
    hidden_size = keys.size("hidden_size", default=3712)
    heads = keys.size("n_mamba_heads", default=2, maximum=MOST_HEADS)
    mixer = mamba1_part(keys, hidden_size, heads=heads)
    plain = Layer(mixer=mixer, feed_forward=None, norms=(Norm(kind="rms", size=hidden_size),))
    attention = block_attention(keys, hidden_size, heads=16, kv_heads=16)
    part = gated(keys.size("intermediate_size", default=14848))._replace(activation="gelu")
    joined = plain._replace(extras=(Matrix("block_proj", hidden_size, hidden_size),))
    block = block_layer(attention, part, hidden_size, name="shared block")
    layers = with_blocks(_is_hybrid(keys), plain, joined, (block,))
    require_tied(keys)
    return scanned(keys, decoder(keys, hidden_size, layers, vocab_size=32000, tied=True))


def _is_hybrid(keys: Keys) -> tuple[bool, ...]:
    count = layer_count(keys, default=76)
    keys.has("attn_layer_period")  # stated beside a list it has no say
    if keys.has(*_LISTS):
        kinds = layer_kinds(keys, *_LISTS, length=count, kinds=("linear_attention", "hybrid"))
        return tuple(kind == "hybrid" for kind in kinds)
    each = keys.size("attn_layer_period", default=6, maximum=MOST_LAYERS)
    first = keys.size("attn_layer_offset", default=4, minimum=0, maximum=MOST_LAYERS)
    keys.require(count >= 3, "num_hidden_layers", "must be at least 3 where layers_block_type is absent", count)
    return tuple(index == 2 or (index > 2 and (index - 3) % each == first) for index in range(count))
