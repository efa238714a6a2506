"""One forward pass of a model: its layers' mechanisms become the operators of a step, alike ones counted once."""

from collections.abc import Iterator
from functools import partial

from mansard.inputs.formats import (
    Formats,
    cache_bits,
    embedding_format,
    extras_format,
    head_format,
    layer_formats,
    opaque_format,
    plain_format,
)
from mansard.inputs.mechanisms import FeedForward, Layer, MixtureOfExperts, Streams
from mansard.inputs.mixers import LatentAttention
from mansard.inputs.model import ModelConfig
from mansard.inputs.scenario import Deployment, Engine
from mansard.mixing import mixer_operators
from mansard.operators import elementwise, matmul
from mansard.operators.cost import Op, Setting
from mansard.operators.step import SAMPLED, TOKENS, Basis
from mansard.precision import DTYPE_BITS


def has_latent_attention(model: ModelConfig) -> bool:
    """Whether some layer caches latents, so that a step may be computed absorbed or expanded."""
    return any(isinstance(mixer, LatentAttention) for layer, _ in model.distinct_layers for mixer in layer.mixers)


def operators(model: ModelConfig, deployment: Deployment, engine: Engine, latent: str = "absorbed") -> tuple[Op, ...]:
    """The operators of one step, in the order in which they run, those of alike layers together.

    latent: "absorbed" or "expanded", the way in which latent attention is computed.
    """
    setting = setting_of(model, deployment, engine, latent)
    if model.opaque_parameters:
        return (matmul.opaque(model.opaque_parameters, opaque_format(model, deployment), setting),)
    found = [*_before(model, deployment, setting)]
    for layer, count in model.distinct_layers:
        formats = layer_formats(layer, model, deployment)
        made = (op.times(count) for op in layer_operators(layer, model.hidden_size, formats, setting))
        found += [op.at_last() for op in made] if layer.last_only else made
    return (*found, *_after(model, deployment, setting))


def setting_of(model: ModelConfig, deployment: Deployment, engine: Engine, latent: str) -> Setting:
    """How the operators are run: dtypes of activations and cache, what is fused, which attention."""
    activations = deployment.activations or model.dtype
    asked = deployment.attention
    by_heads = asked if asked in ("fused", "standard") else engine.attention
    return Setting(
        activation_dtype=activations,
        activation_bits=DTYPE_BITS[activations],
        cache_bits=cache_bits(model, deployment),
        fusion=engine.fusion,
        attention=latent if has_latent_attention(model) else by_heads,
        even_routing=deployment.routing == "even",
        norm_bits=plain_format(model, deployment).bits,
        state_bits=DTYPE_BITS[deployment.state or model.state_dtype],
    )


def _before(model: ModelConfig, deployment: Deployment, setting: Setting) -> Iterator[Op]:
    embedding = model.embedding
    if embedding is None:
        return
    table, bits = embedding_format(model, deployment), plain_format(model, deployment).bits
    yield elementwise.lookup(embedding, table, setting, bits=bits)
    if embedding.norm:
        yield elementwise.norm("embedding_norm", embedding.norm, setting, group="embedding")
    if embedding.project_in:
        plain = plain_format(model, deployment)
        yield matmul.linear("project_in", [embedding.project_in], plain, setting, group="embedding")
    for matrix in embedding.extras:
        linear = extras_format(model, deployment)
        yield matmul.linear(matrix.name, [matrix], linear, setting, group="embedding")
    for norm in embedding.extra_norms:
        yield elementwise.norm("embedding_extra_norm", norm, setting, group="embedding")


def _after(model: ModelConfig, deployment: Deployment, setting: Setting) -> Iterator[Op]:
    plain = plain_format(model, deployment)
    if model.final_norm:
        yield elementwise.norm("final_norm", model.final_norm, setting, group="head", residual=True)
    if model.embedding and model.embedding.project_out:
        matrix = model.embedding.project_out
        yield matmul.linear("project_out", [matrix], plain, setting, group="head", basis=SAMPLED)
    for matrix in model.embedding.extras_out if model.embedding else ():
        linear = extras_format(model, deployment)
        yield matmul.linear(matrix.name, [matrix], linear, setting, group="head", basis=SAMPLED)
    if model.head:
        weights = head_format(model, deployment)
        yield matmul.linear("lm_head", [model.head.matrix], weights, setting, group="head", basis=SAMPLED)
        yield elementwise.logits_out(model.head.vocab_size, setting, softcap=model.head.softcap)


def layer_operators(layer: Layer, hidden: int, formats: Formats, setting: Setting) -> Iterator[Op]:
    """The operators of one layer of `hidden` elements per token, its matrices stored as `formats` says."""
    part = layer.feed_forward
    for norm in dict.fromkeys(layer.norms):
        alike = layer.norms.count(norm)
        yield elementwise.norm("norm", norm, setting, group="norm", residual=True).times(alike)
    for mixer in layer.mixers:
        yield from mixer_operators(mixer, hidden, partial(formats, "mixer"), setting)
    if isinstance(part, FeedForward):
        yield from _dense(part, hidden, formats, setting, group="feed_forward")
    elif part is not None:
        yield from _experts(part, hidden, formats, setting)
    for matrix in layer.extras:
        yield matmul.linear(matrix.name, [matrix], formats("extras", matrix), setting, group="extras")
    if layer.streams:
        yield from _streams(layer.streams, hidden, formats, setting)
    if layer.vectors:
        yield elementwise.learned_vectors("layer_vectors", layer.vectors, setting, group="extras")
    yield elementwise.residual(hidden, setting).times(len(layer.mixers) + (part is not None))


def _streams(part: Streams, hidden: int, formats: Formats, setting: Setting) -> Iterator[Op]:
    for norm in part.norms:
        yield elementwise.norm("streams_norm", norm, setting, group="residual")
    for matrix, times in part.matrices:
        rows = Basis("scaled", times=times) if times > 1 else TOKENS
        weights = formats("streams", matrix)
        yield matmul.linear(matrix.name, [matrix], weights, setting, group="residual", basis=rows)
    yield elementwise.mixed_streams(part, hidden, setting)


def _dense(
    part: FeedForward, hidden: int, formats: Formats, setting: Setting, *, group: str, prefix: str = ""
) -> Iterator[Op]:
    *into, down = part.matrices(hidden)
    name = f"{prefix}gate_up_proj" if part.gated else f"{prefix}up_proj"
    yield from matmul.linears(name, into, partial(formats, group), setting, group=group)
    yield elementwise.activation(f"{prefix}activation", part, setting, group=group)
    yield matmul.linear(f"{prefix}down_proj", [down], formats(group, down), setting, group=group)


def _experts(part: MixtureOfExperts, hidden: int, formats: Formats, setting: Setting) -> Iterator[Op]:
    router = part.router(hidden)
    yield matmul.linear("router", [router], formats("router", router), setting, group="experts")
    if part.router_vectors:
        yield elementwise.learned_vectors("router_vectors", part.router_vectors, setting, group="experts")
    for matrix in part.latent_matrices(hidden):
        yield matmul.linear(matrix.name, [matrix], formats("latent", matrix), setting, group="experts")
    *into, down = part.expert_matrices(hidden)
    chosen = part.num_experts_per_tok
    for name, matrices in (("expert_gate_up_proj", into), ("expert_down_proj", [down])):
        for own_name, own, weights in matmul.by_format(name, matrices, partial(formats, "expert")):
            yield matmul.expert_linear(own_name, own, weights, setting, num_experts=part.num_experts, per_token=chosen)
    yield elementwise.activation("expert_activation", part.expert, setting, group="experts", per_token=chosen)
    yield elementwise.routing(part, part.latent_size or hidden, setting)
    if part.shared is not None:
        yield from _dense(part.shared, hidden, formats, setting, group="shared_expert", prefix="shared_")
        if part.shared_gate:
            gate = part.shared_matrices(hidden)[-1]
            yield matmul.linear(gate.name, [gate], formats("shared_expert", gate), setting, group="shared_expert")
