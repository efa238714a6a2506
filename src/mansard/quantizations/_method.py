"""The scheme of a configuration, found by its method; one that is not known is refused by name."""

from functools import lru_cache
from types import ModuleType

from mansard import registry
from mansard.errors import did_you_mean
from mansard.inputs.keys import Keys
from mansard.inputs.storage import LEAVE_OUT, Scheme

_FOLDER = "mansard.quantizations"
# Known by name, and why their bytes do not follow from a configuration.
_NOT_COUNTED = {
    "vptq": "the widths of its codes and outliers are packed by layer",
    "spqr": "its outliers depend on the data",
    "higgs": "the padding of its codes depends on the kernel",
    "quanto": "what it writes differs between its versions",
    "fp_quant": "its packing is not documented",
    "quip": "its codebooks are not in the configuration",
    "bitblas": "its packing depends on the kernel",
    "deepspeedfp": "its packing is not documented",
}


def read_scheme(keys: Keys) -> Scheme | None:
    """How a `quantization_config` says that weights are stored; None if there is none. Faults are kept in `keys`.

    A method that is not known is a fault that names it: guessing a width would print a wrong number.
    """
    if not keys.document:
        return None
    method = _method(keys)
    if not method:
        keys.fault("quant_method", "is required but absent", hint=f"known are {', '.join(methods())}")
        return None
    found = _readers().get(method)
    if found is not None:
        scheme: Scheme | None = found.read(keys)
        return scheme
    if method in _NOT_COUNTED:
        keys.fault("quant_method", f"is not counted: {_NOT_COUNTED[method]}", method, LEAVE_OUT)
        return None
    hint = did_you_mean(method, methods()) or f"known are {', '.join(methods())}; else {LEAVE_OUT}"
    keys.fault("quant_method", "is not known", method, hint)
    return None


def _method(keys: Keys) -> str:
    if keys.has("quant_method"):
        return keys.text("quant_method", default="").lower()
    if keys.has("quant_algo"):
        return "modelopt"  # what it writes beside a config names no method
    return "mlx" if keys.has("bits") and keys.has("group_size") else ""


def methods() -> tuple[str, ...]:
    """The methods that are known, sorted."""
    return tuple(sorted(_readers()))


@lru_cache(maxsize=1)
def _readers() -> dict[str, ModuleType]:
    return {method: module for module in registry.modules(_FOLDER) for method in module.METHODS}
