"""Docs can't lie: what they show is run and compared, what they claim to be generated is generated, links resolve."""

import doctest
import importlib.util
import pkgutil
import re
import shutil
import sys
from importlib import import_module
from pathlib import Path
from types import ModuleType
from typing import NamedTuple

import pytest

import mansard

ROOT = Path(__file__).resolve().parents[2]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def _script(name: str) -> ModuleType:
    spec = importlib.util.spec_from_file_location(f"docs_{name}", ROOT / "docs" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


outputs = _script("outputs")
BLOCKS = [block for page in outputs.pages() for block in outputs.blocks(page)]
PAGES = [page for page in outputs.pages() if ">>> " in page.read_text(encoding="utf-8")]
MODULES = [
    module.name for module in pkgutil.walk_packages(mansard.__path__, "mansard.") if "__main__" not in module.name
]


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.title)
def test_a_shown_command_prints_what_is_shown(block: object) -> None:
    assert outputs.run(block) == block.body  # type: ignore[attr-defined]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_python_in_a_page_answers_as_shown(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(ROOT / "docs" / "examples", tmp_path / "examples")
    monkeypatch.chdir(tmp_path / "examples")
    # Only what is fenced: a closing fence must not be read as output.
    fenced = re.findall(r"^```python\n(.*?)^```$", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)
    examples = doctest.DocTestParser().get_doctest("\n".join(fenced), {}, page.name, str(page), 0)
    failed, _ = doctest.DocTestRunner(optionflags=FLAGS).run(examples)
    assert failed == 0


OF_EXTRAS = {"anyio", "fastapi", "mcp", "starlette", "uvicorn", "vl_convert"}


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_hold(name: str) -> None:
    try:
        module = import_module(name)
    except ModuleNotFoundError as missing:
        if missing.name is None or missing.name.partition(".")[0] not in OF_EXTRAS:
            raise
        pytest.skip(f"{missing.name} is not installed, which an extra brings")
    failed, _ = doctest.testmod(module, optionflags=FLAGS)
    assert failed == 0


def test_page_of_the_command_line_is_current() -> None:
    page = _script("generate_cli")
    assert page.PAGE.read_text(encoding="utf-8") == page.render(), "run: python docs/generate_cli.py --write"


mechanisms = _script("generate_mechanisms")


@pytest.mark.parametrize("page", mechanisms.PAGES, ids=lambda page: page.name)
def test_pages_of_mechanisms_are_current_and_have_a_worked_value_and_a_source(page: NamedTuple) -> None:
    text = mechanisms.render(page)
    place = mechanisms.FOLDER / f"{page.name}.md"  # type: ignore[attr-defined]
    assert place.read_text(encoding="utf-8") == text, "run: python docs/generate_mechanisms.py --write"
    assert "ource" in text
    assert "```python" in text or place.stem == "families"


@pytest.mark.parametrize("page", [ROOT / "README.md", ROOT / "CONTRIBUTING.md"], ids=lambda page: page.name)
def test_relative_links_lead_somewhere(page: Path) -> None:
    links = re.findall(r"\]\((?!https?://|#)([^)#]+)", page.read_text(encoding="utf-8"))
    assert [link for link in links if not (page.parent / link).exists()] == []
