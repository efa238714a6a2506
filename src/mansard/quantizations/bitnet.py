"""BitNet: ternary weights, four to a byte, with a 16-bit scale for the matrix, and products in int8.

With `quantization_mode` online the checkpoint holds the weights in the model's dtype.

Sources: arXiv:2402.17764; the BitNetQuantConfig of Hugging Face transformers.
"""

from mansard.inputs.keys import Keys
from mansard.inputs.storage import Scheme
from mansard.precision import WeightFormat
from mansard.quantizations._reading import left_alone, module_list

METHODS = ("bitnet",)
_TERNARY = WeightFormat(name="ternary", bits=2, dtype="int8", tensor_bits=16)


def read(keys: Keys) -> Scheme:
    """A BitNet configuration."""
    online = (
        keys.text("quantization_mode", choices=("online", "offline")) if keys.has("quantization_mode") else "offline"
    )
    if keys.raw("use_rms_norm") is True:
        keys.fault("use_rms_norm", "adds a norm before each product, which is not supported yet", True)
    skipped = left_alone(module_list(keys, "modules_to_not_convert"))
    stored = None if online == "online" else _TERNARY
    return Scheme("bitnet", stored, skipped, key="quantization_config.modules_to_not_convert")
