"""Parameters of published diffusion components against the table that their classes gave."""

import json
from pathlib import Path

import pytest

from mansard.pipelines import read_component
from reference_data import parameters, rows

_ELSEWHERE = ("text_encoder", "safety_checker")  # of transformers


def of_diffusers() -> list[dict[str, str]]:
    found = [row for row in rows("models/truth.csv") if row["file"].startswith("diffusers/")]
    return [row for row in found if not any(word in row["file"] for word in _ELSEWHERE)]


@pytest.mark.parametrize("row", parameters(of_diffusers(), [row["file"] for row in of_diffusers()]))
def test_parameters_equal_the_published_ones(row: dict[str, str], reference: Path) -> None:
    document = json.loads((reference / "models" / row["file"]).read_text(encoding="utf-8"))
    component = read_component(document, row["file"])
    assert component.parameters == int(row["total_params"])
    assert component.class_name == row["architecture"]
