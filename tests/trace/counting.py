"""Counts the matrix work that a PyTorch module really dispatches, by what its operands are made of.

A product with an operand made of parameters is a GEMM against weights, one of two activations is attention, and one of
two constants (a table of rotary angles) is no work of the model. Where an operand comes from is followed through every
operation, since experts are gathered, biases cast and keys concatenated before they are multiplied.
"""

from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from math import prod
from typing import Any, NamedTuple

import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

CONSTANT, WEIGHT, ACTIVATION = range(3)
# A look-up in a table of weights gives activations, as a product with weights does, even of a learned query or of a
# step's sinusoids; indexing a stack of experts gives weights.
_LOOKUPS = ("embedding", "embedding_bag")


class Traced(NamedTuple):
    """One pass of a class: FLOPs (a multiply-add is 2) by kind, and elements of the weights that its products read.

    phase: "prefill", "decode", "encode" or "denoise". `gemm_flops_by_weight` splits `gemm_flops` by the parameter.
    """

    phase: str
    gemm_flops: int
    attention_flops: int
    convolution_flops: int
    weight_elements: int
    gemm_flops_by_weight: dict[str, int]

    @property
    def flops(self) -> int:
        return self.gemm_flops + self.attention_flops + self.convolution_flops


class WorkCounter(TorchDispatchMode):
    """Counts the passes of one module; `trace(phase)` opens one.

    What is neither a parameter nor derived from one nor named an activation counts as a constant, until an operation
    mixes it with activations. Storages are kept, so that their addresses stay theirs: on the meta device that is free.
    """

    def __init__(self, module: torch.nn.Module) -> None:
        super().__init__()
        self._origins: dict[int, tuple[int, str, Any]] = {}
        self._sizes: dict[str, int] = {}
        for name, parameter in module.named_parameters():
            self._mark(parameter, WEIGHT, name)
            self._sizes[name] = parameter.numel()
        self._flops: Counter[str] = Counter()
        self._by_weight: Counter[str] = Counter()
        self._phases: list[Traced] = []

    @contextmanager
    def trace(self, phase: str, *activations: torch.Tensor) -> Iterator[None]:
        """Counts what runs inside; `activations` are the inputs that are no constants (images, latents, states)."""
        self._flops.clear()
        self._by_weight.clear()
        for tensor in activations:
            self._mark(tensor, ACTIVATION, "")
        with self:
            yield
        self._phases.append(
            Traced(
                phase=phase,
                gemm_flops=self._flops["gemm"],
                attention_flops=self._flops["attention"],
                convolution_flops=self._flops["convolution"],
                weight_elements=sum(self._sizes[name] for name in self._by_weight),
                gemm_flops_by_weight=dict(self._by_weight),
            )
        )

    @property
    def phases(self) -> dict[str, Traced]:
        return {traced.phase: traced for traced in self._phases}

    def __torch_dispatch__(self, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        result = func(*args, **(kwargs or {}))
        name = func.__name__.split(".")[0]
        self._count(name, args, result)
        used = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, torch.Tensor)]
        # Indices choose among values and are none themselves: an expert that was gathered is still a weight.
        values = [tensor for tensor in used if tensor.is_floating_point() or tensor.is_complex()]
        kind, weight = max((self._origin(tensor) for tensor in values), default=(CONSTANT, ""))
        if name in _LOOKUPS or (name in _PRODUCTS and kind == WEIGHT):
            kind, weight = ACTIVATION, ""
        written = used[:1] if name.endswith("_") else []
        for tensor in [*tree_leaves(result), *written]:
            if isinstance(tensor, torch.Tensor) and self._origin(tensor)[0] < kind:
                self._mark(tensor, kind, weight)
        return result

    def _mark(self, tensor: torch.Tensor, kind: int, weight: str) -> None:
        storage = tensor.untyped_storage()
        self._origins[storage._cdata] = (kind, weight, storage)

    def _origin(self, tensor: torch.Tensor) -> tuple[int, str]:
        return self._origins.get(tensor.untyped_storage()._cdata, (CONSTANT, ""))[:2]

    def _count(self, name: str, args: Any, result: Any) -> None:
        if name in _PRODUCTS:
            at = _PRODUCTS[name]
            left, right = args[at], args[at + 1]
            self._add(left, right, 2 * left.shape[-1] * _rows(name, left, right, result))
        elif name == "convolution":
            self._convolution(args, result)
        elif name.startswith("_scaled_dot_product"):
            queries, keys, values = args[:3]
            scores = prod(queries.shape[:-1]) * keys.shape[-2]
            self._flops["attention"] += 2 * scores * (queries.shape[-1] + values.shape[-1])

    def _add(self, left: torch.Tensor, right: torch.Tensor, flops: int) -> None:
        origins = [self._origin(left), self._origin(right)]
        weights = [name for kind, name in origins if kind == WEIGHT]
        if weights:
            self._flops["gemm"] += flops
            self._by_weight[weights[-1]] += flops
        elif any(kind == ACTIVATION for kind, _ in origins):
            self._flops["attention"] += flops

    def _convolution(self, args: Any, result: torch.Tensor) -> None:
        """2 · output positions · channels out · (channels in / groups) · taps, by the weight's shape."""
        inputs, weight, transposed = args[0], args[1], args[6]
        positions = inputs if transposed else result
        flops = 2 * positions.shape[0] * prod(positions.shape[2:]) * weight.numel()
        self._flops["convolution"] += flops
        self._by_weight[self._origin(weight)[1]] += 0


# Operators that multiply matrices, and where their left operand stands.
_PRODUCTS = {
    "mm": 0,
    "bmm": 0,
    "mv": 0,
    "matmul": 0,
    "linear": 0,
    "_grouped_mm": 0,
    "addmm": 1,
    "baddbmm": 1,
    "addmv": 1,
}


def _rows(name: str, left: torch.Tensor, right: torch.Tensor, result: torch.Tensor) -> int:
    """Elements of the product: what is multiplied by twice the inner size."""
    return left.shape[0] * right.shape[-1] if name == "_grouped_mm" else result.numel()
