"""What fills a device: weights, cache, activations, the engine's reserve; and what would still fit."""

from collections.abc import Iterable

from mansard.inputs.encoder import Encoder
from mansard.inputs.formats import (
    around_format,
    cache_bits,
    embedding_format,
    head_format,
    layer_formats,
    opaque_format,
)
from mansard.inputs.mechanisms import FeedForward, Layer
from mansard.inputs.mixers import CrossAttention, LatentAttention, Mixer, Recurrence
from mansard.inputs.model import ModelConfig, distinct, embedding_parameters, encoder_parameters, stack_parameters
from mansard.inputs.modules import stored_matrices
from mansard.inputs.scenario import Deployment, Engine
from mansard.operators.step import cached_tokens_kept
from mansard.precision import DTYPE_BITS, WEIGHT_FORMATS, WeightFormat


def weight_bytes(model: ModelConfig, deployment: Deployment) -> int:
    """Bytes of all weights as they are stored: every expert, the embedding, and the head unless it is tied to it.

    Layers that share one set of weights are stored once, however often they run. Files that were read are right to the
    byte, unless the deployment has another format.
    """
    if model.opaque_parameters:
        return opaque_format(model, deployment).matrix_bytes(model.opaque_parameters, 1)
    encoders = sum(_encoder_bytes(encoder, model, deployment) for encoder in model.encoders)
    if model.stored is not None and not deployment.weights:
        return model.stored.bytes + encoders + prediction_bytes(model, deployment)
    plain = WEIGHT_FORMATS[model.dtype]
    layers = _stack_bytes(model.distinct_layers, model.hidden_size, model, deployment)
    layers += prediction_bytes(model, deployment)
    outer = plain.matrix_bytes(model.final_norm.parameters, 1) if model.final_norm else 0
    return layers + encoders + outer + _embedding_bytes(model, deployment) + _head_bytes(model, deployment)


def prediction_bytes(model: ModelConfig, deployment: Deployment) -> int:
    """Bytes of the weights of the layers that draft tokens, where they are loaded."""
    drafting = distinct(model.prediction_layers) if deployment.mtp else ()
    return _stack_bytes(drafting, model.hidden_size, model, deployment)


def cache_bytes(model: ModelConfig, deployment: Deployment, context: int) -> int:
    """Cache bytes of one sequence of `context` tokens: windowed and chunked layers keep no more than their window.

    Layers that draft tokens keep a cache of their own, where they are loaded.
    """
    bits = cache_bits(model, deployment)
    drafting = distinct(model.prediction_layers) if deployment.mtp else ()
    return sum(
        count * -(-mixer.cache_elements_per_token * bits // 8) * cached_tokens_kept(context, mixer.window, mixer.chunk)
        for layer, count in (*model.distinct_layers, *drafting)
        for mixer in layer.mixers
    )


def cache_bytes_per_token(model: ModelConfig, deployment: Deployment) -> int | None:
    """Cache bytes that one more token adds while no window is full, summed over the layers; None: no layer is known."""
    return None if model.opaque_parameters else cache_bytes(model, deployment, 1)


def state_bytes(model: ModelConfig, deployment: Deployment) -> int:
    """Bytes of state of one sequence, however long: what recurrent layers carry, and inputs of earlier tokens.

    The latter are kept in the dtype of the activations, as many as the class keeps.
    """
    carried = -(-model.state_elements * DTYPE_BITS[deployment.state or model.state_dtype] // 8)
    inputs = -(-model.convolution_state_elements * DTYPE_BITS[deployment.activations or model.dtype] // 8)
    return carried + inputs


def source_bytes(model: ModelConfig, deployment: Deployment, source: int) -> int:
    """Bytes of the keys and values that cross-attention keeps of `source` tokens of an encoder, for one sequence."""
    return source * -(-model.source_elements_per_token * cache_bits(model, deployment) // 8)


def widest_elements(model: ModelConfig) -> int:
    """Elements per token at the widest point: the operator with most inputs and outputs, and the residual streams."""
    streams = max((layer.streams.number for layer, _ in model.distinct_layers if layer.streams), default=1)
    widest = max((_widest(layer, model.hidden_size) for layer, _ in model.distinct_layers), default=0)
    return streams * model.hidden_size + widest


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


def widest_of_encoder(encoder: Encoder) -> int:
    """The same of an encoder, its front and back ends included."""
    layers = [_widest(layer, encoder.hidden_size) for layer, _ in distinct(encoder.layers)]
    around = [one.matrix.rows + one.matrix.columns for one in (*encoder.front, *encoder.back)]
    return encoder.hidden_size + max((*layers, *around), default=0)


def encoder_activation_bytes(
    model: ModelConfig, deployment: Deployment, engine: Engine, *, widest: int, tokens: int, sequences: int
) -> int:
    """Activations of so many sequences at an encoder's widest point, in the engine's pieces of whole sequences."""
    at_once = max(1, min(sequences, engine.max_num_batched_tokens // max(1, tokens))) if sequences else 0
    return at_once * tokens * widest * DTYPE_BITS[deployment.activations or model.dtype] // 8


def _widest(layer: Layer, hidden_size: int) -> int:
    def moved(part: FeedForward, times: int, width: int = hidden_size) -> int:
        return times * (width + part.intermediate_size * (2 if part.gated else 1))

    found = [_widest_of(mixer, hidden_size) for mixer in layer.mixers]
    part = layer.feed_forward
    if isinstance(part, FeedForward):
        found.append(moved(part, 1))
    elif part is not None:
        found.append(moved(part.expert, part.num_experts_per_tok, part.latent_size or hidden_size))
        found.append(moved(part.shared, 1) if part.shared else 0)
    return max(found, default=0)


def _widest_of(mixer: Mixer, hidden_size: int) -> int:
    if isinstance(mixer, LatentAttention):
        return max(matrix.rows + matrix.columns for matrix in mixer.matrices(hidden_size))
    if isinstance(mixer, CrossAttention):
        return hidden_size + mixer.heads * mixer.head_dim
    read = mixer.projections if isinstance(mixer, Recurrence) else mixer.projections(hidden_size)
    return hidden_size + sum(matrix.columns for matrix in read)


def _stack_bytes(
    layers: Iterable[tuple[Layer, int]], hidden_size: int, model: ModelConfig, deployment: Deployment
) -> int:
    return sum(
        (1 if layer.shared else count) * _layer_bytes(layer, hidden_size, model, deployment) for layer, count in layers
    )


def _layer_bytes(layer: Layer, hidden_size: int, model: ModelConfig, deployment: Deployment) -> int:
    plain = WEIGHT_FORMATS[model.dtype]
    vectors = sum(mixer.vector_parameters for mixer in layer.mixers)
    vectors += sum(norm.parameters for norm in layer.norms) + layer.vectors
    if layer.streams:
        vectors += sum(norm.parameters for norm in layer.streams.norms) + layer.streams.vectors
    if isinstance(layer.feed_forward, FeedForward):
        vectors += layer.feed_forward.activation_parameters
    elif layer.feed_forward is not None:
        vectors += layer.feed_forward.router_vectors
    total = plain.matrix_bytes(vectors, 1)
    formats = layer_formats(layer, model, deployment)
    for one in stored_matrices(layer, hidden_size):
        matrix = one.matrix
        total += one.copies * formats(one.part, matrix).matrix_bytes(matrix.rows, matrix.columns)
        total += one.copies * _vector(plain, matrix.columns if matrix.bias else 0)
    return total


def _encoder_bytes(encoder: Encoder, model: ModelConfig, deployment: Deployment) -> int:
    plain = WEIGHT_FORMATS[model.dtype]
    around = encoder_parameters(encoder) - stack_parameters(distinct(encoder.layers), encoder.hidden_size)
    total = _stack_bytes(distinct(encoder.layers), encoder.hidden_size, model, deployment)
    for one in (*encoder.front, *encoder.back):
        if not one.tied:
            around -= one.matrix.elements
            total += around_format(one, model, deployment).matrix_bytes(one.matrix.rows, one.matrix.columns)
    return total + plain.matrix_bytes(around, 1)


def _embedding_bytes(model: ModelConfig, deployment: Deployment) -> int:
    embedding = model.embedding
    if embedding is None:
        return 0
    # Groups lie along a token's row.
    table = embedding_format(model, deployment).matrix_bytes(embedding.dim, embedding.vocab_size)
    beside = embedding_parameters(embedding) - embedding.token_parameters
    return table + WEIGHT_FORMATS[model.dtype].matrix_bytes(beside, 1)


def _head_bytes(model: ModelConfig, deployment: Deployment) -> int:
    if model.head is None:
        return 0
    bias = _vector(WEIGHT_FORMATS[model.dtype], model.head.vocab_size if model.head.bias else 0)
    if model.head.tied:
        return bias
    return bias + head_format(model, deployment).matrix_bytes(model.head.dim, model.head.vocab_size)


def _vector(plain: WeightFormat, elements: int) -> int:
    return -(-elements * plain.bits // 8)
