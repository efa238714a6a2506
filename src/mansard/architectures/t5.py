"""The T5 family, mT5 and UMT5: encoder-decoders with RMS norms, no biases, and tables of relative positions.

A table [buckets, heads] is added to the scores: in T5 and mT5 the first layer of each stack has it for all, in UMT5
every layer has its own. Heads are of `d_kv`, whatever the width. `feed_forward_proj` says whether the part is gated.
Encoder and decoder look tokens up in one table; the head is tied to it, unless `tie_word_embeddings` is false, as in
T5 1.1, mT5 and Flan: their checkpoints hold a head of its own, which newer releases of the class tie all the same.
T5EncoderModel, the text encoder of many image models, is the encoder alone: also where a configuration names no class
and lies in the folder text_encoder of a pipeline.

Sources: arXiv:1910.10683, arXiv:2010.11934, arXiv:2304.09151; the class T5ForConditionalGeneration of Hugging Face
transformers.
"""

import re
from collections.abc import Sequence
from typing import NamedTuple

from mansard.architectures._contradictions import activation_kind
from mansard.architectures._encoder_heads import Widths, ends
from mansard.architectures._encoders import encoder_model, named_class, refuse_pruning
from mansard.architectures._reading import layer_count, quiet_flag
from mansard.inputs.encoder import Encoder
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Embedding, FeedForward, Head, Layer
from mansard.inputs.mixers import Attention, CrossAttention
from mansard.inputs.model import ModelConfig
from mansard.inputs.weights import Norm

MODEL_TYPES = ("t5", "mt5", "umt5")
_PREFIXES = {"t5": "T5", "mt5": "MT5", "umt5": "UMT5"}
_WITH_HEAD = ("ForConditionalGeneration", "WithLMHeadModel")
_ENCODERS = {"EncoderModel": (), "ForTokenClassification": ("token labels",)}
# A pipeline of images keeps what reads its prompts in folders of this name, as encoders alone.
_COMPONENT = re.compile(r"text_encoder(_\d)?(/config)?\.json$")
ARCHITECTURES = tuple(f"{prefix}{name}" for prefix in _PREFIXES.values() for name in (*_WITH_HEAD, "Model", *_ENCODERS))


class _Sizes(NamedTuple):
    hidden: int
    heads: int
    head_dim: int
    table: int  # elements of a table of relative positions
    in_every_layer: bool
    part: FeedForward

    @property
    def norm(self) -> Norm:
        return Norm(kind="rms", size=self.hidden)

    def attention(self, layer: int, *, causal: bool) -> Attention:
        table = self.table if self.in_every_layer or layer == 0 else 0
        return Attention(heads=self.heads, kv_heads=self.heads, head_dim=self.head_dim, causal=causal, vectors=table)


def read(keys: Keys) -> ModelConfig:
    """A T5-class configuration."""
    prefix = _PREFIXES.get(str(keys.raw("model_type")), _prefix(keys))
    is_component = _COMPONENT.search(keys.source) is not None
    name = named_class(keys, ARCHITECTURES, f"{prefix}{'EncoderModel' if is_component else _WITH_HEAD[0]}")
    refuse_pruning(keys)
    sizes = _sizes(keys, prefix)
    count = layer_count(keys, "num_layers", "num_hidden_layers", default=6 if prefix == "T5" else 8)
    vocabulary = keys.size("vocab_size", default=32128 if prefix == "T5" else 250112)
    table = Embedding(vocab_size=vocabulary, dim=sizes.hidden)
    encoder = Encoder(
        name="text",
        modality="text",
        hidden_size=sizes.hidden,
        layers=_stack(sizes, count),
        norms=(sizes.norm,),
        shares_embedding=True,
    )
    alone = next((parts for suffix, parts in _ENCODERS.items() if name.endswith(suffix)), None)
    if alone is not None:
        behind = ends(keys, Widths(sizes.hidden, sizes.hidden, vocabulary), alone)
        return encoder_model(keys, encoder._replace(shares_embedding=False, embedding=table, back=behind.back))
    return ModelConfig(
        name="",
        source=keys.source,
        model_type="",
        architecture="",
        hidden_size=sizes.hidden,
        layers=_decoder_stack(sizes, _decoder_layers(keys, count)),
        embedding=table,
        head=_head(keys, sizes.hidden, vocabulary) if name.endswith(_WITH_HEAD) else None,
        final_norm=sizes.norm,
        encoders=(encoder,),
        start_tokens=1,
        generates=name.endswith(_WITH_HEAD),
        dtype=keys.dtype(),
    )


def _prefix(keys: Keys) -> str:
    listed = str(keys.raw("architectures"))
    return next((prefix for prefix in ("UMT5", "MT5") if prefix in listed), "T5")


def _decoder_layers(keys: Keys, encoder_layers: int) -> int:
    return layer_count(keys, "num_decoder_layers", default=1) if keys.has("num_decoder_layers") else encoder_layers


def _sizes(keys: Keys, prefix: str) -> _Sizes:
    hidden = keys.size("d_model", "hidden_size", default=512)
    heads = keys.size("num_heads", "num_attention_heads", default=8 if prefix == "T5" else 6)
    return _Sizes(
        hidden=hidden,
        heads=heads,
        head_dim=keys.size("d_kv", "head_dim", default=64),
        table=heads * keys.size("relative_attention_num_buckets", default=32),
        in_every_layer=prefix == "UMT5",
        part=_part(keys, prefix),
    )


def _part(keys: Keys, prefix: str) -> FeedForward:
    """`feed_forward_proj`, unless the keys that the class makes of it are stated by themselves."""
    usual = "relu" if prefix == "T5" else "gated-gelu"
    known = keys.has("is_gated_act") and keys.has("dense_act_fn")
    stated = usual if known and not keys.has("feed_forward_proj") else keys.text("feed_forward_proj", default=usual)
    *gate, kind = stated.split("-")
    keys.require(gate in ([], ["gated"]), "feed_forward_proj", "is no activation, nor gated- before one", stated)
    return FeedForward(
        intermediate_size=keys.size("d_ff", default=2048 if prefix == "T5" else 1024),
        gated=quiet_flag(keys, "is_gated_act", default=bool(gate)),
        activation=activation_kind(keys.text("dense_act_fn", default=kind) if known else kind),
    )


def _stack(sizes: _Sizes, count: int) -> tuple[Layer, ...]:
    made = [
        Layer(mixer=sizes.attention(index, causal=False), feed_forward=sizes.part, norms=(sizes.norm,) * 2)
        for index in range(min(count, 2))
    ]
    return _repeated(made, count)


def _decoder_stack(sizes: _Sizes, count: int) -> tuple[Layer, ...]:
    across = CrossAttention(heads=sizes.heads, kv_heads=sizes.heads, head_dim=sizes.head_dim)
    made = [
        Layer(
            mixer=sizes.attention(index, causal=True),
            feed_forward=sizes.part,
            norms=(sizes.norm,) * 3,
            beside=(across,),
        )
        for index in range(min(count, 2))
    ]
    return _repeated(made, count)


def _repeated(made: Sequence[Layer], count: int) -> tuple[Layer, ...]:
    """The first layer, then the others, which are one object."""
    return (made[0], *[made[-1]] * (count - 1))


def _head(keys: Keys, hidden: int, vocabulary: int) -> Head:
    tied = quiet_flag(keys, "tie_word_embeddings", default=True)
    if not tied:
        text = "tie_word_embeddings is false: the head is counted apart, as the checkpoints of these models hold it"
        keys.note("untied-head", text)
    return Head(dim=hidden, vocab_size=vocabulary, tied=tied)
