"""What an answer is about: a device or a model, whichever bears the name, and how it is called."""

import os

from mansard.answers._names import names_of
from mansard.errors import UnavailableError, UsageError, did_you_mean
from mansard.inputs.device import Device, DeviceLike
from mansard.inputs.folders import spelled
from mansard.inputs.model import ModelConfig, ModelLike


def subject_of(name: DeviceLike | ModelLike, *, online: bool = False) -> Device | ModelConfig:
    """The device or the model that a name, a file or numbers stand for; one that is loaded already as it is.

    Raises:
        UsageError: if it is neither, with the near matches of both.
        InputError: if it is one of them, and bad.
    """
    from mansard.inputs.device_file import load_device
    from mansard.loading import load_model

    if isinstance(name, (Device, ModelConfig)):
        return name
    text = spelled(name, "device or model")
    if text.endswith(".toml") or text.startswith(("peak=", "bandwidth=", "memory=")):
        return load_device(text)
    if text.startswith("params=") or text == "-" or _is_path(text) or text in names_of("models"):
        return load_model(text, online=online)
    try:
        return load_device(text)
    except UsageError:
        pass
    try:
        return load_model(text, online=online)
    except (UsageError, UnavailableError) as neither:
        names = (*names_of("devices"), *names_of("models"))
        hint = did_you_mean(text, names) or "mansard list devices and mansard list models name them"
        raise UsageError(f"neither a device nor a model is called {text[:60]!r}", hint=hint) from neither


def called(subject: DeviceLike | ModelLike) -> str:
    """The words that it was asked for with, or its name."""
    return subject.name if isinstance(subject, (Device, ModelConfig)) else str(subject)


def _is_path(text: str) -> bool:
    """Whether it can only be a model's: a file or a folder that is there, or a .json that should be."""
    try:
        return text.endswith((".json", "/")) or os.path.exists(text)
    except (OSError, ValueError):  # too long, or no path at all
        return False
