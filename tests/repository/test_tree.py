"""What must hold of the repository itself: nothing of one machine, nothing unfinished, nothing that can drift apart."""

import os
import re
import subprocess
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LEFT_OUT = {".git", ".venv", "build", "dist", "site", "__pycache__", "results"}
TEXT = {".py", ".md", ".toml", ".yml", ".yaml", ".json", ".txt", ".cfg", ".css", ".js", ".html", ".ambr", ".csv", ""}


def _walked() -> list[Path]:
    found: list[Path] = []
    for folder, folders, names in os.walk(ROOT):
        folders[:] = [name for name in folders if name not in LEFT_OUT and not name.endswith(("_cache", ".egg-info"))]
        found += [Path(folder, name) for name in names]
    return found


def _files() -> list[Path]:
    """What git knows of or would take; everything but caches where this is no checkout."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"]
    try:
        listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        return _walked()
    return [path for name in listed.split("\0") if name and (path := ROOT / name).is_file()]


def _lines() -> list[tuple[str, str]]:
    """(place, line) of every text file."""
    found = []
    for path in _files():
        if path.suffix in TEXT and path.name != "LICENSE":
            text = path.read_text(encoding="utf-8")
            name = path.relative_to(ROOT)
            found += [(f"{name}:{number}", line) for number, line in enumerate(text.splitlines(), 1)]
    return found


LINES = _lines()
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))

# Written so that this file does not find itself.
FORBIDDEN = {
    "a path of one machine": r"(?<![\w.])/(?:wor[k]|far[m]|hom[e]/\w+|Use[r]s/\w+|roo[t])/",
    "a package index's host": r"pythonhoste[d]|pypi\.or[g]/simple|registry\.npm[j]s",
    "an unfinished note": r"\b(?:TOD[O]|FIXM[E]|XX[X]|HAC[K])\b",
    "a debugger": r"\b(?:breakpoin[t]\(\)|pdb\.set_trac[e])",
    "a conflict": r"^(?:<{7}|>{7}) ",
    "a tab or a trailing space": r"\t|[ ]+$",
}


@pytest.mark.parametrize("what", FORBIDDEN)
def test_no_file_holds(what: str) -> None:
    pattern = re.compile(FORBIDDEN[what])
    assert [f"{place}: {line.strip()[:120]}" for place, line in LINES if pattern.search(line)] == []


def test_files_end_with_one_newline() -> None:
    texts = {path: path.read_bytes() for path in _files() if path.suffix in TEXT}
    wrong = [path for path, text in texts.items() if text and (not text.endswith(b"\n") or text.endswith(b"\n\n"))]
    assert [str(path.relative_to(ROOT)) for path in wrong] == []


def test_every_module_says_in_one_sentence_what_it_is() -> None:
    opening = re.compile(r'(?:r?""".+)', re.ASCII)
    modules = [path for path in (ROOT / "src").rglob("*.py") if path.stat().st_size]
    wrong = [path for path in modules if not opening.match(path.read_text(encoding="utf-8"))]
    assert [str(path.relative_to(ROOT)) for path in wrong] == []


def test_no_room_for_leftovers() -> None:
    names = {path.name for path in (ROOT / "src").rglob("*.py")}
    assert names.isdisjoint({"utils.py", "util.py", "helpers.py", "common.py", "misc.py"})


def test_changelog_fragments_have_a_known_kind() -> None:
    kinds = "|".join(kind["directory"] for kind in PROJECT["tool"]["towncrier"]["type"])
    names = [path.name for path in (ROOT / "changelog.d").iterdir() if path.name != "README.md"]
    assert [name for name in names if not re.fullmatch(rf"(?:\d+|\+[\w-]+)\.(?:{kinds})(?:\.\d+)?\.md", name)] == []


def test_base_dependencies_stay_light() -> None:
    names = {re.split(r"[<>=!~\[ ]", line)[0] for line in PROJECT["project"]["dependencies"]}
    assert names == {"click", "numpy", "pydantic", "rich"}


def test_what_ci_installs_has_no_cluster_library() -> None:
    extras = PROJECT["project"]["optional-dependencies"]

    def requirements(extra: str) -> list[str]:
        found = []
        for line in extras[extra]:
            inner = re.fullmatch(r"mansard\[(.+)\]", line)
            found += [line] if inner is None else [more for name in inner[1].split(",") for more in requirements(name)]
        return found

    assert not [line for extra in ("dev", "test", "docs") for line in requirements(extra) if line.startswith("ray")]


def test_readme_has_exactly_two_commands_for_a_fresh_machine() -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert re.findall(r"<!-- command: (\w+) -->\n```sh\npython3 -m venv [^\n]+\n```", readme) == ["main", "test"]
