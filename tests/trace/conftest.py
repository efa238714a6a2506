"""The published classes, for tests that compare with them: skipped, and loudly, where they are not installed."""

from importlib import import_module
from types import ModuleType

import pytest

MISSING = "the published classes are not installed: pip install -e '.[trace]'"


@pytest.fixture(scope="session")
def published() -> ModuleType:
    """The module that builds and traces classes; importing it loads torch and transformers."""
    for library in ("torch", "transformers", "diffusers"):
        pytest.importorskip(library, reason=MISSING)
    return import_module("classes")
