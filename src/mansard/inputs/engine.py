"""An engine's profile from the catalogue: what it fuses, allocates and reserves."""

import tomllib
from functools import lru_cache
from pathlib import Path

from mansard.errors import UsageError, did_you_mean
from mansard.inputs.scenario import Engine

_FOLDER = Path(__file__).parent.parent / "catalogue" / "engines"


def engine_names() -> tuple[str, ...]:
    """The names of the engines in the catalogue."""
    return tuple(sorted(path.stem for path in _FOLDER.glob("*.toml")))


@lru_cache(maxsize=64)
def load_engine(name: str) -> Engine:
    """The profile of an engine.

    Raises:
        UsageError: if there is none of that name, with near matches.
    """
    names = engine_names()
    if name not in names:
        hint = did_you_mean(name, names) or f"one of {', '.join(names)}"
        raise UsageError(f"no engine is called {name[:60]!r}", hint=hint)
    return Engine(**tomllib.loads((_FOLDER / f"{name}.toml").read_text(encoding="utf-8")))
