"""Importing the package and starting its command stay cheap: what they may load is listed here."""

import subprocess
import sys

import pytest

HEAVY = ("numpy", "pydantic", "rich", "scipy", "torch", "pandas", "fastapi", "vl_convert", "huggingface_hub", "asyncio")


def _loaded(code: str) -> set[str]:
    script = f"{code}\nimport sys; print('\\n'.join(sorted(sys.modules)))"
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    return {line.partition(".")[0] for line in run.stdout.splitlines()}


@pytest.mark.parametrize(
    "code",
    [
        "import mansard",
        "import mansard.algebra",
        "from mansard.cli import main\ntry: main(['--version'])\nexcept SystemExit: pass",
        "import sys, mansard; sys.stdout.write(str(mansard.attainable(1e14, 1e12, 1)))",
    ],
    ids=["import", "algebra", "version", "scalar"],
)
def test_nothing_heavy_is_loaded(code: str) -> None:
    assert _loaded(code).isdisjoint(HEAVY)


def test_import_alone_needs_no_command_line() -> None:
    assert "click" not in _loaded("import mansard")


def test_a_piped_answer_loads_neither_numpy_nor_rich() -> None:
    words = ["analyze", "llama-3.1-8b", "--on", "h100-sxm"]
    code = f"from mansard.cli import main\ntry: main({words})\nexcept SystemExit: pass"
    assert _loaded(code).isdisjoint({"numpy", "rich", "pydantic"})
