"""AQLM: groups of weights as sums of vectors from codebooks, with a 16-bit scale for each group of outputs.

A group of `in_group_size` inputs and `out_group_size` outputs has `num_codebooks` codes, each in the shortest of 8, 16
or 32 bits that holds `nbits_per_codebook`; each codebook has 2^nbits vectors of a group's size in 16 bits.

Sources: arXiv:2401.06118; the AqlmConfig of Hugging Face transformers.
"""

from mansard.inputs.keys import Keys
from mansard.inputs.storage import Scheme
from mansard.precision import WeightFormat
from mansard.quantizations._reading import left_alone, module_list

METHODS = ("aqlm",)


def read(keys: Keys) -> Scheme:
    """An AQLM configuration."""
    inputs, outputs = keys.size("in_group_size", default=8), keys.size("out_group_size", default=1)
    keys.require(outputs == 1, "out_group_size", "must be 1: wider groups are not supported yet", outputs)
    books = keys.size("num_codebooks", default=1, maximum=64)
    bits = keys.size("nbits_per_codebook", default=16, maximum=24)
    code = next(width for width in (8, 16, 32) if bits <= width)
    skipped = module_list(keys, "linear_weights_not_to_quantize")
    stored = WeightFormat(
        name=f"aqlm{books}x{bits}-g{inputs}",
        bits=0,
        dtype="int4",
        group_size=inputs,
        scale_bits=books * code,
        weight_only=True,
        column_bits=16,
        tensor_bits=books * 2**bits * inputs * 16,
    )
    # The list names weights, not modules.
    rules = left_alone(name.removesuffix(".weight") for name in skipped)
    return Scheme("aqlm", stored, rules, key="quantization_config.linear_weights_not_to_quantize")
