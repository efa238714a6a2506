"""torchao: weights alone in 4 or 8 bits, or with the activations in 8, by the name of its configuration class.

int4 has groups with a 16-bit scale and zero point, int8 a 16-bit scale for each output, fp8 an fp32 scale for a matrix
or for each output (`granularity`). `ModuleFqnToConfig` gives modules configurations of their own, `_default` all
others.
Embeddings that are quantised too are refused.

Source: the quantisation API of pytorch/ao; the TorchAoConfig of Hugging Face transformers.
"""

from collections.abc import Iterator

from mansard.inputs.keys import Keys
from mansard.inputs.rules import Rule
from mansard.inputs.storage import LEAVE_OUT, Scheme
from mansard.precision import WEIGHT_FORMATS, WeightFormat
from mansard.quantizations._reading import integers, left_alone, module_list, rule
from mansard.quantizations.fbgemm_fp8 import ROWS

METHODS = ("torchao",)
_BY_MODULE = ("ModuleFqnToConfig", "FqnToConfig")
_SHORT = {
    "int4_weight_only": "Int4WeightOnlyConfig",
    "int8_weight_only": "Int8WeightOnlyConfig",
    "int8_dynamic_activation_int8_weight": "Int8DynamicActivationInt8WeightConfig",
    "float8_weight_only": "Float8WeightOnlyConfig",
    "float8_dynamic_activation_float8_weight": "Float8DynamicActivationFloat8WeightConfig",
}


def read(keys: Keys) -> Scheme:
    """A torchao configuration."""
    both = keys.raw("include_input_output_embeddings")
    keys.require(
        not both, "include_input_output_embeddings", "quantises embeddings, which is not supported yet", both, LEAVE_OUT
    )
    skipped = left_alone(module_list(keys, "modules_to_not_convert"))
    kind, data = _class(keys, "quant_type")
    key = "quantization_config.quant_type"
    if kind not in _BY_MODULE:
        return Scheme("torchao", _format(kind, data), skipped, key=key)
    modules = data.nested("fqn_to_config" if data.has("fqn_to_config") else "module_fqn_to_config")
    rules = dict(_modules(modules))
    default = rules.pop("_default", None)
    return Scheme("torchao", default.format if default else None, (*skipped, *rules.values()), key=key)


def _modules(modules: Keys) -> Iterator[tuple[str, Rule]]:
    for name in modules.document:
        stored = _format(*_class(modules, name)) if modules.has(name) else None
        yield name, rule(name, stored, "exact")


def _class(keys: Keys, name: str) -> tuple[str, Keys]:
    """The name of a configuration class and its data; the oldest spelling is a word, with its arguments beside it."""
    value = keys.raw(name)
    if isinstance(value, str):
        return _SHORT.get(value, value), keys.nested("quant_type_kwargs")
    inner = keys.nested(name)
    inner = inner.nested("default") if inner.has("default") else inner
    return inner.text("_type"), inner.nested("_data")


def _format(kind: str, data: Keys) -> WeightFormat | None:
    match kind:
        case "Int4WeightOnlyConfig":
            group = data.size("group_size", default=128)
            return integers(4, group, zero_bits=16, name=f"torchao4-g{group}")
        case "Int8WeightOnlyConfig":
            return integers(8, None, zero_bits=0)
        case "Int8DynamicActivationInt8WeightConfig":
            return integers(8, None, zero_bits=0)._replace(weight_only=False)
        case "Float8WeightOnlyConfig":
            return ROWS._replace(weight_only=True)
        case "Float8DynamicActivationFloat8WeightConfig":
            by_row = "PerRow" in str(data.raw("granularity"))[:500]
            return ROWS if by_row else WEIGHT_FORMATS["fp8"]._replace(tensor_bits=32)
    data.fault("_type", "is a configuration whose storage is not known", kind, LEAVE_OUT)
    return None
