"""Indexers of sparse latent attention: which tokens a query sees, and which layers choose them anew."""

from mansard.architectures._reading import nullable_size
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mixers import Indexer, LatentAttention
from mansard.inputs.weights import Norm

_LETTERS = {"F": "full", "S": "shared"}


def indexed(keys: Keys, mixer: LatentAttention, *, heads: int) -> LatentAttention:
    """Latent attention whose queries see the tokens that an indexer of their own layer chooses.

    The index queries are made from the narrow queries, so that `q_lora_rank` can't be null. The index key has a layer
    norm with a bias. A part of qk_rope_head_dim of each index head is rotated.
    """
    hint = "the indexer makes its queries from the narrow ones"
    keys.require(mixer.q_lora_rank is not None, "q_lora_rank", "must not be null", hint=hint)
    size = keys.size("index_head_dim", default=128)
    keys.require(
        size >= mixer.qk_rope_head_dim, "index_head_dim", f"must hold qk_rope_head_dim {mixer.qk_rope_head_dim}", size
    )
    indexer = Indexer(
        heads=keys.size("index_n_heads", default=heads),
        head_dim=size,
        query_dim=mixer.q_lora_rank or 1,
        norm=Norm(kind="layer", size=size),
        rotary_dim=min(size, mixer.qk_rope_head_dim),
    )
    return mixer._replace(top_k=keys.size("index_topk", default=2048), indexer=indexer)


def require_indexed(keys: Keys, layers: int) -> None:
    """A fault where `layer_types` lists layers that are not of sparse attention."""
    if keys.has("layer_types"):
        keys.texts("layer_types", length=layers, choices=("indexed_attention",))


def choosing_layers(keys: Keys, layers: int) -> tuple[bool, ...]:
    """Which layers run an indexer; the others use the choice of the last one before them that did.

    From `indexer_types`, else `index_topk_pattern` (letters F and S, or words), else every `index_topk_freq`-th from
    layer `index_skip_topk_offset` - 1 on, and all before it.
    """
    if keys.has("indexer_types"):
        kinds = keys.texts("indexer_types", length=layers, choices=("full", "shared"))
    elif keys.has("index_topk_pattern"):
        kinds = _pattern(keys, layers)
    else:
        step = keys.size("index_topk_freq", maximum=MOST_LAYERS) if keys.has("index_topk_freq") else 1
        offset = nullable_size(keys, "index_skip_topk_offset", default=None, minimum=0)
        first = (2 if offset is None else offset) - 1
        kinds = tuple("full" if max(index - first, 0) % step == 0 else "shared" for index in range(layers))
    stated = next((name for name in ("indexer_types", "index_topk_pattern") if keys.has(name)), "index_topk_freq")
    keys.require(kinds[:1] != ("shared",), stated, "must have the first layer choose: there is none before it")
    return tuple(kind == "full" for kind in kinds)


def _pattern(keys: Keys, layers: int) -> tuple[str, ...]:
    stated = keys.raw("index_topk_pattern")
    if not isinstance(stated, str):
        return keys.texts("index_topk_pattern", length=layers, choices=("full", "shared"))
    is_whole = len(stated) == layers and set(stated) <= set(_LETTERS)
    keys.require(is_whole, "index_topk_pattern", f"must be {layers} letters F or S, one for each layer", stated[:200])
    return tuple(_LETTERS[letter] for letter in stated) if is_whole else ("full",) * layers
