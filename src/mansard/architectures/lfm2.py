"""The LFM2 family: gated short convolutions, attention with norms on each head on some layers, a gated part in each.

A convolution layer projects B, C and x [h, 3·h], convolves B·x over `conv_L_cache` tokens, multiplies by C and projects
back; `conv_bias` is on all three. `layer_types` says which layer is which, else `full_attn_idxs` those with attention,
else all have it. The feed-forward width is `block_ff_dim`, or `intermediate_size`; with `block_auto_adjust_ff_dim` two
thirds of it, times `block_ffn_dim_multiplier`, rounded up to a multiple of `block_multiple_of`.

Sources: arXiv:2511.23404; the class Lfm2ForCausalLM of Hugging Face transformers.
"""

from mansard.architectures._experts import gated, stack
from mansard.architectures._reading import decoder, is_null, layer_count, quiet_flag, rms_pair
from mansard.architectures._short_convolutions import lfm2_attention, lfm2_convolution, lfm2_tied
from mansard.inputs.keys import MOST_LAYERS, WIDEST, Keys
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("lfm2",)
ARCHITECTURES = ("Lfm2ForCausalLM", "LFM2ForCausalLM")
MODULES = {
    "mixer.in_proj": "conv.in_proj", "mixer.out_proj": "conv.out_proj", "mixer.o_proj": "self_attn.out_proj",
    "feed_forward.gate_proj": "feed_forward.w1", "feed_forward.up_proj": "feed_forward.w3",
    "feed_forward.down_proj": "feed_forward.w2",
}  # fmt: skip


def read(keys: Keys) -> ModelConfig:
    """An LFM2-class configuration."""
    hidden_size = keys.size("hidden_size", default=2560)
    attention, convolution = lfm2_attention(keys, hidden_size), lfm2_convolution(keys, hidden_size)
    count = layer_count(keys, default=32)
    has_attention = _attention_layers(keys, count)
    layers = stack(
        count,
        lambda index: attention if has_attention[index] else convolution,
        rms_pair(hidden_size),
        gated(_width(keys)),
    )
    return decoder(lfm2_tied(keys), hidden_size, layers, vocab_size=65536, tied=True)


def _attention_layers(keys: Keys, layers: int) -> tuple[bool, ...]:
    if keys.has("layer_types"):
        kinds = keys.texts("layer_types", length=layers, choices=("conv", "full_attention"))
        return tuple(kind == "full_attention" for kind in kinds)
    if not keys.has("full_attn_idxs"):
        keys.note("class-default", "layer_types and full_attn_idxs are absent: every layer has attention")
        return (True,) * layers
    stated = keys.sizes("full_attn_idxs", minimum=0, maximum=MOST_LAYERS)
    outside = [index for index in stated if index >= layers]
    keys.require(not outside, "full_attn_idxs", f"must be below num_hidden_layers, {layers}", outside)
    chosen = frozenset(stated)
    return tuple(index in chosen for index in range(layers))


def _width(keys: Keys) -> int:
    """The width of the feed-forward part, adjusted where the configuration asks for it.

    >>> _width(Keys({"block_ff_dim": 12288, "block_multiple_of": 256, "block_ffn_dim_multiplier": 1.0}, "config.json"))
    8192
    """
    width = keys.size("block_ff_dim", "intermediate_size", default=12288)
    if not quiet_flag(keys, "block_auto_adjust_ff_dim", default=True):
        return width
    width = int(2 * width / 3)
    if is_null(keys, "block_ffn_dim_multiplier"):
        return max(1, width)
    factor = keys.number("block_ffn_dim_multiplier", default=1.0, minimum=1e-6, maximum=1e6)
    multiple = keys.size("block_multiple_of", default=256)
    adjusted = multiple * -(-int(factor * width) // multiple)
    keys.require(0 < adjusted <= WIDEST, "block_ffn_dim_multiplier", f"makes a part {adjusted} wide", factor)
    return max(1, min(adjusted, WIDEST))
