"""The levels of UNets and autoencoders, few enough that no configuration can cost time or memory."""

from collections.abc import Sequence

from mansard.inputs.keys import Keys

MOST_LEVELS = 12  # each halves the sides: more than any image has
MOST_BLOCKS = 100  # of one level


def level_widths(keys: Keys, name: str, default: Sequence[int]) -> tuple[int, ...]:
    """Channels of every level.

    Raises:
        InputError: at once if there are none or too many, since all that follows has one element for each.
    """
    widths = keys.sizes(name, default=default)
    if not 1 <= len(widths) <= MOST_LEVELS:
        keys.refuse(name, f"must have 1 to {MOST_LEVELS} elements, one for each level", list(widths)[:MOST_LEVELS])
    return widths
