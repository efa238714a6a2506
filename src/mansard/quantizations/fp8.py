"""fp8 weights with a scale for each tile (DeepSeek-V3 and what followed it) or for each matrix.

Tiles of `weight_block_size` have an fp32 scale each, those at the edges counted whole; without it a matrix has one, and
one for its inputs where they are scaled by calibration (`activation_scheme` static). `scale_fmt` ue8m0 says that scales
are powers of two: DeepSeek-V3.1 and V3.2 store them in fp32 all the same; with experts in fp4 (`expert_dtype`) they
have 8 bits, and the experts are in groups of 32.

Sources: arXiv:2412.19437; the FineGrainedFP8Config of Hugging Face transformers; vLLM's Fp8Config.
"""

from mansard.inputs.keys import Keys
from mansard.inputs.storage import Scheme
from mansard.precision import WEIGHT_FORMATS, WeightFormat
from mansard.quantizations._reading import cache_of, left_alone, module_list

METHODS = ("fp8",)


def read(keys: Keys) -> Scheme:
    """An fp8 configuration."""
    skipped = module_list(keys, "modules_to_not_convert", "ignored_layers")
    for name in ("modules_to_convert",):
        keys.require(not keys.raw(name), name, "names further modules, which are not counted", keys.raw(name))
    experts = keys.text("expert_dtype", choices=("fp8", "fp4")) if keys.has("expert_dtype") else "fp8"
    by_part = (("expert", WEIGHT_FORMATS["mxfp4"]),) if experts == "fp4" else ()
    return Scheme(
        method="fp8",
        default=_tiles(keys, 8 if experts == "fp4" else 32) if keys.has("weight_block_size") else _whole(keys),
        rules=left_alone(skipped),
        by_part=by_part,
        cache=cache_of(keys),
        key="quantization_config.modules_to_not_convert",
    )


def _tiles(keys: Keys, scale_bits: int) -> WeightFormat:
    rows, columns = keys.sizes("weight_block_size", length=2)
    if keys.has("scale_fmt") and scale_bits == 32:
        text = f"scale_fmt {keys.text('scale_fmt')} says how scales are rounded: they are counted as stored in fp32"
        keys.note("scale-format", text)
    known = WEIGHT_FORMATS["fp8-block128"]
    if (rows, columns, scale_bits) == (128, 128, 32):
        return known
    # The block is [outputs, inputs], as the weights of a linear layer are.
    name = f"fp8-block{rows}x{columns}"
    return known._replace(name=name, block=(columns, rows), scale_bits=scale_bits)


def _whole(keys: Keys) -> WeightFormat:
    static = keys.has("activation_scheme") and keys.text("activation_scheme", choices=("dynamic", "static")) == "static"
    return WEIGHT_FORMATS["fp8"]._replace(tensor_bits=64 if static else 32)
