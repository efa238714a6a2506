"""Where catalogue files lie beside the package's own, and how their heads are searched without reading them whole.

Paths are strings here: importing pathlib would cost a twentieth of the time in which a command answers.
"""

import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from typing import Any

from mansard.errors import UsageError

_CATALOGUE = os.path.join(os.path.dirname(os.path.dirname(__file__)), "catalogue")
_LARGEST_FILE = 1 << 20
_LONGEST_NAME = 200  # file systems refuse longer ones with an error of their own


def folders(kind: str) -> tuple[str, ...]:
    """Folders of "devices" or "models": those of MANSARD_PATH, then the user's data folder, then the package's own."""
    named = [part for part in os.environ.get("MANSARD_PATH", "").split(os.pathsep) if part]
    home = os.environ.get("XDG_DATA_HOME") or os.path.join(os.path.expanduser("~"), ".local", "share")
    private = (os.path.join(folder, kind) for folder in (*named, os.path.join(home, "mansard")))
    return (*(folder for folder in private if os.path.isdir(folder)), os.path.join(_CATALOGUE, kind))


def catalogue_files(kind: str) -> Iterator[str]:
    """Every TOML file of a kind, private ones first, by name within a folder."""
    for folder in folders(kind):
        places = (os.path.join(folder, name) for name in sorted(os.listdir(folder)) if name.endswith(".toml"))
        yield from (place for place in places if os.path.isfile(place))


def exact_file(kind: str, name: str) -> str | None:
    """The file of exactly that name, or None."""
    if len(name) > _LONGEST_NAME or "/" in name or os.sep in name or "\0" in name:
        return None
    places = (os.path.join(folder, f"{name}.toml") for folder in folders(kind))
    return next((place for place in places if os.path.isfile(place)), None)


def small_text(path: str) -> str:
    """The text of a catalogue file.

    Raises:
        OSError: if it cannot be read, or is larger than one can be.
    """
    if os.path.getsize(path) > _LARGEST_FILE:
        raise OSError("is larger than a catalogue file can be (1 MiB)")
    with open(path, encoding="utf-8") as file:
        return file.read()


def words_of(value: object) -> list[str]:
    """The strings of a list; none of anything else: a private file that is bad says so when it is asked for."""
    return [word for word in value if isinstance(word, str)] if isinstance(value, list) else []


def spelled(name: object, what: str) -> str:
    """A name or a path as a string.

    Raises:
        UsageError: if it is neither.
    """
    if isinstance(name, (str, os.PathLike)) and isinstance(text := os.fspath(name), str):
        return text
    raise UsageError(f"a {what} is named by a string or a path, not by a {type(name).__name__}")


def stem(path: str) -> str:
    """The name of a file without its folder and its ending."""
    return os.path.splitext(os.path.basename(path))[0]


def flat(name: str) -> str:
    """A name without case, spaces, dashes and underscores. Dots stay: opt-1.3b is not opt-13b."""
    return re.sub(r"[\s_\-]+", "", name.lower())


def heads(paths: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The keys before the first table of each file: names and aliases, at a tenth of the cost of the whole."""
    for path in paths:
        try:
            text = small_text(path)
            yield path, tomllib.loads(re.split(r"^\[", text, maxsplit=1, flags=re.MULTILINE)[0])
        except (OSError, ValueError, RecursionError):
            continue  # a private file that cannot be read: asked for by name it says why
