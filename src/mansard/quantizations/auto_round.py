"""AutoRound: integers packed as GPTQ or AWQ pack them, with widths of their own for modules in `extra_config`.

A module of 16 bits is left in the model's dtype. Other data types than integers (MX, NV and fp8 floats) are refused:
their packing is not said by these keys.

Source: arXiv:2309.05516; the AutoRoundConfig of Hugging Face transformers.
"""

import re
from collections.abc import Iterator

from mansard.inputs.keys import Keys
from mansard.inputs.rules import Rule
from mansard.inputs.storage import LEAVE_OUT, WIDE, Scheme
from mansard.precision import WeightFormat
from mansard.quantizations._reading import bits_of, group_of, integers, overlaid

METHODS = ("auto-round", "intel/auto-round")
_NAME = re.compile(r"[\w.-]+")


def read(keys: Keys) -> Scheme:
    """An AutoRound configuration."""
    has_head = keys.flag("quant_lm_head") if keys.has("quant_lm_head") else False
    return Scheme(
        method="auto-round",
        default=_format(keys),
        rules=tuple(_extra(keys)),
        wide=WIDE - {"head"} if has_head else WIDE,
        key="quantization_config.extra_config",
    )


def _format(keys: Keys) -> WeightFormat | None:
    kind = keys.raw("data_type") or "int"
    if kind not in ("int", "float"):
        keys.fault("data_type", "is none whose packing is known", kind, LEAVE_OUT)
        return None
    bits = bits_of(keys, "bits", allowed=(2, 3, 4, 8, 16))
    if bits == 16:
        return None
    keys.require(kind == "int", "data_type", "must be int for fewer than 16 bits", kind)
    group, symmetric = group_of(keys, "group_size"), keys.flag("sym", default=True)
    return integers(bits, group, zero_bits=0 if symmetric else bits)


def _extra(keys: Keys) -> Iterator[Rule]:
    for pattern, own in keys.nested("extra_config").document.items():
        kind = "exact" if _NAME.fullmatch(pattern) else "expression"
        yield Rule(pattern, _format(overlaid(keys, own, "extra_config")), kind)  # type: ignore[arg-type]
