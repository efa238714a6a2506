"""Every verb as a Python function: the same document as the command's, in every form, and nothing else to learn."""

import json
import re
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import mansard
from mansard.cli import root
from mansard.errors import UsageError
from mansard.registry import names

H100 = "h100-sxm"
VERBS: dict[str, tuple[Any, list[str]]] = {
    "analyze": (
        lambda: mansard.analyze("llama-3.1-8b", on=H100, batch=4),
        ["llama-3.1-8b", "--on", H100, "--batch", "4"],
    ),
    "explain": (
        lambda: mansard.explain("params=8e9", on=H100, prompt=64),
        ["params=8e9", "--on", H100, "--prompt", "64"],
    ),
    "operator": (
        lambda: mansard.operator("gemm", on=H100, m=1, n=64, k=64),
        ["gemm", "m=1", "n=64", "k=64", "--on", H100],
    ),
    "request": (
        lambda: mansard.request(ttft=0.2, itl=0.05, output=5),
        ["--ttft", "0.2", "--itl", "0.05", "--output", "5"],
    ),
    "advise": (lambda: mansard.advise("llama-3.1-8b", on=H100), ["llama-3.1-8b", "--on", H100]),
    "saturate": (
        lambda: mansard.saturate("llama-3.1-8b", on=H100, context=512),
        ["llama-3.1-8b", "--on", H100, "--context", "512"],
    ),
    "list": (lambda: mansard.list("devices", sort="ridge"), ["devices", "--sort", "ridge"]),
    "show": (lambda: mansard.show(H100), [H100]),
    "cite": (lambda: mansard.cite("llama-3.1-8b"), ["llama-3.1-8b"]),
    "schema": (lambda: mansard.schema("request"), ["request"]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_a_function_gives_the_document_and_the_text_of_its_command(verb: str) -> None:
    ask, words = VERBS[verb]
    found = ask()
    runner = CliRunner()
    assert found.to_dict() == json.loads(runner.invoke(root, [verb, *words, "--json"]).stdout)
    assert json.loads(found.to_json()) == found.to_dict()
    if verb in ("advise", "saturate"):  # a result does not know what it was asked for, only what was found
        assert str(found).splitlines()[2:8] == runner.invoke(root, [verb, *words]).stdout.splitlines()[2:8]
    else:
        assert str(found) == runner.invoke(root, [verb, *words]).stdout.rstrip("\n")


@pytest.mark.parametrize("verb", VERBS)
def test_a_notebook_shows_a_piece_of_a_page(verb: str) -> None:
    shown = VERBS[verb][0]()._repr_html_()
    assert shown.startswith("<")
    assert "<html" not in shown
    if verb not in ("advise", "saturate"):
        assert len(repr(VERBS[verb][0]())) < 400  # a line, not the whole answer


def test_every_verb_of_the_command_line_is_a_function() -> None:
    assert set(VERBS) == set(names("mansard.answers"))
    for verb in names("mansard.answers"):
        assert verb in root.list_commands(None)
        assert callable(getattr(mansard, verb)), verb


def test_the_stub_names_what_the_package_has() -> None:
    stub = (Path(mansard.__file__).parent / "__init__.pyi").read_text(encoding="utf-8")
    named = set(re.findall(r" as ([A-Za-z]\w+)$", stub, re.MULTILINE)) | set(
        re.findall(r"^(\w+) = ", stub, re.MULTILINE)
    )
    assert named | {"__version__"} == {*mansard.__all__, "list"}


def test_importing_everything_leaves_the_builtins_alone() -> None:
    scope: dict[str, Any] = {}
    exec("from mansard import *", scope)  # what is looked at is the statement itself
    assert "list" not in scope
    assert scope["attainable"](1e14, 1e12, 1) == 1e12


def test_models_and_devices_may_be_paths(tmp_path: Path) -> None:
    config = {"model_type": "llama", "hidden_size": 64, "num_attention_heads": 4, "num_hidden_layers": 2,
              "intermediate_size": 128, "vocab_size": 1000}  # fmt: skip
    (tmp_path / "config.json").write_text(json.dumps(config))
    assert mansard.load_model(tmp_path).hidden_size == 64
    assert mansard.analyze(tmp_path / "config.json", on=H100).model.hidden_size == 64
    assert mansard.show(tmp_path / "config.json").to_dict()["hidden_size"] == 64


@pytest.mark.parametrize("wrong", [None, 7, b"llama-3.1-8b", {"model_type": "llama"}])
def test_what_is_no_name_is_refused(wrong: Any) -> None:
    for ask in (
        lambda: mansard.analyze(wrong, on=H100),
        lambda: mansard.analyze("llama-3.1-8b", on=wrong),
        lambda: mansard.load_model(wrong),
        lambda: mansard.load_device(wrong),
        lambda: mansard.show(wrong),
        lambda: mansard.operator("gemm", on=wrong, m=1, n=1, k=1),
    ):
        with pytest.raises(UsageError, match=type(wrong).__name__):
            ask()
