"""Where the reference data lies, for tests that read it while they are collected.

Reference data is not part of the repository. It is found by the environment variable MANSARD_REFERENCE, or in
`shared/reference` beside the checkout; without it these tests are skipped, and the run says how many were.
"""

import csv
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parent.parent
MISSING = "reference data not found"


def folder() -> Path | None:
    """The folder of the reference data, or None if it is not here."""
    named = os.environ.get("MANSARD_REFERENCE")
    path = Path(named) if named else ROOT.parent / "shared" / "reference"
    return path.resolve() if path.is_dir() else None


def reason() -> str:
    """Why a test that needs the reference data is skipped."""
    return f"{MISSING}: set MANSARD_REFERENCE, or put it at ../shared/reference beside the checkout"


def rows(path: str) -> list[dict[str, str]]:
    """The rows of a reference CSV; none if the reference data is not here."""
    found = folder()
    if found is None:
        return []
    with (found / path).open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def parameters(values: Iterator[Any] | list[Any], ids: list[str] | None = None) -> list[Any]:
    """Values for `pytest.mark.parametrize`; a single skipped one, with the reason, where the data is not here."""
    found = list(values)
    if folder() is None:
        return [pytest.param(None, marks=pytest.mark.skip(reason=reason()), id="no-reference-data")]
    if ids is None:
        return found
    return [pytest.param(value, id=name) for value, name in zip(found, ids, strict=True)]
