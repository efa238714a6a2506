"""A model's config.json on the hub: from the local cache, or, only when asked, over the network."""

import os
from contextlib import suppress
from pathlib import Path

from mansard.errors import UnavailableError

_LONGEST_ID = 200  # characters


def cached_config(hub_id: str) -> Path | None:
    """The config.json of a model in the local hub cache, or None. Honours HF_HUB_CACHE and HF_HOME."""
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    cache = Path(os.environ.get("HF_HUB_CACHE") or home / "hub")
    if len(hub_id) > _LONGEST_ID:
        return None
    folder = cache / f"models--{hub_id.replace('/', '--')}"
    reference = folder / "refs" / "main"
    snapshots = folder / "snapshots"
    revisions = [_revision(reference)] if reference.is_file() else []
    if snapshots.is_dir():
        revisions += sorted(entry.name for entry in snapshots.iterdir())
    found = (snapshots / revision / "config.json" for revision in revisions if revision and "/" not in revision)
    return next((place for place in found if place.is_file()), None)


def _revision(reference: Path) -> str:
    """The commit that a reference names, which is all that such a file holds."""
    with reference.open("rb") as file:
        return file.read(_LONGEST_ID).decode("utf-8", "replace").strip()


def downloaded_config(hub_id: str) -> Path:
    """The config.json of a model, fetched from the hub through huggingface_hub.

    Raises:
        UnavailableError: if the library is not installed, the network is not to be used, or the hub refuses.
    """
    if os.environ.get("HF_HUB_OFFLINE") == "1":
        raise UnavailableError("HF_HUB_OFFLINE=1 forbids looking up models", hint="give its config.json as a path")
    try:
        from huggingface_hub import hf_hub_download  # type: ignore[import-not-found, unused-ignore]
    except ImportError as error:
        raise UnavailableError("looking up models needs huggingface_hub", hint="pip install 'mansard[hub]'") from error
    try:
        found = Path(hf_hub_download(hub_id, "config.json"))
        with suppress(Exception):  # most models have none
            hf_hub_download(hub_id, "hf_quant_config.json")
        return found
    except Exception as error:  # its errors are many, from refused connections to gated models
        hint = "gated models need HF_TOKEN; or give its config.json as a path"
        raise UnavailableError(f"{hub_id} could not be fetched: {type(error).__name__}", hint=hint) from error
