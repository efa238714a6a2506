"""What limits an AI-inference workload, how fast it can be at best, and which change would help most.

>>> import mansard as ms
>>> ms.attainable(1e14, 1e12, 1)
1000000000000.0
"""

from importlib import import_module
from typing import Any

__version__ = "0.1.0"

# Public names and the modules that define them, loaded on first use: `import mansard` costs next to nothing. Type
# checkers read the same from the stub beside this file.
_HOMES = {
    "arithmetic_intensity": "algebra",
    "matmul_intensity": "algebra",
    "attainable": "algebra",
    "ridge_point": "algebra",
    "bound": "algebra",
    "batch_to_saturate": "algebra",
    "memory_time": "algebra",
    "compute_time": "algebra",
    "request_times": "algebra",
    "analyze": "analysis",
    "advise": "advice",
    "step": "analysis",
    "saturate": "analysis",
    "grid": "analysis",
    "operator": "single",
    "explain": "answers.explain:answer",
    "request": "answers.request:answer",
    "list": "answers.list:answer",
    "show": "answers.show:answer",
    "cite": "answers.cite:answer",
    "schema": "answers.schema:answer",
    "load_model": "loading",
    "model_names": "loading",
    "load_device": "inputs.device_file",
    "device_names": "inputs.device_file",
    "Analysis": "results",
    "Answer": "answers._answer",
    "ModelConfig": "inputs.model",
    "Device": "inputs.device",
    "MansardError": "errors",
    "UsageError": "errors",
    "InputError": "errors",
    "UnavailableError": "errors",
}

# `from mansard import *` must not hide Python's own `list`.
__all__ = ["__version__", *(name for name in _HOMES if name != "list")]  # noqa: PLE0604  # every key is a name


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'mansard' has no attribute {name!r}")
    home, _, attribute = _HOMES[name].partition(":")
    value = getattr(import_module(f"mansard.{home}"), attribute or name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
