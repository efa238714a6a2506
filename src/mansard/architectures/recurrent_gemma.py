"""The RecurrentGemma family (Griffin): blocks of a gated linear recurrence (RG-LRU), local attention on every third.

`block_types` is repeated over the layers. A recurrent block has two branches [h, W], with W = `lru_width`: one passes a
GELU, the other a convolution and the recurrence; their product is projected back. Attention sees
`attention_window_size` keys, rotates half of each head, and has a bias on its output whatever `attention_bias` says.
The gated part is half of `intermediate_size` wide, with biases. The logits are soft-capped, and the head is tied.

Sources: arXiv:2404.07839, arXiv:2402.19427; the class RecurrentGemmaForCausalLM of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._experts import stack
from mansard.architectures._heads import head_attention, rotary_share
from mansard.architectures._reading import decoder, layer_count, quiet_flag, rms_pair
from mansard.architectures._state_space import MOST_HEADS, scanned
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward
from mansard.inputs.mixers import Attention, Recurrence, ShortConvolution
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix

MODEL_TYPES = ("recurrent_gemma",)
ARCHITECTURES = ("RecurrentGemmaForCausalLM",)
_BLOCKS = ("recurrent", "attention")
MODULES = {
    **{f"mixer.{name}": f"temporal_block.{name}" for name in ("linear_y", "linear_x", "linear_out")},
    **{f"mixer.{name}": f"temporal_block.{name}" for name in ("q_proj", "k_proj", "v_proj", "o_proj")},
    **{f"mixer.{name}": f"temporal_block.rg_lru.{name}_weight" for name in ("input_gate", "recurrent_gate")},
    **{f"feed_forward.{name}": f"mlp_block.{name}" for name in ("gate_proj", "up_proj", "down_proj")},
}


def read(keys: Keys) -> ModelConfig:
    """A RecurrentGemma-class configuration."""
    hidden_size = keys.size("hidden_size", default=2560)
    attention, recurrent = _attention(keys, hidden_size), _recurrent(keys, hidden_size)
    width = keys.size("intermediate_size", default=7680, minimum=2)
    kinds = keys.texts("block_types", default=("recurrent", "recurrent", "attention"), choices=_BLOCKS)
    keys.require(len(kinds) > 0, "block_types", "must name at least one kind of block", kinds)
    kinds = kinds or _BLOCKS
    count = layer_count(keys, default=26)
    keys.require(count <= 100 * len(kinds), "num_hidden_layers", "is more than 100 times what block_types names", count)
    layers = stack(
        count,
        lambda index: attention if kinds[index % len(kinds)] == "attention" else recurrent,
        rms_pair(hidden_size),
        FeedForward(intermediate_size=width // 2, gated=True, activation="gelu", bias=True),
    )
    model = decoder(keys, hidden_size, layers, vocab_size=256000, tied=True)
    return scanned(keys, _capped(keys, model))


def _attention(keys: Keys, hidden_size: int) -> Attention:
    mixer = head_attention(
        keys,
        hidden_size,
        heads=10,
        kv_heads=None,
        bias=quiet_flag(keys, "attention_bias", default=False),
        o_bias=True,
        rotary=rotary_share(keys, default=0.5),
        floored=True,
    )
    return mixer._replace(window=keys.size("attention_window_size", "sliding_window", default=2048))


def _recurrent(keys: Keys, hidden_size: int) -> Recurrence:
    heads = keys.size("num_attention_heads", default=10)
    keys.require(heads <= MOST_HEADS, "num_attention_heads", f"must be at most {MOST_HEADS}", heads)
    width = keys.optional_size("lru_width") or hidden_size
    keys.require(width % heads == 0, "lru_width", f"must be divided by num_attention_heads, {heads}", width)
    kernel = keys.size("conv1d_width", default=4)
    return rg_lru(hidden_size, width=width, heads=min(heads, MOST_HEADS), kernel=kernel)


def rg_lru(hidden_size: int, *, width: int, heads: int, kernel: int) -> Recurrence:
    """A recurrent block of Griffin: a convolution and a real-gated linear recurrence over W channels, gated by a GELU.

    Products with the input x and y [h, W] each; the recurrence's two gates are block-diagonal, one block [W/H, W/H] for
    each of H heads, with biases. Learned is a decay Λ [W]. For each channel and token, r and i are the gates' sigmoids,
    a = exp(-8·softplus(Λ)·r) and h = a·h + √(1 - a²)·i·x; the block's output is h·gelu(y), projected back.

    Vector FLOPs of a token: 27·W. Two sigmoids 8, a 2, √(1 - a²) 4, its two products 2, the state 2, gelu 8, product 1.
    State: W elements of a sequence in fp32, and k - 1 inputs of each channel.

    Source: Griffin, arXiv:2402.19427, equations 1 to 4; the class RecurrentGemmaRglru of Hugging Face transformers.

    >>> mixer = rg_lru(2560, width=2560, heads=10, kernel=4)
    >>> mixer.state, mixer.convolution_state, mixer.scan_flops
    (2560, 7680, 69120)
    """
    block = width // heads
    gates = (Matrix("input_gate", block, block, bias=True), Matrix("recurrent_gate", block, block, bias=True))
    return Recurrence(
        kind="rg_lru",
        projections=(
            Matrix("linear_y", hidden_size, width, bias=True),
            Matrix("linear_x", hidden_size, width, bias=True),
            *gates * heads,
        ),
        out=(Matrix("linear_out", width, hidden_size, bias=True),),
        state=width,
        scan_flops=27 * width,
        scan_formula="27·W",
        symbols=(("W", width, "channels"),),
        convolution=ShortConvolution(width, kernel, bias=True, kept=kernel - 1),
        vectors=width,
    )


def _capped(keys: Keys, model: ModelConfig) -> ModelConfig:
    """The model with the soft cap of its logits."""
    cap = keys.number("logits_soft_cap", default=30.0, minimum=0.0, maximum=1e6)
    return model if model.head is None or not cap else replace(model, head=model.head._replace(softcap=True))
