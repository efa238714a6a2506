"""AMD's Quark: one scheme for all linear layers, others for modules that patterns name, and modules left alone.

`global_quant_config` says how weights and inputs are quantised, `layer_quant_config` the same for patterns with
wildcards, `exclude` what is not. Scales are fp32 where one serves a matrix or an output, the model's 16 bits for
groups, and 8-bit exponents where `scale_format` is e8m0 (MXFP4).

Source: the exported configurations of AMD Quark; vLLM's QuarkConfig.
"""

from collections.abc import Iterator

from mansard.inputs.keys import Keys
from mansard.inputs.rules import Rule
from mansard.inputs.storage import LEAVE_OUT, WIDE, Scheme
from mansard.precision import WEIGHT_FORMATS, WeightFormat
from mansard.quantizations._reading import left_alone, module_list, rule

METHODS = ("quark",)
_WIDTHS = {
    "fp8_e4m3": (8, "fp8"), "fp8_e5m2": (8, "fp8"), "int8": (8, "int8"), "uint8": (8, "int8"), "int4": (4, "int4"),
    "uint4": (4, "int4"), "fp4": (4, "fp4"),
}  # fmt: skip


def read(keys: Keys) -> Scheme:
    """A Quark configuration."""
    default = _format(keys.nested("global_quant_config"))
    by_type = keys.raw("layer_type_quant_config")
    keys.require(
        not by_type, "layer_type_quant_config", "names classes, which is not supported yet", by_type, LEAVE_OUT
    )
    return Scheme(
        method="quark",
        default=default,
        rules=(*left_alone(module_list(keys, "exclude")), *_modules(keys)),
        wide=WIDE - {"head"},
        cache=_cache(keys),
        key="quantization_config.exclude",
    )


def _modules(keys: Keys) -> Iterator[Rule]:
    layers = keys.nested("layer_quant_config")
    return (rule(pattern, _format(layers.nested(pattern))) for pattern in layers.document)


def _format(scheme: Keys) -> WeightFormat | None:
    if isinstance(scheme.document.get("weight"), list):
        scheme.fault("weight", "has several stages, which are not supported yet", scheme.document["weight"], LEAVE_OUT)
        return None
    if not scheme.has("weight"):
        return None
    weight = scheme.nested("weight")
    bits, dtype = _WIDTHS[weight.text("dtype", choices=tuple(_WIDTHS))]
    layout = weight.text("qscheme", choices=("per_tensor", "per_channel", "per_group"))
    group = weight.size("group_size", default=128) if layout == "per_group" else None
    inputs = scheme.nested("input_tensors") if scheme.has("input_tensors") else None
    if dtype == "fp4":
        weight.require(layout == "per_group", "qscheme", "must be per_group for fp4", layout)
        weight.require(
            weight.raw("scale_format") == "e8m0", "scale_format", "must be e8m0 for fp4", weight.raw("scale_format")
        )
        stored = WEIGHT_FORMATS["mxfp4"]._replace(group_size=group)
    else:
        zero_bits = bits if weight.raw("symmetric") is False else 0
        scale_bits = 16 if group else 32
        stored = WeightFormat(
            name=f"{dtype if bits == 8 else 'int4'}-" + (f"g{group}" if group else layout.removeprefix("per_")),
            bits=bits,
            dtype=dtype,
            group_size=group,
            per_column_scale=layout == "per_channel",
            scale_bits=0 if layout == "per_tensor" else scale_bits,
            zero_bits=0 if layout == "per_tensor" else zero_bits,
            tensor_bits=scale_bits + zero_bits if layout == "per_tensor" else 0,
        )
    return stored._replace(weight_only=True) if inputs is None else _with_inputs(inputs, stored)


def _with_inputs(inputs: Keys, stored: WeightFormat) -> WeightFormat:
    """The format with the dtype of its products; static inputs of whole tensors have an fp32 scale."""
    _, dtype = _WIDTHS[inputs.text("dtype", choices=tuple(_WIDTHS))]
    static = inputs.raw("is_dynamic") is False and inputs.raw("qscheme") == "per_tensor"
    return stored._replace(dtype=dtype, weight_only=False, tensor_bits=stored.tensor_bits + (32 if static else 0))


def _cache(keys: Keys) -> str | None:
    """fp8 where the outputs of the key and value projections are quantised for the cache."""
    for pattern in keys.nested("kv_cache_quant_config").document:
        outputs = keys.nested("kv_cache_quant_config").nested(pattern).nested("output_tensors")
        if outputs.has("dtype"):
            _, dtype = _WIDTHS[outputs.text("dtype", choices=tuple(_WIDTHS))]
            return dtype if dtype in ("fp8", "int8") else None
    return None
