"""One pass of an encoder over its whole input: what goes before its layers, the layers without a mask, what goes after.

For a decoder that attends to what the encoder gives, the keys and values of all its layers are made here, once.
"""

from collections.abc import Iterator
from functools import partial

from mansard.forward import layer_operators, setting_of
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.formats import around_format, layer_formats, plain_format
from mansard.inputs.mixers import CrossAttention
from mansard.inputs.model import ModelConfig, distinct
from mansard.inputs.scenario import Deployment, Engine
from mansard.mixing import source_operators
from mansard.operators import attention, elementwise, matmul
from mansard.operators.cost import Op, Setting
from mansard.operators.step import SOURCE, TOKENS, Basis


def encoder_operators(encoder: Encoder, model: ModelConfig, deployment: Deployment, engine: Engine) -> tuple[Op, ...]:
    """The operators of one encoder in the order in which they run, those of alike layers together."""
    asked = deployment.attention
    by_heads = asked if asked in ("fused", "standard") else engine.attention
    setting = setting_of(model, deployment, engine, "absorbed")._replace(attention=by_heads)
    found = [*_before(encoder, model, deployment, setting)]
    for layer, count in distinct(encoder.layers):
        formats = layer_formats(layer, model, deployment)
        found += [op.times(count) for op in layer_operators(layer, encoder.hidden_size, formats, setting)]
    if encoder.pooling:
        found.append(attention.pooling(encoder.pooling, setting))
    for one in encoder.back:
        found += _applied(one, model, deployment, setting, "encoder_back")
    if encoder is model.encoders[0]:
        found += _for_cross_attention(model, deployment, setting)
    return tuple(found)


def _before(encoder: Encoder, model: ModelConfig, deployment: Deployment, setting: Setting) -> Iterator[Op]:
    embedding = encoder.embedding or (model.embedding if encoder.shares_embedding else None)
    plain = plain_format(model, deployment)
    if embedding is not None:
        yield elementwise.lookup(embedding, plain, setting, bits=plain.bits)
        if embedding.norm:
            yield elementwise.norm("embedding_norm", embedding.norm, setting, group="embedding")
        if embedding.project_in:
            yield matmul.linear("project_in", [embedding.project_in], plain, setting, group="embedding")
    for one in encoder.front:
        yield from _applied(one, model, deployment, setting, "encoder_front")
    if encoder.vectors:
        yield elementwise.added_vectors("encoder_vectors", encoder.vectors, encoder.hidden_size, setting)
    for norm in encoder.norms:
        yield elementwise.norm("encoder_norm", norm, setting, group="norm", residual=True)


def _applied(one: Applied, model: ModelConfig, deployment: Deployment, setting: Setting, group: str) -> Iterator[Op]:
    """A product of the front or the back end: for every token, or so many times for every so many of them."""
    basis = TOKENS if (one.times, one.per) == (1, 1) else Basis("scaled", times=one.times, per=one.per)
    basis = SOURCE if one.per_given else basis
    weights = around_format(one, model, deployment)
    if one.norm:
        yield elementwise.norm(f"{one.matrix.name}_norm", one.norm, setting, group=group, basis=basis)
    made = matmul.linear(one.matrix.name, [one.matrix], weights, setting, group=group, basis=basis)
    yield made if one.kind == "linear" else made._replace(kind=one.kind)


def _for_cross_attention(model: ModelConfig, deployment: Deployment, setting: Setting) -> Iterator[Op]:
    for layer, count in model.distinct_layers:
        formats = partial(layer_formats(layer, model, deployment), "mixer")
        for mixer in layer.mixers:
            if isinstance(mixer, CrossAttention):
                for op in source_operators(mixer, model.hidden_size, formats, setting):
                    yield op.times(count)
