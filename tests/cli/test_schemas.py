"""Each command's JSON obeys the schema that `mansard schema` prints."""

import json
from typing import Any

import pytest
from click.testing import CliRunner

from mansard.cli import root

DOCUMENTS = {
    "analysis": ["analyze", "mixtral-8x7b", "--on", "h100-sxm"],
    "explanation": ["explain", "params=8e9", "--on", "peak=990e12,bandwidth=3.35e12"],
    "saturation": ["saturate", "llama-3.1-8b", "--on", "h100-sxm", "--context", "4096"],
    "operator": ["operator", "attention", "length=4096", "head_dim=128", "kind=standard", "--on", "h100-sxm"],
    "advice": ["advise", "llama-3.1-8b", "--on", "h100-sxm"],
    "request": ["request", "--ttft", "0.2", "--itl", "0.05", "--output", "1"],
    "model": ["show", "deepseek-v3"],
    "device": ["show", "h100-sxm"],
    "list": ["list", "devices"],
    "sources": ["cite", "h100-sxm"],
}


def document(*words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(CliRunner().invoke(root, [*words, "--json"]).stdout)
    return found


def test_every_schema_has_a_document_here() -> None:
    from mansard.answers._schemas import schema_names

    assert set(DOCUMENTS) == set(schema_names())


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_document_obeys_its_schema(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    schema, found = document("schema", name), document(*DOCUMENTS[name])
    jsonschema.Draft202012Validator.check_schema(schema)
    faults = [
        f"{error.json_path}: {error.message[:200]}"
        for error in jsonschema.Draft202012Validator(schema).iter_errors(found)
    ]
    assert faults == []
    assert found["schema"] == f"mansard.{name}/1"


@pytest.mark.parametrize("name", DOCUMENTS)
def test_a_schema_refuses_what_is_not_its_document(name: str) -> None:
    jsonschema = pytest.importorskip("jsonschema")
    validator = jsonschema.Draft202012Validator(document("schema", name))
    found = document(*DOCUMENTS[name])
    assert not validator.is_valid({**found, "more": 1})
    assert not validator.is_valid({key: value for key, value in found.items() if key != "version"})
