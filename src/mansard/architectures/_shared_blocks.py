"""Blocks of attention and a feed-forward part that have one set of weights and are applied before many layers."""

from collections.abc import Iterator, Sequence

from mansard.architectures._reading import nullable_size
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import Attention
from mansard.inputs.weights import Norm

# The blocks are layers of their own here and are no layers of checkpoints, so that rules which name modules by their
# layers cannot be followed: without names they are refused.
MODULES = dict.fromkeys(
    (
        *(f"mixer.{name}" for name in ("q_proj", "k_proj", "v_proj", "o_proj", "in_proj", "out_proj")),
        *(f"feed_forward.{name}" for name in ("gate_proj", "up_proj", "down_proj")),
    ),
    "",
)


def block_attention(keys: Keys, hidden_size: int, *, heads: int, kv_heads: int | None) -> Attention:
    """Attention that reads the layer's input beside the embedding: 2·h in, `attention_head_dim` · heads, h out."""
    read = 2 * hidden_size
    num_heads = keys.size("num_attention_heads", default=heads)
    of_keys = nullable_size(keys, "num_key_value_heads", default=kv_heads) or num_heads
    keys.require(num_heads % of_keys == 0, "num_key_value_heads", f"must divide {num_heads}", of_keys)
    stated = keys.optional_size("attention_hidden_size")
    keys.require(stated in (None, read), "attention_hidden_size", f"must be 2 · hidden_size, {read}", stated)
    size = keys.optional_size("attention_head_dim", "head_dim") or max(1, read // num_heads)
    return Attention(heads=num_heads, kv_heads=of_keys, head_dim=size, input_size=read)


def block_layer(attention: Attention, part: FeedForward, hidden_size: int, *, name: str) -> Layer:
    """The block: a norm of 2·h before the attention, one of h before the feed-forward part."""
    norms = (Norm(kind="rms", size=2 * hidden_size), Norm(kind="rms", size=hidden_size))
    return Layer(mixer=attention, feed_forward=part, norms=norms, shared=name)


def with_blocks(is_hybrid: Sequence[bool], plain: Layer, joined: Layer, blocks: Sequence[Layer]) -> tuple[Layer, ...]:
    """The layers in order: a hybrid one is a block, of several by turns, and then the layer that the block feeds."""

    def ordered() -> Iterator[Layer]:
        turn = 0
        for hybrid in is_hybrid:
            if hybrid:
                yield blocks[turn % len(blocks)]
                turn += 1
            yield joined if hybrid else plain

    return tuple(ordered())


def require_tied(keys: Keys) -> None:
    """A fault where the head is not tied: the classes share the blocks' weights by the same switch."""
    name = "tie_word_embeddings"
    tied = not keys.has(name) or keys.flag(name)
    problem = "must be true: the class shares no weights at all without it, and no such model is known"
    keys.require(tied, name, problem, False)
