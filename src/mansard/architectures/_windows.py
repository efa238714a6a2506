"""Which layers see a window only, by the rules that several families share."""

from collections.abc import Callable

from mansard.architectures._reading import nullable_size, quiet_flag
from mansard.inputs.keys import MOST_LAYERS, Keys
from mansard.inputs.mixers import Attention


def windowed_layers(keys: Keys, layers: int, *, otherwise: Callable[[int], bool]) -> tuple[bool, ...]:
    """Which layers see a window only: from `layer_types`, else by the rule of the class."""
    if not keys.has("layer_types"):
        return tuple(otherwise(index) for index in range(layers))
    kinds = keys.texts("layer_types", length=layers, choices=("full_attention", "sliding_attention"))
    return tuple(kind == "sliding_attention" for kind in kinds)


def late_windows(keys: Keys, mixer: Attention, layers: int, *, first: int = 28) -> list[Attention]:
    """The mixer of each layer where `use_sliding_window` puts a window on those from `max_window_layers` on.

    first: the default of the class for that key.
    """
    if not quiet_flag(keys, "use_sliding_window", default=False):
        return [mixer] * layers
    windowed = mixer._replace(window=nullable_size(keys, "sliding_window", default=4096))
    first = keys.size("max_window_layers", default=first, minimum=0)
    kinds = windowed_layers(keys, layers, otherwise=lambda index: index >= first)
    _require_window(keys, windowed, kinds)
    return [windowed if kind else mixer for kind in kinds]


def patterned_windows(
    keys: Keys, mixer: Attention, layers: int, *, window: int, period: int, stated: bool = True
) -> list[Attention]:
    """The mixer of each layer where all but every `period`-th see a window only, unless `layer_types` lists them.

    stated: the class takes the period from `sliding_window_pattern` where a config has it.
    """
    windowed = mixer._replace(window=nullable_size(keys, "sliding_window", default=window))
    if stated and keys.has("sliding_window_pattern") and not keys.has("layer_types"):
        period = keys.size("sliding_window_pattern", maximum=MOST_LAYERS)
    kinds = windowed_layers(keys, layers, otherwise=lambda index: (index + 1) % period != 0)
    _require_window(keys, windowed, kinds)
    return [windowed if kind else mixer for kind in kinds]


def _require_window(keys: Keys, windowed: Attention, kinds: tuple[bool, ...]) -> None:
    """A fault where `layer_types` lists windowed layers, and there is no window for them."""
    missing = keys.has("layer_types") and any(kinds) and windowed.window is None
    keys.require(not missing, "sliding_window", "is needed for the sliding_attention layers that layer_types lists")
