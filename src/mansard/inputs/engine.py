"""An engine's profile from the catalogue: what it fuses, allocates and reserves."""

import tomllib
from functools import lru_cache

from mansard.errors import UsageError, did_you_mean
from mansard.inputs.folders import catalogue_files, exact_file, stem
from mansard.inputs.scenario import Engine


def engine_names() -> tuple[str, ...]:
    """The names of the engines in the catalogue."""
    return tuple(sorted({stem(path) for path in catalogue_files("engines")}))


@lru_cache(maxsize=64)
def load_engine(name: str) -> Engine:
    """The profile of an engine.

    Raises:
        UsageError: if there is none of that name, with near matches.
    """
    place = exact_file("engines", name)
    if place is None:
        names = engine_names()
        hint = did_you_mean(name, names) or f"one of {', '.join(names)}"
        raise UsageError(f"no engine is called {name[:60]!r}", hint=hint)
    with open(place, encoding="utf-8") as file:
        return Engine(**tomllib.loads(file.read()))
