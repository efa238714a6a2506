"""The format that each matrix is read in: that of the files, the configuration's, or a deployment's own."""

from collections.abc import Callable
from typing import TypeAlias

from mansard.inputs.encoder import Applied
from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.modules import PARTS_OF_FILES
from mansard.inputs.scenario import Deployment
from mansard.inputs.weights import Matrix
from mansard.precision import DTYPE_BITS, WEIGHT_FORMATS, WeightFormat, weight_format

Formats: TypeAlias = Callable[[str, Matrix], WeightFormat]
_GATE = "shared_expert_gate"  # one column wide: kept in the model's dtype


def layer_formats(layer: Layer, model: ModelConfig, deployment: Deployment) -> Formats:
    """The format of a matrix of a layer, by its part ("mixer", "expert", "router", …; see `inputs/modules.py`).

    A deployment's own format replaces that of all of them but the router, which keeps the model's dtype.
    """
    plain, known = WEIGHT_FORMATS[model.dtype], dict(layer.storage)
    asked = weight_format(deployment.weights) if deployment.weights else None

    def of(part: str, matrix: Matrix) -> WeightFormat:
        if asked is not None:
            return plain if part == "router" or matrix.name == _GATE else asked
        configured = known.get(f"{part}.{matrix.name}", plain)
        if model.stored is None:
            return configured
        held = "plain" if matrix.name == _GATE else PARTS_OF_FILES.get(part, part)
        return model.stored.format_of(held, configured)

    return of


def head_format(model: ModelConfig, deployment: Deployment) -> WeightFormat:
    """The format of the head; a deployment's own leaves it in the model's dtype."""
    return _outer(model, deployment, "lm_head", model.quantization.head if model.quantization else None)


def embedding_format(model: ModelConfig, deployment: Deployment) -> WeightFormat:
    """The format of the token embedding; a deployment's own leaves it in the model's dtype."""
    return _outer(model, deployment, "embedding", model.quantization.embedding if model.quantization else None)


def plain_format(model: ModelConfig, deployment: Deployment) -> WeightFormat:
    """The format of norms, biases, and projections beside embedding and head: the model's dtype, or the files'."""
    return _outer(model, deployment, "plain", None)


def extras_format(model: ModelConfig, deployment: Deployment) -> WeightFormat:
    """The format of products beside the embedding."""
    asked = weight_format(deployment.weights) if deployment.weights else None
    return asked or _outer(model, deployment, "feed_forward", None)


def around_format(one: Applied, model: ModelConfig, deployment: Deployment) -> WeightFormat:
    """The format of a product before or behind an encoder's layers: convolutions and tables keep the model's dtype."""
    is_product = one.kind == "linear" and not one.tied
    return extras_format(model, deployment) if is_product else plain_format(model, deployment)


def opaque_format(model: ModelConfig, deployment: Deployment) -> WeightFormat:
    """The format of a model of which only the parameter count is known."""
    asked = weight_format(deployment.weights) if deployment.weights else None
    return asked or model.opaque_format or WEIGHT_FORMATS[model.dtype]


def cache_bits(model: ModelConfig, deployment: Deployment) -> int:
    """Bits of one cache element: as asked for, as the checkpoint is made for, or the activations' and at least 16."""
    stated = deployment.kv or (model.quantization.cache if model.quantization else None)
    return DTYPE_BITS[stated] if stated else max(16, DTYPE_BITS[deployment.activations or model.dtype])


def _outer(model: ModelConfig, deployment: Deployment, held: str, configured: WeightFormat | None) -> WeightFormat:
    plain = WEIGHT_FORMATS[model.dtype]
    if deployment.weights:
        return plain
    return model.stored.format_of(held, configured or plain) if model.stored else configured or plain
