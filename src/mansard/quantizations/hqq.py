"""HQQ: integers in groups, each with a scale and a zero point of 16 bits.

`quant_config` describes all linear layers, or those whose tags it lists and no others. Scales that are quantised
themselves are refused, and 3 bits, which are packed ten into 32.

Source: the HqqConfig of Hugging Face transformers; the BaseQuantizeConfig of HQQ.
"""

from mansard.inputs.keys import Keys
from mansard.inputs.rules import Rule
from mansard.inputs.storage import LEAVE_OUT, Scheme
from mansard.precision import WeightFormat
from mansard.quantizations._reading import bits_of, integers, left_alone, module_list

METHODS = ("hqq",)


def read(keys: Keys) -> Scheme:
    """An HQQ configuration."""
    skipped = left_alone(module_list(keys, "skip_modules"))
    config = keys.nested("quant_config") if keys.has("quant_config") else keys
    key = "quantization_config.quant_config"
    if config is keys or config.has("weight_quant_params"):
        return Scheme("hqq", _format(config), skipped, key=key)
    tags = tuple(Rule(tag, _format(config.nested(tag))) for tag in config.document)
    return Scheme("hqq", None, (*skipped, *tags), key=key)


def _format(config: Keys) -> WeightFormat:
    for name in ("scale_quant_params", "zero_quant_params"):
        config.require(
            not config.raw(name), name, "quantises the scales, which is not supported yet", config.raw(name), LEAVE_OUT
        )
    weights = config.nested("weight_quant_params") if config.has("weight_quant_params") else config
    bits = bits_of(weights, "nbits", allowed=(1, 2, 4, 8))
    group = weights.size("group_size", default=64)
    return integers(bits, group, zero_bits=16, name=f"hqq{bits}-g{group}")
