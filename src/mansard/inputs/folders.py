"""Where catalogue files lie beside the package's own, and how their heads are searched without reading them whole."""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any


def private_folders(kind: str) -> tuple[Path, ...]:
    """Private catalogue folders for "devices" or "models": those of MANSARD_PATH, then the user's data folder."""
    named = [Path(part) for part in os.environ.get("MANSARD_PATH", "").split(os.pathsep) if part]
    data = Path(os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share") / "mansard"
    return tuple(folder / kind for folder in (*named, data) if (folder / kind).is_dir())


def flat(name: str) -> str:
    """A name without case, spaces, dashes and underscores. Dots stay: opt-1.3b is not opt-13b."""
    return re.sub(r"[\s_\-]+", "", name.lower())


def heads(paths: Iterable[Path]) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The keys that stand before the first table of each file: names and aliases, at a tenth of the cost of the whole."""
    for path in paths:
        try:
            text = path.read_text(encoding="utf-8")
            yield path, tomllib.loads(re.split(r"^\[", text, maxsplit=1, flags=re.MULTILINE)[0])
        except (OSError, ValueError):
            continue  # a private file that cannot be read: asked for by name it says why
