"""The DeBERTa family, versions 2 and 3: BERT's stack whose scores know relative positions (disentangled attention).

With `relative_attention` a table of 2·`position_buckets` rows (or 2·`max_relative_positions`) is projected in every
layer, by the matrices of queries and keys (`share_att_key`) or by some of its own, and every token has a score with
every row, in the ways that `pos_att_type` lists: c2p, p2c. The table may be normed (`norm_rel_ebd`). The xlarge ones of
version 2 convolve the tokens beside the first layer (`conv_kernel_size`). Tables of absolute positions
(`position_biased_input`) and of token types may be missing.

Sources: arXiv:2006.03654, arXiv:2111.09543; the class DebertaV2Model of Hugging Face transformers.
"""

from typing import NamedTuple

from mansard.architectures._encoder_heads import Ends, Widths, ends, masked, pooled
from mansard.architectures._encoders import (
    activation,
    both_ways,
    encoder_model,
    labels,
    named_class,
    plain_layer,
    refuse_decoding,
)
from mansard.architectures._plain import layer_norm
from mansard.architectures._reading import layer_count, quiet_flag
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.keys import WIDEST, Keys
from mansard.inputs.mechanisms import Embedding
from mansard.inputs.mixers import RelativePositions
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Matrix, Norm

MODEL_TYPES = ("deberta-v2", "deberta_v2")
ARCHITECTURES = (
    "DebertaV2Model", "DebertaV2ForMaskedLM", "DebertaV2ForSequenceClassification",
    "DebertaV2ForTokenClassification", "DebertaV2ForQuestionAnswering", "DebertaV2ForMultipleChoice",
)  # fmt: skip
_WAYS = ("c2p", "p2c")


class _Beside(NamedTuple):
    """What stands beside the layers: how positions are scored, elements of tables, norms, a convolution."""

    relative: RelativePositions | None = None
    vectors: int = 0
    norms: tuple[Norm, ...] = ()
    back: tuple[Applied, ...] = ()


def read(keys: Keys) -> ModelConfig:
    """A DeBERTa-v2-class configuration."""
    refuse_decoding(keys)
    name = named_class(keys, ARCHITECTURES, "DebertaV2Model")
    hidden = keys.size("hidden_size", default=1536)
    positions = keys.size("max_position_embeddings", default=512, maximum=WIDEST)
    beside = _beside(keys, hidden, positions)
    mixer = both_ways(keys, hidden, keys.size("num_attention_heads", default=24))._replace(relative=beside.relative)
    keys.require(not keys.has("attention_head_size"), "attention_head_size", "is not counted: heads divide hidden_size")
    width = keys.size("intermediate_size", default=6144)
    layer = plain_layer(mixer, hidden, width, activation(keys, "hidden_act"))
    table = _embedding(keys, hidden, positions)
    behind = _behind(keys, name, Widths(hidden, table.dim, table.vocab_size))
    encoder = Encoder(
        name="text",
        modality="text",
        hidden_size=hidden,
        layers=(layer,) * layer_count(keys, default=24),
        back=(*beside.back, *behind.back),
        norms=(*beside.norms, *behind.norms),
        vectors=beside.vectors + behind.vectors,
        embedding=table,
    )
    return encoder_model(keys, encoder, positions=positions)


def _embedding(keys: Keys, hidden: int, positions: int) -> Embedding:
    dim = keys.optional_size("embedding_size") or hidden
    absolute = quiet_flag(keys, "position_biased_input", default=True)
    return Embedding(
        vocab_size=keys.size("vocab_size", default=128100),
        dim=dim,
        positions=positions if absolute else 0,
        position_dim=dim if absolute else 0,
        norm=layer_norm(hidden),
        project_in=Matrix("project_in", dim, hidden) if dim != hidden else None,
        token_types=keys.size("type_vocab_size", default=0, minimum=0),
    )


def _beside(keys: Keys, hidden: int, positions: int) -> _Beside:
    found = _Beside()
    if quiet_flag(keys, "relative_attention", default=False):
        relative = _relative(keys, positions)
        norm = "layer_norm" in _listed(keys, "norm_rel_ebd")
        norms = (layer_norm(hidden),) if norm else ()
        found = _Beside(relative=relative, vectors=relative.positions * hidden, norms=norms)
    kernel = keys.size("conv_kernel_size", minimum=0, maximum=1024) if keys.has("conv_kernel_size") else 0
    if not kernel:
        return found
    groups = keys.size("conv_groups") if keys.has("conv_groups") else 1
    keys.require(hidden % groups == 0, "conv_groups", f"must divide hidden_size {hidden}", groups)
    product = Matrix("convolution", kernel * (hidden // groups), hidden, bias=True)
    return found._replace(
        back=(Applied(product, kind="convolution"),),
        norms=(*found.norms, layer_norm(hidden)),
    )


def _relative(keys: Keys, positions: int) -> RelativePositions:
    ways = [way for way in _WAYS if way in _listed(keys, "pos_att_type")]
    stated = keys.raw("max_relative_positions")
    reach = keys.size("max_relative_positions", minimum=-1) if stated is not None else -1
    buckets = keys.size("position_buckets", minimum=-1) if keys.has("position_buckets") else -1
    span = buckets if buckets > 0 else reach if reach > 0 else positions
    shared = quiet_flag(keys, "share_att_key", default=False)
    # By the matrices of queries and keys both are projected, whichever is then used.
    return RelativePositions(2 * span, ways=len(ways), projections=2 if shared else len(ways), own=not shared)


def _listed(keys: Keys, name: str) -> list[str]:
    """The words of a key that is a list, or a string of words between bars."""
    value = keys.raw(name)
    if value is None:
        return []
    if isinstance(value, str):
        return [word.strip() for word in value.lower().split("|")]
    return list(keys.texts(name))


def _behind(keys: Keys, name: str, sizes: Widths) -> Ends:
    if name == "DebertaV2Model":
        return Ends()
    if name.endswith("ForMaskedLM"):
        keys.require(keys.raw("legacy") is not False, "legacy", "false asks for another head than is counted", False)
        return masked(keys, sizes)
    if name.endswith(("ForTokenClassification", "ForQuestionAnswering")):
        return ends(keys, sizes, ("token labels",))
    inside = keys.optional_size("pooler_hidden_size") or sizes.hidden
    outputs = labels(keys) if name.endswith("ForSequenceClassification") else 1
    dense, last = pooled("pooler", inside, inside), pooled("classifier", inside, outputs)
    return Ends(back=(*dense.back, *last.back))
