"""fp8 weights with an fp32 scale for each output, activations scaled as they come (FBGEMM, Llama-3.1-405B-FP8).

Source: the FbgemmFp8Config of Hugging Face transformers.
"""

from mansard.inputs.keys import Keys
from mansard.inputs.storage import Scheme
from mansard.precision import WeightFormat
from mansard.quantizations._reading import left_alone, module_list

METHODS = ("fbgemm_fp8",)
ROWS = WeightFormat(name="fp8-rows", bits=8, dtype="fp8", per_column_scale=True, scale_bits=32)


def read(keys: Keys) -> Scheme:
    """An FBGEMM configuration."""
    skipped = left_alone(module_list(keys, "modules_to_not_convert"))
    return Scheme("fbgemm_fp8", ROWS, skipped, key="quantization_config.modules_to_not_convert")
