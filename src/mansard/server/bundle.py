"""The script that draws charts in the page: vl-convert's own bundle of Vega, made once and kept in the user's cache."""

import os
import tempfile
from importlib.metadata import version
from pathlib import Path

from mansard.errors import UnavailableError

_VEGA_LITE = "6.4"


def vega_bundle() -> bytes:
    """vega-embed, Vega-Lite and Vega as one script.

    Raises:
        UnavailableError: if the extra `charts` is not installed.
    """
    try:
        import vl_convert
    except ImportError as missing:
        raise UnavailableError("charts need the extra charts", hint="pip install 'mansard[web]'") from missing
    made_by = version("vl-convert-python")
    place = _cache() / f"vega-{made_by}-{_VEGA_LITE}.js"
    try:
        return place.read_bytes()
    except OSError:
        pass
    made = str(vl_convert.javascript_bundle(vl_version=_VEGA_LITE)).encode()  # type: ignore[call-arg]  # has a default
    _keep(place, made)
    return made


def _cache() -> Path:
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "mansard"


def _keep(place: Path, made: bytes) -> None:
    """Into the cache in one step; a cache that cannot be written only costs the second that it takes to make it."""
    try:
        place.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(dir=place.parent, delete=False) as file:
            file.write(made)
        Path(file.name).replace(place)
    except OSError:
        return
