"""NVIDIA's ModelOpt, which writes `hf_quant_config.json` beside the config, or the same keys into it.

FP8 has an fp32 scale for each matrix and one for its inputs; NVFP4 an fp8 scale for 16 inputs, an fp32 scale of those
and one of the inputs. `exclude_modules` (`ignore` in the config itself) has wildcards. MIXED_PRECISION names an
algorithm for each quantised module, in `quantized_layers` or as targets of `config_groups`.

Sources: the export of NVIDIA TensorRT Model Optimizer; vLLM's ModelOpt configurations.
"""

from collections.abc import Iterator

from mansard.errors import did_you_mean
from mansard.inputs.keys import Keys
from mansard.inputs.rules import Rule
from mansard.inputs.storage import LEAVE_OUT, WIDE, Scheme
from mansard.precision import DTYPE_BITS, WEIGHT_FORMATS, WeightFormat, dtype_name
from mansard.quantizations._reading import cache_of, left_alone, module_list, rule
from mansard.quantizations.compressed_tensors import read_groups
from mansard.quantizations.fbgemm_fp8 import ROWS

METHODS = ("modelopt", "modelopt_fp4", "modelopt_mixed")
_NVFP4, _MXFP4 = WEIGHT_FORMATS["nvfp4"], WEIGHT_FORMATS["mxfp4"]
_FORMATS: dict[str, WeightFormat] = {
    "FP8": WEIGHT_FORMATS["fp8"]._replace(tensor_bits=64),
    "FP8_PER_CHANNEL_PER_TOKEN": ROWS,
    "FP8_PB_WO": WEIGHT_FORMATS["fp8-block128"]._replace(weight_only=True),
    "NVFP4": _NVFP4._replace(tensor_bits=64),
    "NVFP4_AWQ": _NVFP4._replace(name="nvfp4-awq", tensor_bits=64, row_bits=16),
    "W4A16_NVFP4": _NVFP4._replace(tensor_bits=32, weight_only=True),
    "MXFP4": _MXFP4,
    "W4A8_MXFP4_FP8": _MXFP4._replace(dtype="fp8", weight_only=False),
    "MXFP8": WeightFormat(name="mxfp8", bits=8, dtype="fp8", group_size=32, scale_bits=8),
}
_MIXED = "MIXED_PRECISION"


def read(keys: Keys) -> Scheme | None:
    """A ModelOpt configuration."""
    algorithm = keys.text("quant_algo", default="").upper()
    rules = left_alone(module_list(keys, "exclude_modules", "ignore"))
    key = f"quantization_config.{'exclude_modules' if keys.has('exclude_modules') else 'ignore'}"
    if algorithm == _MIXED:
        mixed = tuple(_mixed(keys))
        keys.require(bool(mixed), "quantized_layers", "must name the modules that are quantised", None, LEAVE_OUT)
        return Scheme(f"modelopt {algorithm}", None, (*rules, *mixed), cache=_cache(keys), key=key)
    stored = _format(keys, algorithm)
    if stored is None:
        return None
    # A list that does not name the head leaves it to be quantised; without a list it never is.
    has_list = keys.has("exclude_modules", "ignore")
    wide = WIDE - {"head"} if has_list else WIDE
    return Scheme(f"modelopt {algorithm}", stored, rules, wide=wide, cache=_cache(keys), key=key)


def _format(keys: Keys, algorithm: str, key: str = "quant_algo") -> WeightFormat | None:
    stored = _FORMATS.get(algorithm)
    if stored is None:
        hint = (
            did_you_mean(algorithm, tuple(_FORMATS)) or f"known are {', '.join((*_FORMATS, _MIXED))}; else {LEAVE_OUT}"
        )
        keys.fault(key, "is not known", algorithm, hint)
        return None
    if stored.group_size and keys.has("group_size"):
        return stored._replace(group_size=keys.size("group_size"))
    return stored


def _mixed(keys: Keys) -> Iterator[Rule]:
    layers = keys.nested("quantized_layers")
    for name in layers.document:
        own = layers.nested(name)
        yield rule(name, _format(own, own.text("quant_algo", default="").upper()))
    if not layers.document and keys.has("config_groups"):
        for group in read_groups(keys, ""):
            # The classes that a group may name too say nothing here: modules that are named have their formats.
            yield from (rule(target, group.stored) for target in group.targets if "." in target)


def _cache(keys: Keys) -> str | None:
    if not keys.has("kv_cache_quant_algo"):
        return cache_of(keys)
    stated = keys.text("kv_cache_quant_algo")
    found = dtype_name(stated)
    if found is None or DTYPE_BITS[found] < 8:
        text = f"the checkpoint is made for a cache in {stated[:20]}, which is not taken: ask for one with --kv"
        keys.note("cache-format", text, "warning")
        return None
    return found
