"""compressed-tensors: groups of modules, each with a scheme for weights and activations (llm-compressor).

A group's targets are classes (`Linear`), whole names, or expressions ("re:"); names go before classes, and `ignore`
before all. A weight scheme has a type and a width, and a strategy: one scale for the matrix, for an output ("channel"),
a group of inputs or a block; scales have the model's 16 bits unless `scale_dtype` says otherwise. `tensor_group` is
NVFP4: a group of 16 with an fp8 scale, and an fp32 scale of those; 4-bit floats in groups of 32 are MXFP4, with 8-bit
exponents. Act-order keeps 32 bits for each input only if the groups themselves are ordered ("group"). Without
`input_activations` the products are those of the activations' own dtype; otherwise of the activations' scheme, and a
static one has a scale of its own.

Sparse formats are refused: 2:4 is other work, and unstructured sparsity depends on the data.

Source: the schemes and formats of vllm-project/compressed-tensors.
"""

from collections.abc import Iterator
from typing import NamedTuple

from mansard.inputs.keys import Keys
from mansard.inputs.storage import LEAVE_OUT, WIDE, Scheme
from mansard.precision import WEIGHT_FORMATS, WeightFormat, dtype_name
from mansard.quantizations._reading import cache_of, left_alone, module_list, rule

METHODS = ("compressed-tensors",)
_STRATEGIES = ("tensor", "channel", "group", "block", "tensor_group")
# Formats that keep each integer in whole bytes, whatever its width.
_IN_BYTES = ("int-quantized", "naive-quantized", "float-quantized")
_FORMATS = (
    "dense", "pack-quantized", *_IN_BYTES, "nvfp4-pack-quantized", "mxfp4-pack-quantized", "mxfp8-quantized",
    "mixed-precision",
)  # fmt: skip
_SCALE_BITS = {"uint8": 8, "float8_e4m3fn": 8, "float8_e8m0fnu": 8}
_CLASSES = {"Linear": None, "Embedding": "embedding"}


class Group(NamedTuple):
    """The targets of one group and the format of their weights; None leaves them in the model's dtype."""

    targets: tuple[str, ...]
    stored: WeightFormat | None


def read(keys: Keys) -> Scheme:
    """A compressed-tensors configuration."""
    packing = _packing(keys)
    _refuse_others(keys)
    groups = tuple(read_groups(keys, packing))
    keys.require(bool(groups), "config_groups", "must have a group that says how weights are stored")
    named = [
        rule(target, group.stored, "exact") for group in groups for target in group.targets if not _is_class(target)
    ]
    by_class = {target: group.stored for group in reversed(groups) for target in group.targets if target in _CLASSES}
    embedding = by_class.get("Embedding")
    return Scheme(
        method="compressed-tensors",
        default=by_class.get("Linear"),
        rules=(*left_alone(module_list(keys, "ignore"), "exact"), *named),
        wide=WIDE - {"head"} if "Linear" in by_class else WIDE,
        by_part=(("embedding", embedding),) if embedding else (),
        cache=cache_of(keys),
        key="quantization_config.ignore",
    )


def read_groups(keys: Keys, packing: str) -> Iterator[Group]:
    """The groups in their order; a target that is a class which is not known is a fault."""
    groups = keys.nested("config_groups")
    for name in groups.document:
        group = groups.nested(name)
        targets = module_list(group, "targets") or ("Linear",)
        for target in targets:
            group.require(
                not _is_class(target) or target in _CLASSES,
                "targets",
                "names a class that is not known",
                target,
                LEAVE_OUT,
            )
        yield Group(targets, _format(group, packing) if group.has("weights") else None)


def _is_class(target: str) -> bool:
    """Whether a target is a class, not a module: one word in capitals and small letters."""
    return target.isidentifier() and target[0].isupper()


def _packing(keys: Keys) -> str:
    stated = keys.text("format") if keys.has("format") else ""
    keys.require(not stated or stated in _FORMATS, "format", "is not supported: sparse or not known", stated, LEAVE_OUT)
    return stated


def _refuse_others(keys: Keys) -> None:
    sparsity = keys.nested("sparsity_config")
    if sparsity.document and sparsity.raw("format") not in (None, "dense"):
        sparsity.fault("format", "is a sparse one, which is not supported yet", sparsity.raw("format"), LEAVE_OUT)
    transforms = keys.nested("transform_config").raw("config_groups")
    keys.require(
        not transforms, "transform_config", "adds transforms of the activations, which are not counted", transforms
    )


def _format(group: Keys, packing: str) -> WeightFormat | None:
    own = group.text("format") if group.has("format") else packing
    weights = group.nested("weights")
    bits = weights.size("num_bits", default=8, maximum=16)
    kind = weights.text("type", default="int", choices=("int", "float"))
    if bits == 16:
        return None
    strategy = _strategy(weights)
    if kind == "float" and bits == 4:
        stored = _short_floats(weights, strategy)
    elif bits not in ((8,) if kind == "float" else (2, 4, 8)):
        weights.fault("num_bits", "is none whose packing is known", bits, LEAVE_OUT)
        return None
    else:
        stored = _scaled(weights, kind, bits, strategy)
        if own in _IN_BYTES:
            stored = stored._replace(bits=8)
    return _with_inputs(group, stored)


def _strategy(weights: Keys) -> str:
    if not weights.has("strategy"):
        group = weights.raw("group_size")
        return "tensor" if group is None else "channel" if group == -1 else "group"
    return weights.text("strategy", choices=_STRATEGIES)


def _short_floats(weights: Keys, strategy: str) -> WeightFormat:
    """4-bit floats: NVFP4 or MXFP4."""
    group = weights.size("group_size", default=16 if strategy == "tensor_group" else 32)
    if strategy == "tensor_group" or group == 16:
        return WEIGHT_FORMATS["nvfp4"]._replace(group_size=group, tensor_bits=32)
    weights.require(strategy == "group", "strategy", "must be group or tensor_group for 4-bit floats", strategy)
    return WEIGHT_FORMATS["mxfp4"]._replace(group_size=group)


def _scaled(weights: Keys, kind: str, bits: int, strategy: str) -> WeightFormat:
    weights.require(strategy != "tensor_group", "strategy", "must have 4-bit floats", strategy)
    symmetric = weights.flag("symmetric", default=True)
    scale_bits, zero_bits = _scale_bits(weights), 0 if symmetric else bits
    block = weights.sizes("block_structure", length=2) if strategy == "block" else None
    group = weights.size("group_size", default=128) if strategy == "group" else None
    is_ordered = weights.raw("actorder") in ("group", True)
    return WeightFormat(
        name=f"{kind}{bits}-" + (f"g{group}" if group else strategy),
        bits=bits,
        dtype="fp8" if kind == "float" else "int8" if bits > 4 else "int4",
        group_size=group,
        block=(block[1], block[0]) if block else None,  # [outputs, inputs] in the file
        per_column_scale=strategy == "channel",
        scale_bits=0 if strategy == "tensor" else scale_bits,
        zero_bits=0 if strategy == "tensor" else zero_bits,
        tensor_bits=scale_bits + zero_bits if strategy == "tensor" else 0,
        row_bits=32 if is_ordered else 0,
    )


def _scale_bits(weights: Keys) -> int:
    value = weights.raw("scale_dtype")
    if value is None:
        return 16
    spelled = str(value).removeprefix("torch.")
    known = {"fp32": 32, "bf16": 16, "fp16": 16}
    bits = _SCALE_BITS.get(spelled) or known.get(dtype_name(spelled) or "")
    weights.require(bits is not None, "scale_dtype", "is not known", value)
    return bits or 16


def _with_inputs(group: Keys, stored: WeightFormat) -> WeightFormat:
    """The format with the dtype of its products, and the scale of inputs that are scaled by calibration."""
    if not group.has("input_activations"):
        return stored._replace(weight_only=True)
    inputs = group.nested("input_activations")
    bits = inputs.size("num_bits", default=8, maximum=16)
    kind = inputs.text("type", default="int", choices=("int", "float"))
    if bits == 16:
        return stored._replace(weight_only=True)
    dtypes = {("float", 8): "fp8", ("int", 8): "int8", ("float", 4): "fp4", ("int", 4): "int4"}
    dtype = dtypes.get((kind, bits))
    inputs.require(dtype is not None, "num_bits", "is none in which products are known", bits)
    dynamic = inputs.raw("dynamic") if inputs.raw("dynamic") is not None else False
    # NVFP4 scales its groups as they come ("local") and those scales by calibration, in fp32.
    static = 0 if dynamic is True else 32 if bits == 4 else 16
    return stored._replace(dtype=dtype or stored.dtype, weight_only=False, tensor_bits=stored.tensor_bits + static)
