"""What fills a device: weights, cache, activations, the engine's reserve; and what would still fit."""

from collections.abc import Iterator

from mansard.forward import cache_bits, weights_of
from mansard.inputs.mechanisms import FeedForward, LatentAttention, Layer, Matrix
from mansard.inputs.model import ModelConfig
from mansard.inputs.scenario import Deployment, Engine
from mansard.operators.step import cached_tokens_kept
from mansard.precision import DTYPE_BITS, WEIGHT_FORMATS, WeightFormat


def weight_bytes(model: ModelConfig, deployment: Deployment) -> int:
    """Bytes of all weights as they are stored: every expert, the embedding, and the head unless it is tied to it."""
    if model.opaque_parameters:
        return weights_of(model, deployment, "opaque").matrix_bytes(model.opaque_parameters, 1)
    plain = WEIGHT_FORMATS[model.dtype]
    layers = sum(count * _layer_bytes(layer, model, deployment) for layer, count in model.distinct_layers)
    return (
        layers
        + sum(plain.matrix_bytes(elements, 1) for elements in _outer_elements(model))
        + _head_bytes(model, deployment)
    )


def cache_bytes(model: ModelConfig, deployment: Deployment, context: int) -> int:
    """Cache bytes of one sequence of `context` tokens: windowed and chunked layers keep no more than their window."""
    bits = cache_bits(model, deployment)
    return sum(
        count
        * -(-layer.mixer.cache_elements_per_token * bits // 8)
        * cached_tokens_kept(context, layer.mixer.window, layer.mixer.chunk)
        for layer, count in model.distinct_layers
    )


def cache_bytes_per_token(model: ModelConfig, deployment: Deployment) -> int | None:
    """Cache bytes that one more token adds while no window is full, summed over the layers; None: no layer is known."""
    return cache_bytes(model, deployment, 1) if model.layers else None


def widest_elements(model: ModelConfig) -> int:
    """Elements per token at the widest point: the operator with most inputs and outputs, and the residual stream."""
    return model.hidden_size + max((_widest(layer, model.hidden_size) for layer, _ in model.distinct_layers), default=0)


def activation_bytes(
    model: ModelConfig, deployment: Deployment, engine: Engine, *, widest: int, tokens: int, batch: int
) -> int:
    """Activations at the widest point of a step of so many tokens, prefilled in the engine's pieces, and the logits.

    widest: `widest_elements`. Logits are counted in fp32, as samplers keep them.
    """
    at_once = min(tokens, max(engine.max_num_batched_tokens, batch))
    bits = DTYPE_BITS[deployment.activations or model.dtype]
    logits = batch * model.head.vocab_size * 4 if model.head else 0
    return at_once * widest * bits // 8 + logits


def _widest(layer: Layer, hidden_size: int) -> int:
    def moved(part: FeedForward, times: int) -> int:
        return times * (hidden_size + part.intermediate_size * (2 if part.gated else 1))

    mixer = max(matrix.rows + matrix.columns for matrix in layer.mixer.matrices(hidden_size))
    if not isinstance(layer.mixer, LatentAttention):
        projections = layer.mixer.matrices(hidden_size)[:3]
        mixer = hidden_size + sum(matrix.columns for matrix in projections)
    part = layer.feed_forward
    if isinstance(part, FeedForward):
        return max(mixer, moved(part, 1))
    shared = moved(part.shared, 1) if part.shared else 0
    return max(mixer, moved(part.expert, part.num_experts_per_tok), shared)


def _layer_bytes(layer: Layer, model: ModelConfig, deployment: Deployment) -> int:
    plain = WEIGHT_FORMATS[model.dtype]
    vectors = layer.mixer.vector_parameters + sum(norm.parameters for norm in layer.norms)
    if isinstance(layer.feed_forward, FeedForward):
        vectors += layer.feed_forward.activation_parameters
    total = plain.matrix_bytes(vectors, 1)
    for part, matrices, copies in _parts(layer, model.hidden_size):
        weights = plain if part == "plain" else weights_of(model, deployment, part)
        for matrix in matrices:
            total += copies * weights.matrix_bytes(matrix.rows, matrix.columns)
            total += copies * _vector(plain, matrix.columns if matrix.bias else 0)
    return total


def _parts(layer: Layer, hidden_size: int) -> Iterator[tuple[str, tuple[Matrix, ...], int]]:
    yield "attention", layer.mixer.matrices(hidden_size), 1
    part = layer.feed_forward
    if isinstance(part, FeedForward):
        yield "feed_forward", part.matrices(hidden_size), 1
        return
    yield "router", (part.router(hidden_size),), 1
    yield "expert", part.expert.matrices(hidden_size), part.num_experts
    if part.shared is not None:
        yield "shared_expert", part.shared.matrices(hidden_size), 1
        yield "plain", part.shared_matrices(hidden_size)[len(part.shared.matrices(hidden_size)) :], 1


def _outer_elements(model: ModelConfig) -> Iterator[int]:
    if model.final_norm:
        yield model.final_norm.parameters
    embedding = model.embedding
    if embedding is None:
        return
    yield embedding.token_parameters
    yield embedding.positions * embedding.position_dim
    if embedding.norm:
        yield embedding.norm.parameters
    for matrix in (embedding.project_in, embedding.project_out):
        if matrix:
            yield matrix.parameters


def _head_bytes(model: ModelConfig, deployment: Deployment) -> int:
    if model.head is None:
        return 0
    bias = _vector(WEIGHT_FORMATS[model.dtype], model.head.vocab_size if model.head.bias else 0)
    if model.head.tied:
        return bias
    return bias + weights_of(model, deployment, "lm_head").matrix_bytes(model.head.dim, model.head.vocab_size)


def _vector(plain: WeightFormat, elements: int) -> int:
    return -(-elements * plain.bits // 8)
