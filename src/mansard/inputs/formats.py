"""The format that each matrix is read in: the checkpoint's own for it, or the one that a deployment asks for."""

from collections.abc import Callable
from typing import TypeAlias

from mansard.inputs.mechanisms import Layer
from mansard.inputs.model import ModelConfig
from mansard.inputs.scenario import Deployment
from mansard.inputs.weights import Matrix
from mansard.precision import DTYPE_BITS, WEIGHT_FORMATS, WeightFormat, weight_format

Formats: TypeAlias = Callable[[str, Matrix], WeightFormat]


def layer_formats(layer: Layer, model: ModelConfig, deployment: Deployment) -> Formats:
    """The format of a matrix of a layer, by its part ("mixer", "expert", "router", …; see `inputs/modules.py`).

    A deployment's own format replaces that of all of them but the router, which keeps the model's dtype.
    """
    plain, known = WEIGHT_FORMATS[model.dtype], dict(layer.storage)
    asked = weight_format(deployment.weights) if deployment.weights else None

    def of(part: str, matrix: Matrix) -> WeightFormat:
        if asked is not None:
            return plain if part == "router" or matrix.name == "shared_expert_gate" else asked
        return known.get(f"{part}.{matrix.name}", plain)

    return of


def head_format(model: ModelConfig, deployment: Deployment) -> WeightFormat:
    """The format of the head; a deployment's own leaves it in the model's dtype."""
    kept = None if deployment.weights else model.quantization
    return kept.head if kept else WEIGHT_FORMATS[model.dtype]


def embedding_format(model: ModelConfig, deployment: Deployment) -> WeightFormat:
    """The format of the token embedding; a deployment's own leaves it in the model's dtype."""
    kept = None if deployment.weights else model.quantization
    return kept.embedding if kept else WEIGHT_FORMATS[model.dtype]


def extras_format(model: ModelConfig, deployment: Deployment) -> WeightFormat:
    """The format of products beside the embedding."""
    asked = weight_format(deployment.weights) if deployment.weights else None
    return asked or WEIGHT_FORMATS[model.dtype]


def opaque_format(model: ModelConfig, deployment: Deployment) -> WeightFormat:
    """The format of a model of which only the parameter count is known."""
    asked = weight_format(deployment.weights) if deployment.weights else None
    return asked or model.opaque_format or WEIGHT_FORMATS[model.dtype]


def cache_bits(model: ModelConfig, deployment: Deployment) -> int:
    """Bits of one cache element: as asked for, as the checkpoint is made for, or the activations' and at least 16."""
    stated = deployment.kv or (model.quantization.cache if model.quantization else None)
    return DTYPE_BITS[stated] if stated else max(16, DTYPE_BITS[deployment.activations or model.dtype])
