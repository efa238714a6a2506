"""EETQ: 8-bit integers with a 16-bit scale for each output, multiplied in the activations' dtype.

Source: the EetqConfig of Hugging Face transformers.
"""

from mansard.inputs.keys import Keys
from mansard.inputs.storage import Scheme
from mansard.quantizations._reading import integers, left_alone, module_list

METHODS = ("eetq",)


def read(keys: Keys) -> Scheme:
    """An EETQ configuration."""
    if keys.has("weights"):
        keys.text("weights", choices=("int8",))
    skipped = left_alone(module_list(keys, "modules_to_not_convert"))
    return Scheme("eetq", integers(8, None, zero_bits=0), skipped, key="quantization_config.modules_to_not_convert")
