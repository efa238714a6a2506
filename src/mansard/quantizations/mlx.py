"""MLX: linear layers and the embedding in groups of inputs, each with a 16-bit scale and a 16-bit bias.

The keys stand under `quantization`, with no method named: `bits` and `group_size` for all, and for a module's own name
an object with its own, or false, which leaves it wide. `mode` may be one of the formats of short floats. What is tied
to the embedding has its format; routers are quantised where they are linear layers, which one with a correction is not.

Source: `mlx.nn.quantize` and what mlx-lm writes.
"""

from collections.abc import Iterator

from mansard.inputs.keys import Keys
from mansard.inputs.rules import Rule
from mansard.inputs.storage import Scheme
from mansard.precision import WEIGHT_FORMATS, WeightFormat
from mansard.quantizations._reading import bits_of, overlaid, rule

METHODS = ("mlx",)
_FLOATS = {"mxfp4": ("mxfp4", 32), "nvfp4": ("nvfp4", 16)}
_OWN_KEYS = frozenset({"bits", "group_size", "mode", "quant_method"})


def read(keys: Keys) -> Scheme:
    """An MLX configuration."""
    rules = tuple(_modules(keys))
    return Scheme("mlx", _format(keys), rules, wide=frozenset(), key="quantization")


def _format(keys: Keys) -> WeightFormat:
    mode = keys.text("mode", choices=("affine", "mxfp8", *_FLOATS)) if keys.has("mode") else "affine"
    if mode in _FLOATS:
        name, group = _FLOATS[mode]
        keys.require(keys.raw("group_size") in (None, group), "group_size", f"must be {group} for {mode}")
        return WEIGHT_FORMATS[name]._replace(weight_only=True)
    if mode == "mxfp8":
        return WeightFormat(name="mxfp8", bits=8, dtype="fp8", group_size=32, scale_bits=8, weight_only=True)
    bits, group = bits_of(keys, "bits", allowed=(2, 3, 4, 5, 6, 8)), keys.size("group_size", default=64)
    return WeightFormat(
        name=f"mlx{bits}-g{group}",
        bits=bits,
        dtype="int8" if bits > 4 else "int4",
        group_size=group,
        scale_bits=16,
        zero_bits=16,
        weight_only=True,
    )


def _modules(keys: Keys) -> Iterator[Rule]:
    for name, own in keys.document.items():
        if name in _OWN_KEYS or not isinstance(own, (dict, bool)):
            continue
        # All experts of a layer are one module.
        pattern = name.replace(".switch_mlp.", ".experts.*.")
        yield rule(pattern, None if own is False else _format(keys if own is True else overlaid(keys, own, name)))
