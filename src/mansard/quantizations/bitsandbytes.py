"""bitsandbytes: 8-bit rows with an fp32 scale each, or 4-bit floats in blocks of 64 with an fp32 scale each.

Double quantisation stores the scales in 8 bits, with an fp32 scale for 256 of them. The tables of the 16 values that 4
bits stand for are not counted.

Sources: arXiv:2208.07339, arXiv:2305.14314; the BitsAndBytesConfig of Hugging Face transformers.
"""

from mansard.inputs.keys import Keys
from mansard.inputs.storage import Scheme
from mansard.precision import WeightFormat
from mansard.quantizations._reading import left_alone, module_list

METHODS = ("bitsandbytes",)


def read(keys: Keys) -> Scheme:
    """A bitsandbytes configuration."""
    skipped = left_alone(module_list(keys, "llm_int8_skip_modules"))
    return Scheme("bitsandbytes", _format(keys), skipped, key="quantization_config.llm_int8_skip_modules")


def _format(keys: Keys) -> WeightFormat:
    both = keys.document.get("load_in_8bit") is True and keys.document.get("load_in_4bit") is True
    keys.require(not both, "load_in_8bit", "contradicts load_in_4bit", True)
    if keys.flag("load_in_8bit", default=False):
        return WeightFormat(name="int8-rows", bits=8, dtype="int8", per_column_scale=True, scale_bits=32)
    if not keys.flag("load_in_4bit", default=False):
        keys.fault("load_in_4bit", "must be true where load_in_8bit is not")
    kind = keys.text("bnb_4bit_quant_type", default="fp4", choices=("fp4", "nf4"))
    double = keys.flag("bnb_4bit_use_double_quant", default=False)
    return WeightFormat(
        name=f"{kind}-double" if double else kind,
        bits=4,
        dtype="int4",
        group_size=64,
        scale_bits=8 + 32 / 256 if double else 32,
        weight_only=True,
    )
