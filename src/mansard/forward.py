"""One forward pass of a model: its layers' mechanisms become the operators of a step, alike ones counted once."""

from collections.abc import Iterator

from mansard.inputs.mechanisms import FeedForward, Layer, MixtureOfExperts
from mansard.inputs.mixers import LatentAttention
from mansard.inputs.model import ModelConfig
from mansard.inputs.scenario import Deployment, Engine
from mansard.mixing import mixer_operators
from mansard.operators import elementwise, matmul
from mansard.operators.cost import Op, Setting
from mansard.operators.step import SAMPLED
from mansard.precision import DTYPE_BITS, WEIGHT_FORMATS, WeightFormat, weight_format


def weights_of(model: ModelConfig, deployment: Deployment, part: str) -> WeightFormat:
    """The format of one part's matrices: "attention", "feed_forward", "shared_expert", "expert", "router", "lm_head".

    Also of the "embedding", and of what is "plain": norms, biases and the like. A deployment's own format replaces that
    of the layers' matrices; head, router and embedding keep the model's dtype. Else files that were read decide.
    """
    configured = _configured(model, deployment, part)
    if model.stored is None or deployment.weights:
        return configured
    return model.stored.format_of(part, configured)


def _configured(model: ModelConfig, deployment: Deployment, part: str) -> WeightFormat:
    if part == "opaque":
        asked = weight_format(deployment.weights) if deployment.weights else None
        return asked or model.opaque_format or WEIGHT_FORMATS[model.dtype]
    if part in ("plain", "embedding"):
        return WEIGHT_FORMATS[model.dtype]
    if part in ("router", "lm_head"):
        skipped = model.quantization.skipped if model.quantization else frozenset(("router", "lm_head"))
        if deployment.weights or part in skipped or model.quantization is None:
            return WEIGHT_FORMATS[model.dtype]
        return model.quantization.linear
    if deployment.weights:
        asked = weight_format(deployment.weights)
        if asked is not None:
            return asked
    if model.quantization is None or part in model.quantization.skipped:
        return WEIGHT_FORMATS[model.dtype]
    if part == "expert" and model.quantization.experts is not None:
        return model.quantization.experts
    return model.quantization.linear


def has_latent_attention(model: ModelConfig) -> bool:
    """Whether some layer caches latents, so that a step may be computed absorbed or expanded."""
    return any(isinstance(mixer, LatentAttention) for layer, _ in model.distinct_layers for mixer in layer.mixers)


def operators(model: ModelConfig, deployment: Deployment, engine: Engine, latent: str = "absorbed") -> tuple[Op, ...]:
    """The operators of one step, in the order in which they run, those of alike layers together.

    latent: "absorbed" or "expanded", the way in which latent attention is computed.
    """
    setting = setting_of(model, deployment, engine, latent)
    if model.opaque_parameters:
        return (matmul.opaque(model.opaque_parameters, weights_of(model, deployment, "opaque"), setting),)
    found = [*_before(model, deployment, setting)]
    for layer, count in model.distinct_layers:
        found += [op.times(count) for op in _layer(layer, model, deployment, setting)]
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
        norm_bits=weights_of(model, deployment, "plain").bits,
        state_bits=DTYPE_BITS[deployment.state or model.state_dtype],
    )


def cache_bits(model: ModelConfig, deployment: Deployment) -> int:
    """Bits of one cache element: the cache's own dtype, or that of the activations, which are never shorter than 16."""
    if deployment.kv:
        return DTYPE_BITS[deployment.kv]
    return max(16, DTYPE_BITS[deployment.activations or model.dtype])


def _before(model: ModelConfig, deployment: Deployment, setting: Setting) -> Iterator[Op]:
    embedding = model.embedding
    if embedding is None:
        return
    yield elementwise.lookup(embedding, setting, bits=weights_of(model, deployment, "embedding").bits)
    if embedding.norm:
        yield elementwise.norm("embedding_norm", embedding.norm, setting, group="embedding")
    if embedding.project_in:
        plain = weights_of(model, deployment, "plain")
        yield matmul.linear("project_in", [embedding.project_in], plain, setting, group="embedding")
    for matrix in embedding.extras:
        linear = weights_of(model, deployment, "feed_forward")
        yield matmul.linear(matrix.name, [matrix], linear, setting, group="embedding")
    for norm in embedding.extra_norms:
        yield elementwise.norm("embedding_extra_norm", norm, setting, group="embedding")


def _after(model: ModelConfig, deployment: Deployment, setting: Setting) -> Iterator[Op]:
    plain = weights_of(model, deployment, "plain")
    if model.final_norm:
        yield elementwise.norm("final_norm", model.final_norm, setting, group="head", residual=True)
    if model.embedding and model.embedding.project_out:
        matrix = model.embedding.project_out
        yield matmul.linear("project_out", [matrix], plain, setting, group="head", basis=SAMPLED)
    if model.head:
        weights = weights_of(model, deployment, "lm_head")
        yield matmul.linear("lm_head", [model.head.matrix], weights, setting, group="head", basis=SAMPLED)
        yield elementwise.logits_out(model.head.vocab_size, setting, softcap=model.head.softcap)


def _layer(layer: Layer, model: ModelConfig, deployment: Deployment, setting: Setting) -> Iterator[Op]:
    hidden, part = model.hidden_size, layer.feed_forward
    for norm in dict.fromkeys(layer.norms):
        alike = layer.norms.count(norm)
        yield elementwise.norm("norm", norm, setting, group="norm", residual=True).times(alike)
    for mixer in layer.mixers:
        yield from mixer_operators(mixer, hidden, weights_of(model, deployment, "attention"), setting)
    dense = weights_of(model, deployment, "feed_forward")
    if isinstance(part, FeedForward):
        yield from _dense(part, hidden, dense, setting, group="feed_forward")
    elif part is not None:
        yield from _experts(part, hidden, model, deployment, setting)
    for matrix in layer.extras:
        yield matmul.linear(matrix.name, [matrix], dense, setting, group="extras")
    if layer.vectors:
        yield elementwise.learned_vectors("layer_vectors", layer.vectors, setting, group="extras")
    yield elementwise.residual(hidden, setting).times(len(layer.mixers) + (part is not None))


def _dense(
    part: FeedForward, hidden: int, weights: WeightFormat, setting: Setting, *, group: str, prefix: str = ""
) -> Iterator[Op]:
    *into, down = part.matrices(hidden)
    yield matmul.linear(
        f"{prefix}gate_up_proj" if part.gated else f"{prefix}up_proj", into, weights, setting, group=group
    )
    yield elementwise.activation(f"{prefix}activation", part, setting, group=group)
    yield matmul.linear(f"{prefix}down_proj", [down], weights, setting, group=group)


def _experts(
    part: MixtureOfExperts, hidden: int, model: ModelConfig, deployment: Deployment, setting: Setting
) -> Iterator[Op]:
    router = weights_of(model, deployment, "router")
    yield matmul.linear("router", [part.router(hidden)], router, setting, group="experts")
    if part.router_vectors:
        yield elementwise.learned_vectors("router_vectors", part.router_vectors, setting, group="experts")
    weights = weights_of(model, deployment, "expert")
    for matrix in part.latent_matrices(hidden):
        beside = weights_of(model, deployment, "shared_expert")
        yield matmul.linear(matrix.name, [matrix], beside, setting, group="experts")
    *into, down = part.expert_matrices(hidden)
    chosen = part.num_experts_per_tok
    for name, matrices in (("expert_gate_up_proj", into), ("expert_down_proj", [down])):
        yield matmul.expert_linear(name, matrices, weights, setting, num_experts=part.num_experts, per_token=chosen)
    yield elementwise.activation("expert_activation", part.expert, setting, group="experts", per_token=chosen)
    yield elementwise.routing(part, part.latent_size or hidden, setting)
    if part.shared is not None:
        shared = weights_of(model, deployment, "shared_expert")
        yield from _dense(part.shared, hidden, shared, setting, group="shared_expert", prefix="shared_")
        if part.shared_gate:
            gate = part.shared_matrices(hidden)[-1]
            plain = weights_of(model, deployment, "plain")
            yield matmul.linear(gate.name, [gate], plain, setting, group="shared_expert")
