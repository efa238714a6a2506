"""A diffusion component at a size: its parts become the operators of a step, alike ones counted once."""

from collections.abc import Iterable

from mansard.inputs.component import Component
from mansard.inputs.parts import Attended, Convolution, Normalised, Part, Product
from mansard.inputs.scenario import Deployment, Engine
from mansard.operators import fixed
from mansard.operators.convolution import convolution
from mansard.operators.cost import Op, Setting
from mansard.precision import DTYPE_BITS, WEIGHT_FORMATS, WeightFormat, weight_format

# Groups whose matrices stay in the component's dtype when the blocks' are quantised.
_PLAIN_GROUPS = ("embedding", "output")


def weights_of(component: Component, deployment: Deployment, part: Product) -> WeightFormat:
    """The format of a product's matrices: the deployment's in a denoiser's blocks; embedders and heads are plain."""
    plain = WEIGHT_FORMATS[component.dtype]
    if part.group in _PLAIN_GROUPS or component.role == "autoencoder":
        return plain
    return (weight_format(deployment.weights) if deployment.weights else None) or plain


def setting_of(component: Component, deployment: Deployment, engine: Engine) -> Setting:
    """How a component is run. An autoencoder computes in its own dtype where the denoiser's activations are short."""
    asked = deployment.activations or component.dtype
    dtype = component.dtype if component.role == "autoencoder" and DTYPE_BITS[asked] < 16 else asked
    attention = deployment.attention if deployment.attention in ("fused", "standard") else engine.attention
    return Setting(
        activation_dtype=dtype,
        activation_bits=DTYPE_BITS[dtype],
        cache_bits=max(16, DTYPE_BITS[dtype]),
        fusion=engine.fusion,
        attention=attention,
        norm_bits=DTYPE_BITS[component.dtype],
    )


def operators(
    component: Component, parts: Iterable[Part], moved: tuple[int, int], deployment: Deployment, engine: Engine
) -> tuple[Op, ...]:
    """The operators of a component for one item, in order of first appearance; moved: elements in and out."""
    setting = setting_of(component, deployment, engine)
    counts: dict[Part, int] = {}
    for part in parts:
        one = part._replace(count=1)
        counts[one] = counts.get(one, 0) + part.count
    ops = [_operator(part, component, deployment, setting).times(count) for part, count in counts.items() if count]
    return (*ops, fixed.latents(*moved, setting))


def weight_bytes(component: Component, parts: Iterable[Part], deployment: Deployment) -> int:
    """Bytes of the weights of parts as they are stored."""
    return sum(part.count * _stored(part, component, deployment) for part in parts)


def widest_elements(parts: Iterable[Part]) -> int:
    """Elements in and out of the widest part of one item."""
    return max((part.moved for part in parts if part.count), default=0)


def _stored(part: Part, component: Component, deployment: Deployment) -> int:
    plain = WEIGHT_FORMATS[component.dtype]
    if not isinstance(part, Product) or not part.parameters:
        return plain.matrix_bytes(part.parameters, 1)
    stored = weights_of(component, deployment, part)
    biases = sum(matrix.columns for matrix in part.matrices if matrix.bias)
    matrices = sum(stored.matrix_bytes(matrix.rows, matrix.columns) for matrix in part.matrices)
    return matrices + plain.matrix_bytes(biases, 1)


def _operator(part: Part, component: Component, deployment: Deployment, setting: Setting) -> Op:
    if isinstance(part, Product):
        return fixed.product(part, weights_of(component, deployment, part), setting)
    if isinstance(part, Convolution):
        return convolution(part, WEIGHT_FORMATS[component.dtype], setting)
    if isinstance(part, Attended):
        return fixed.attention(part, setting)
    if isinstance(part, Normalised):
        return fixed.norm(part, setting)
    return fixed.pointwise(part, setting)
