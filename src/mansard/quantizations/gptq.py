"""GPTQ: integers of 2, 3, 4 or 8 bits in groups of inputs, each group with a 16-bit scale and a zero point.

With `desc_act` the inputs are ordered by their activations, and 32 bits for each say which group it belongs to. Zero
points of symmetric weights are written too; they carry nothing and are not counted. `dynamic` gives modules that an
expression names widths of their own ("+:" or nothing before it) or leaves them alone ("-:"), the first that matches
deciding. `modules_in_block_to_quantize` names the only modules that are quantised. The head is, if `lm_head` says so.

Sources: arXiv:2210.17323; the GPTQConfig of Hugging Face transformers; GPTQModel's `dynamic`.
"""

from collections.abc import Iterator

from mansard.inputs.keys import Keys
from mansard.inputs.rules import Rule
from mansard.inputs.storage import WIDE, Scheme
from mansard.precision import WeightFormat
from mansard.quantizations._reading import bits_of, group_of, integers, left_alone, module_list, overlaid

METHODS = ("gptq",)


def read(keys: Keys) -> Scheme:
    """A GPTQ configuration."""
    default = _format(keys)
    only = _only(keys)
    rules = (*_dynamic(keys), *left_alone(module_list(keys, "modules_to_not_convert")))
    has_head = keys.flag("lm_head", default=False) if keys.has("lm_head") else False
    return Scheme(
        method="gptq",
        default=None if only else default,
        rules=(*rules, *(Rule(name, default) for name in only)),
        wide=WIDE - {"head"} if has_head else WIDE,
        key="quantization_config.dynamic" if keys.has("dynamic") else "quantization_config",
    )


def _format(keys: Keys) -> WeightFormat:
    bits, group = bits_of(keys, "bits", allowed=(2, 3, 4, 8)), group_of(keys, "group_size")
    ordered = keys.flag("desc_act") if keys.has("desc_act") else False
    symmetric = keys.flag("sym", default=True)
    stored = integers(bits, group, zero_bits=0 if symmetric else bits, row_bits=32 if ordered else 0)
    return stored._replace(name=f"{stored.name}-act-order") if ordered else stored


def _dynamic(keys: Keys) -> Iterator[Rule]:
    changes = keys.nested("dynamic")
    for pattern, own in changes.document.items():
        if pattern.startswith("-:"):
            yield Rule(pattern[2:], None, "expression")
        else:
            yield Rule(pattern.removeprefix("+:"), _format(overlaid(keys, own, "dynamic")), "expression")


def _only(keys: Keys) -> tuple[str, ...]:
    """The modules that alone are quantised: names, or lists of names."""
    listed = keys.raw("modules_in_block_to_quantize") or ()
    flat = (
        [name for one in listed for name in (one if isinstance(one, list) else [one])]
        if isinstance(listed, list)
        else []
    )
    if listed and (not flat or not all(isinstance(name, str) and name for name in flat)):
        keys.fault("modules_in_block_to_quantize", "must be a list of module names, or of such lists", listed)
        return ()
    return tuple(flat)
