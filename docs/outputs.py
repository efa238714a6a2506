"""The commands that README and the docs show, with what they print: read, run, compared, rewritten.

A block is written like this, and its comment says how it is run:

    <!-- output: analyze -->
    ```console
    $ mansard analyze llama-3.1-8b --on h100-sxm
    …what it prints…
    ```

The comment's first word names the block. `exit=1` after it is the exit status to expect (0 where it is absent);
`head=12` keeps the first 12 lines and says how many were left out. Standard error is shown after standard output.
Commands run in a copy of `docs/examples/`, 100 columns wide, without colours.

`python docs/outputs.py` lists the blocks that are out of date; with `--write` it rewrites them, to be read before they
are committed. A test does the first.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BLOCK = re.compile(
    r"(<!-- output: (?P<options>[^>]+?) -->\n+```console\n)(?P<body>.*?)(?P<end>^```$)", re.MULTILINE | re.DOTALL
)
CONSOLE = re.compile(r"^```console$", re.MULTILINE)
TIMEOUT_S = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Block:
    """One shown session: the page, the block's name, its commands, and how they are run."""

    page: Path
    name: str
    commands: tuple[str, ...]
    exit_status: int
    head: int | None
    body: str

    @property
    def title(self) -> str:
        return f"{self.page.relative_to(ROOT)}:{self.name}"


def pages() -> list[Path]:
    """README and every page of the docs."""
    return [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]


def blocks(page: Path) -> Iterator[Block]:
    """The shown sessions of a page.

    Raises:
        ValueError: if a console block has no comment that names it.
    """
    text = page.read_text(encoding="utf-8")
    found = list(BLOCK.finditer(text))
    if len(found) != len(CONSOLE.findall(text)):
        raise ValueError(f"{page}: each console block needs a comment '<!-- output: name -->' before it")
    for match in found:
        name, *rest = match["options"].split()
        options = dict(word.split("=") for word in rest)
        commands = tuple(line[2:] for line in match["body"].splitlines() if line.startswith("$ "))
        yield Block(
            page=page,
            name=name,
            commands=commands,
            exit_status=int(options.get("exit", 0)),
            head=int(options["head"]) if "head" in options else None,
            body=match["body"],
        )


def run(block: Block) -> str:
    """The block's body as it is now.

    Raises:
        RuntimeError: if a command ends with another status than the block expects.
    """
    shown: list[str] = []
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "examples")
        shutil.copytree(ROOT / "docs" / "examples", place)
        for command in block.commands:
            lines = _printed(command, place, block).rstrip("\n").splitlines()
            if block.head is not None and len(lines) > block.head:
                left_out = len(lines) - block.head
                lines = [*lines[: block.head], f"… {left_out} more line{'s' if left_out > 1 else ''}"]
            shown += [f"$ {command}", *(line.rstrip() for line in lines)]
    return "\n".join(shown) + "\n"


def _printed(command: str, place: Path, block: Block) -> str:
    here = str(Path(sys.executable).parent)
    inherited = {name: os.environ[name] for name in ("HOME", "LANG", "SYSTEMROOT") if name in os.environ}
    environment = inherited | {
        "PATH": os.pathsep.join([here, os.environ.get("PATH", "")]),
        "COLUMNS": "100",
        "NO_COLOR": "1",
        "PYTHONUTF8": "1",
        "HF_HUB_OFFLINE": "1",
    }
    ran = subprocess.run(
        command, shell=True, cwd=place, env=environment, capture_output=True, text=True, check=False, timeout=TIMEOUT_S
    )
    if ran.returncode != block.exit_status:
        raise RuntimeError(f"{block.title}: `{command}` ended with {ran.returncode}\n{ran.stdout}{ran.stderr}")
    return ran.stdout + ran.stderr


def rewrite(page: Path) -> bool:
    """Runs a page's sessions and writes what they print into it; True if the page changed."""
    current = {block.name: run(block) for block in blocks(page)}
    text = page.read_text(encoding="utf-8")
    renewed = BLOCK.sub(lambda match: match[1] + current[match["options"].split()[0]] + match["end"], text)
    page.write_text(renewed, encoding="utf-8")
    return renewed != text


def main() -> int:
    """Lists the blocks that are out of date, or with `--write` rewrites them."""
    if "--write" in sys.argv[1:]:
        for page in pages():
            if rewrite(page):
                print(f"rewritten: {page.relative_to(ROOT)}")
        return 0
    stale = [block.title for page in pages() for block in blocks(page) if run(block) != block.body]
    print("\n".join(f"out of date: {title}" for title in stale) or "every block is as the program prints it")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main())
