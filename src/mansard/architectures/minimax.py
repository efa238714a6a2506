"""The MiniMax family (MiniMax-Text-01, MiniMax-M1): lightning attention, softmax attention on some layers, experts.

Which layer is which: `layer_types` in the class's words, or `attn_type_list` with 0 for lightning and 1 for softmax;
without either, softmax attention on every second layer from the first. The publisher's own classes (`minimax_text_01`,
`minimax_m1`) rotate `rotary_dim` of each head, keep the state in fp32, and have a shared expert behind a gate [h, 1]
where `shared_intermediate_size` is not 0; the class of `minimax` has none, and keeps the state in its own dtype.

Sources: arXiv:2501.08313, arXiv:2506.13585; the class MiniMaxForCausalLM of Hugging Face transformers.
"""

from dataclasses import replace

from mansard.architectures._experts import gated, routed, stack
from mansard.architectures._heads import head_attention, rotary_share
from mansard.architectures._linear_attention import FULL, LINEAR, lightning, note_chunks
from mansard.architectures._reading import decoder, layer_count, nullable_size, rms_pair
from mansard.inputs.keys import Keys
from mansard.inputs.mixers import Attention, Recurrence
from mansard.inputs.model import ModelConfig

MODEL_TYPES = ("minimax", "minimax_text_01", "minimax_m1")
ARCHITECTURES = ("MiniMaxForCausalLM", "MiniMaxText01ForCausalLM", "MiniMaxM1ForCausalLM")
_OLDER = (("gate_proj", "w1"), ("up_proj", "w3"), ("down_proj", "w2"))
MODULES = {
    **{f"mixer.{name}": f"self_attn.{name}" for name in ("qkv_proj", "output_gate", "out_proj")},
    **{
        f"expert.{name}": f"block_sparse_moe.experts.{{expert}}.{older} mlp.experts.{{expert}}.{name}"
        for name, older in _OLDER
    },
    **{f"shared_expert.{name}": f"shared_mlp.{name}" for name, _ in _OLDER},
    "shared_expert.shared_expert_gate": "coefficient",
    "router.router": "block_sparse_moe.gate mlp.gate",
}
_LISTS = ("layer_types", "attn_type_list", "decoder_attention_types")


def read(keys: Keys) -> ModelConfig:
    """A MiniMax-class configuration of one of the three classes."""
    is_published = _is_published(keys)
    hidden_size = keys.size("hidden_size", default=4096)
    attention = _attention(keys, hidden_size, is_published=is_published)
    linear = _lightning(keys, hidden_size, attention)
    sparse = routed(
        keys,
        names=("num_local_experts", "num_experts"),
        experts=8,
        top_k=2,
        expert=gated(keys.size("intermediate_size", default=14336)),
        shared_width=_shared_width(keys, is_published=is_published),
        shared_gate=True,
    )
    count = layer_count(keys, default=32)
    kinds = _kinds(keys, count)
    layers = stack(count, lambda index: linear if kinds[index] == LINEAR else attention, rms_pair(hidden_size), sparse)
    return _scanned(keys, decoder(keys, hidden_size, layers, vocab_size=32000, tied=False), is_published=is_published)


def _is_published(keys: Keys) -> bool:
    """Whether the publisher's own class is meant: by the model's type, or by keys that it alone has."""
    return keys.raw("model_type") in MODEL_TYPES[1:] or keys.has("attn_type_list", "decoder_attention_types")


def _attention(keys: Keys, hidden_size: int, *, is_published: bool) -> Attention:
    mixer = head_attention(keys, hidden_size, heads=32, kv_heads=8, floored=True)
    window = nullable_size(keys, "sliding_window", default=None)
    if is_published and keys.has("rotary_dim"):
        rotated = keys.size("rotary_dim")
        problem = f"must be at most the size of a head, {mixer.head_dim}"
        keys.require(rotated <= mixer.head_dim, "rotary_dim", problem, rotated)
    else:
        rotated = int(mixer.head_dim * rotary_share(keys, default=1.0))
    return mixer._replace(window=window, rotary_dim=rotated)


def _lightning(keys: Keys, hidden_size: int, attention: Attention) -> Recurrence:
    mixer = lightning(hidden_size, heads=attention.heads, head_dim=attention.head_dim)
    block = keys.size("block_size") if keys.has("block_size") else 256
    # In a block of B tokens scores and their product with the values, and what goes into the state and out of it.
    note_chunks(keys, mixer, chunk=block, flops=4 * (block * attention.heads * attention.head_dim + mixer.state))
    return mixer


def _shared_width(keys: Keys, *, is_published: bool) -> int:
    name = "shared_intermediate_size"
    width = keys.optional_size(name, minimum=0) or 0
    keys.require(is_published or not width, name, "must be 0: the class of minimax has no shared expert", width)
    return width


def _kinds(keys: Keys, layers: int) -> tuple[str, ...]:
    if keys.has("layer_types"):
        return keys.texts("layer_types", length=layers, choices=(LINEAR, FULL))
    if keys.has(*_LISTS[1:]):
        stated = keys.sizes(*_LISTS[1:], length=layers, minimum=0, maximum=1)
        return tuple(FULL if kind else LINEAR for kind in stated)
    keys.note("class-default", "layer_types is absent: softmax attention on every second layer, from the first")
    return tuple(LINEAR if index % 2 else FULL for index in range(layers))


def _scanned(keys: Keys, model: ModelConfig, *, is_published: bool) -> ModelConfig:
    dtype = "fp32" if is_published else model.dtype
    keys.note("default-state-dtype", f"the config names no dtype of the state: {dtype}, as the class keeps it")
    return replace(model, state_dtype=dtype)
