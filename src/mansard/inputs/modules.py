"""What checkpoints call the modules that hold a model's matrices, so that rules which name modules can be followed.

A family states where its checkpoints differ from Llama's names in a mapping `MODULES`: keys are "part.matrix", in the
words of `inputs/mechanisms.py` and `inputs/mixers.py`, values what the module is called below its layer. `{expert}` is
an expert's number; without it all experts are one module. Several spellings of one module stand apart by a space.
The keys "layer", "head" and "embedding" hold whole names, the first with `{layer}`, a layer's number. "prediction"
holds that of layers that draft tokens, numbered from 0, where they are not numbered on from the others. A matrix whose
name is not known is stated as "".
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.weights import Matrix

_PROJECTIONS = ("gate_proj", "up_proj", "down_proj")
LLAMA: dict[str, str] = {
    "layer": "model.layers.{layer}",
    "head": "lm_head",
    "embedding": "model.embed_tokens",
    **{
        f"mixer.{name}": f"self_attn.{name}"
        for name in ("q_proj", "k_proj", "v_proj", "o_proj", "q_a_proj", "q_b_proj")
    },
    "mixer.kv_a_proj": "self_attn.kv_a_proj_with_mqa",
    "mixer.kv_b_proj": "self_attn.kv_b_proj",
    "mixer.index_q_proj": "self_attn.indexer.wq_b",
    "mixer.index_k_proj": "self_attn.indexer.wk",
    "mixer.index_weights_proj": "self_attn.indexer.weights_proj self_attn.indexers_proj",
    **{f"feed_forward.{name}": f"mlp.{name}" for name in _PROJECTIONS},
    "extras.eh_proj": "eh_proj",
    "router.router": "mlp.gate",
    **{f"expert.{name}": f"mlp.experts.{{expert}}.{name}" for name in _PROJECTIONS},
    **{f"shared_expert.{name}": f"mlp.shared_experts.{name}" for name in _PROJECTIONS},
    "shared_expert.shared_expert_gate": "mlp.shared_expert_gate",
}
# What the tensors of files are summed up by (`inputs/tensor_parts.py`), where it is not the layer's word for it.
PARTS_OF_FILES = {"mixer": "attention", "extras": "feed_forward", "latent": "shared_expert", "streams": "plain"}
# Before the names of a language model inside another: what classes of several generations put there.
_AROUND = ("", "language_model.", "model.language_model.", "model.", "thinker.")


class Stored(NamedTuple):
    """One matrix of a layer, `key` being "part.matrix"; `copies`: one, or as many as there are experts."""

    key: str
    matrix: Matrix
    copies: int = 1

    @property
    def part(self) -> str:
        return self.key.partition(".")[0]


def stored_matrices(layer: Layer, hidden_size: int) -> Iterator[Stored]:
    """The matrices of one layer with the parts that they belong to."""
    for mixer in layer.mixers:
        yield from _of("mixer", mixer.matrices(hidden_size))
    yield from _of("extras", layer.extras)
    if layer.streams:
        yield from _of("streams", [matrix for matrix, _ in layer.streams.matrices])
    part = layer.feed_forward
    if isinstance(part, FeedForward):
        yield from _of("feed_forward", part.matrices(hidden_size))
    elif part is not None:
        yield from _of("router", (part.router(hidden_size),))
        yield from _of("expert", part.expert_matrices(hidden_size), part.num_experts)
        yield from _of("latent", part.latent_matrices(hidden_size))
        yield from _of("shared_expert", part.shared_matrices(hidden_size))


def _of(part: str, matrices: Sequence[Matrix], copies: int = 1) -> Iterator[Stored]:
    return (Stored(f"{part}.{matrix.name}", matrix, copies) for matrix in matrices)


class ModuleNames:
    """The names of a family's modules; `inside`: as part of a composite model, under any of its usual prefixes."""

    def __init__(self, own: Mapping[str, str], *, inside: bool) -> None:
        self._names = {**LLAMA, **own}
        self._prefixes = _AROUND if inside else ("",)

    def numbers_on(self) -> bool:
        """Whether layers that draft tokens are numbered on from the others."""
        return "prediction" not in self._names

    def knows(self, key: str) -> bool:
        """Whether it is known what checkpoints call a matrix."""
        return bool(self._names.get(key))

    def whole(self, key: str) -> tuple[str, ...]:
        """The names of "head" or "embedding"."""
        return tuple(name for one in self._names[key].split() for name in self._around(one))

    def in_layer(self, key: str, layer: int, *, of: str = "layer") -> tuple[str, ...]:
        """The names of a matrix of one layer, `{expert}` left for the caller to fill in; none if they are not known.

        of: "prediction" for the layers that draft tokens, where they have names of their own.
        """
        found = self._names.get(key, "").split()
        starts = self._names.get(of, self._names["layer"]).replace("{layer}", str(layer)).split()
        return tuple(name for start in starts for one in found for name in self._around(f"{start}.{one}"))

    def _around(self, name: str) -> tuple[str, ...]:
        bare = name.removeprefix("model.")
        # A composite keeps the language model's own "model." below its prefix, or leaves it out.
        inner = dict.fromkeys((name, bare)) if len(self._prefixes) > 1 else (name,)
        return tuple(dict.fromkeys(f"{prefix}{one}" for prefix in self._prefixes for one in inner))
