"""MXFP4 experts, as gpt-oss is published: 32 inputs share an 8-bit exponent; all else stays in the model's dtype.

Sources: the OCP Microscaling Formats specification 1.0; the Mxfp4Config of Hugging Face transformers.
"""

from mansard.inputs.keys import Keys
from mansard.inputs.storage import Scheme
from mansard.precision import WEIGHT_FORMATS
from mansard.quantizations._reading import left_alone, module_list

METHODS = ("mxfp4",)


def read(keys: Keys) -> Scheme:
    """An MXFP4 configuration."""
    return Scheme(
        method="mxfp4",
        default=None,
        rules=left_alone(module_list(keys, "modules_to_not_convert")),
        by_part=(("expert", WEIGHT_FORMATS["mxfp4"]),),
        key="quantization_config.modules_to_not_convert",
    )
