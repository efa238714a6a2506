"""The names of what the catalogue holds, by kind."""

from mansard.errors import UsageError, did_you_mean

KINDS = ("models", "devices", "engines", "formats", "operators", "charts")
ORDERS = ("name", "ridge", "bandwidth", "peak")  # in which devices can be listed


def names_of(kind: str) -> tuple[str, ...]:
    """All names of a kind."""
    if kind == "models":
        from mansard.loading import model_names

        return tuple(model_names())
    if kind == "devices":
        from mansard.inputs.device_file import device_names

        return tuple(device_names())
    if kind == "engines":
        from mansard.inputs.engine import engine_names

        return engine_names()
    if kind == "formats":
        from mansard.precision import WEIGHT_FORMATS

        return tuple(WEIGHT_FORMATS)
    if kind == "charts":
        from mansard.registry import names

        return names("mansard.views.charts")
    from mansard.single import operator_names

    return tuple(operator_names())


def unknown(text: str, what: str, choices: tuple[str, ...]) -> UsageError:
    """The error for a name that nothing bears."""
    hint = did_you_mean(text, choices) or f"one of {', '.join(choices[:12])}{' …' if len(choices) > 12 else ''}"
    return UsageError(f"no {what} is called {text[:60]!r}", hint=hint)
