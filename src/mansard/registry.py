"""Finds what lies in a folder-of-one-thing, then what other packages add through an entry point of the same name."""

import os
from collections.abc import Iterator
from functools import lru_cache
from importlib import import_module
from types import ModuleType


@lru_cache(maxsize=32)
def names(package: str) -> tuple[str, ...]:
    """The modules of a package's folder, by name; those that begin with an underscore are the folder's own affair."""
    # os.path, not pathlib, which alone would cost a twentieth of the time to an answer.
    folder = os.path.join(os.path.dirname(__file__), *package.split(".")[1:])
    return tuple(sorted(name[:-3] for name in os.listdir(folder) if name.endswith(".py") and name[0] != "_"))


def module(package: str, name: str) -> ModuleType:
    """One module of the folder, imported on first use."""
    return import_module(f"{package}.{name}")


def modules(package: str) -> Iterator[ModuleType]:
    """Every module of the folder, then those of entry points in the group of the same name."""
    for name in names(package):
        yield module(package, name)
    yield from plugins(package)


@lru_cache(maxsize=32)
def plugins(group: str) -> tuple[ModuleType, ...]:
    """Modules that other packages add to a folder, loaded through entry points whose group is the package's name."""
    from importlib.metadata import entry_points  # slow to import; only a full look asks for it

    return tuple(entry.load() for entry in entry_points(group=group))
