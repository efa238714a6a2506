"""AWQ: integers of 4 bits (8 now and then) in groups of inputs, each with a 16-bit scale and, mostly, a zero point.

Sources: arXiv:2306.00978; the AwqConfig of Hugging Face transformers.
"""

from mansard.inputs.keys import Keys
from mansard.inputs.storage import Scheme
from mansard.quantizations._reading import bits_of, group_of, integers, left_alone, module_list

METHODS = ("awq",)


def read(keys: Keys) -> Scheme:
    """An AWQ configuration."""
    bits = bits_of(keys, "bits", "w_bit", allowed=(4, 8))
    group = group_of(keys, "group_size", "q_group_size")
    zero_point = keys.flag("zero_point", default=True)
    skipped = left_alone(module_list(keys, "modules_to_not_convert"))
    stored = integers(bits, group, zero_bits=bits if zero_point else 0)
    return Scheme("awq", stored, skipped, key="quantization_config.modules_to_not_convert")
