"""A checkpoint's `quantization_config`: how its matrices are stored, with scales and zero points."""

import re
from collections.abc import Callable

from mansard.errors import did_you_mean
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Quantization
from mansard.precision import WEIGHT_FORMATS, WeightFormat

# What a list of modules to leave alone may mean, by the last part of a name; None: nothing that is counted here, or
# what is kept in the model's dtype anyway.
_SKIPPED_PARTS: dict[str, str | None] = {
    "lm_head": "lm_head", "embed_out": "lm_head", "output_layer": "lm_head",
    "self_attn": "attention", "self_attention": "attention", "attn": "attention", "attention": "attention",
    "router": "router", "gate": "router",
    "mlp": "feed_forward", "feed_forward": "feed_forward", "experts": "expert",
    "shared_expert": "shared_expert", "shared_experts": "shared_expert", "shared_expert_gate": None,
    "embed_tokens": None, "norm": None, "input_layernorm": None, "post_attention_layernorm": None,
    "visual": None, "vision_tower": None, "vision_model": None, "multi_modal_projector": None, "mm_projector": None,
    "audio_tower": None, "e_score_correction_bias": None,
}  # fmt: skip
_SEVERAL = re.compile(r"mlp\\\.\(([a-z_|]{1,80})\)_proj")
_PROJECTIONS = ("q_proj", "k_proj", "v_proj", "o_proj", "qkv_proj", "gate_proj", "up_proj", "down_proj", "gate_up_proj")
_ALWAYS_SKIPPED = frozenset({"lm_head", "router"})


def read_quantization(keys: Keys) -> Quantization | None:
    """The format that a `quantization_config` describes; None if there is none. Faults are kept in `keys`.

    A method that is not known is a fault that names it: guessing a width would print a wrong number.
    """
    if not keys.document:
        return None
    method = keys.text("quant_method", default="") if keys.has("quant_method") else ""
    if not method:
        keys.fault("quant_method", "is required but absent", hint=f"known are {', '.join(_METHODS)}")
        return None
    read = _METHODS.get(method)
    if read is None:
        hint = did_you_mean(method, tuple(_METHODS)) or f"known are {', '.join(_METHODS)}"
        keys.fault("quant_method", "is not known", method, hint)
        return None
    return read(keys)


def _fp8(keys: Keys) -> Quantization:
    skipped = _skipped(keys, "modules_to_not_convert", "ignored_layers")
    if not keys.has("weight_block_size"):
        return Quantization(method="fp8", linear=WEIGHT_FORMATS["fp8"], skipped=skipped)
    rows, columns = keys.sizes("weight_block_size", length=2)
    if (rows, columns) == (128, 128):
        return Quantization(method="fp8", linear=WEIGHT_FORMATS["fp8-block128"], skipped=skipped)
    name = f"fp8-block{rows}x{columns}"
    linear = WeightFormat(name=name, bits=8, dtype="fp8", block=(rows, columns), scale_bits=32)
    return Quantization(method="fp8", linear=linear, skipped=skipped)


def _gptq(keys: Keys) -> Quantization:
    bits, group = _bits(keys, "bits", allowed=(2, 3, 4, 8)), _group(keys, "group_size")
    for name in ("dynamic", "modules_in_block_to_quantize", "lm_head"):
        if keys.raw(name):
            keys.fault(name, "gives some modules another format, which is not supported yet", keys.raw(name))
    # GPTQ stores zero points for symmetric weights too; they carry nothing and are not counted, as for AWQ.
    symmetric = keys.flag("sym", default=True)
    return Quantization(method="gptq", linear=_integers(bits, group, 0 if symmetric else bits))


def _awq(keys: Keys) -> Quantization:
    bits = _bits(keys, "bits", "w_bit", allowed=(4, 8))
    group = _group(keys, "group_size", "q_group_size")
    zero_point = keys.flag("zero_point", default=True)
    skipped = _skipped(keys, "modules_to_not_convert")
    return Quantization(method="awq", linear=_integers(bits, group, bits if zero_point else 0), skipped=skipped)


def _bitsandbytes(keys: Keys) -> Quantization:
    skipped = _skipped(keys, "llm_int8_skip_modules")
    both = keys.document.get("load_in_8bit") is True and keys.document.get("load_in_4bit") is True
    keys.require(not both, "load_in_8bit", "contradicts load_in_4bit", True)
    if keys.flag("load_in_8bit", default=False):
        linear = WeightFormat(name="int8-rows", bits=8, dtype="int8", per_column_scale=True, scale_bits=32)
        return Quantization(method="bitsandbytes", linear=linear, skipped=skipped)
    if not keys.flag("load_in_4bit", default=False):
        keys.fault("load_in_4bit", "must be true where load_in_8bit is not")
    kind = keys.text("bnb_4bit_quant_type", default="fp4", choices=("fp4", "nf4"))
    double = keys.flag("bnb_4bit_use_double_quant", default=False)
    # One scale for 64 elements: 32 bits, or 8 with a 32-bit scale of scales for every 256 of them.
    scale_bits = 8 + 32 / 256 if double else 32
    linear = WeightFormat(
        name=f"{kind}-double" if double else kind,
        bits=4,
        dtype="int4",
        group_size=64,
        scale_bits=scale_bits,
        weight_only=True,
    )
    return Quantization(method="bitsandbytes", linear=linear, skipped=skipped)


def _mxfp4(keys: Keys) -> Quantization:
    """Microscaled 4-bit experts; all else stays in the model's dtype, as gpt-oss is published."""
    del keys
    everything_else = frozenset({"lm_head", "router", "attention", "feed_forward", "shared_expert"})
    experts = WEIGHT_FORMATS["mxfp4"]
    return Quantization(method="mxfp4", linear=experts, experts=experts, skipped=everything_else)


def _compressed_tensors(keys: Keys) -> Quantization | None:
    skipped = _skipped(keys, "ignore")
    groups = keys.nested("config_groups")
    if len(groups.document) != 1:
        keys.fault(
            "config_groups", "must have exactly one group: mixed precisions are not supported yet", len(groups.document)
        )
        return None
    group = groups.nested(next(iter(groups.document)))
    targets = group.texts("targets", default=("Linear",))
    if tuple(targets) != ("Linear",):
        group.fault("targets", "must be all linear layers: single modules are not supported yet", list(targets))
    sparsity = keys.nested("sparsity_config")
    if sparsity.document and sparsity.raw("format") not in (None, "dense"):
        sparsity.fault("format", "is a sparse one, which is not supported yet", sparsity.raw("format"))
    weights = group.nested("weights")
    bits = weights.size("num_bits", maximum=16)
    kind = weights.text("type", default="int", choices=("int", "float"))
    strategy = weights.text("strategy", default="tensor", choices=("tensor", "channel", "group", "block"))
    weight_only = not group.has("input_activations")
    if kind == "float" and bits != 8:
        weights.fault("num_bits", "of a float must be 8: shorter floats are not supported yet", bits)
        return None
    dtype = "fp8" if kind == "float" else "int8" if bits > 4 else "int4"
    zero_bits = 0 if weights.flag("symmetric", default=True) else bits
    block = weights.sizes("block_structure", length=2) if strategy == "block" else None
    linear = WeightFormat(
        name=f"{kind}{bits}-{strategy}",
        bits=bits,
        dtype=dtype,
        group_size=weights.size("group_size", default=128) if strategy == "group" else None,
        block=(block[0], block[1]) if block else None,
        per_column_scale=strategy == "channel",
        scale_bits=0 if strategy == "tensor" else 16,
        zero_bits=zero_bits,
        weight_only=weight_only,
    )
    return Quantization(method="compressed-tensors", linear=linear, skipped=skipped)


def _modelopt(keys: Keys) -> Quantization | None:
    """NVIDIA's ModelOpt, which writes `hf_quant_config.json` beside the config, or the same keys into it."""
    algorithm = keys.text("quant_algo", default="")
    formats = {"FP8": "fp8", "NVFP4": "nvfp4"}
    if algorithm not in formats:
        hint = f"known are {', '.join(formats)}; mixed precisions are not supported yet"
        keys.fault("quant_algo", "is not known", algorithm, hint)
        return None
    if keys.has("kv_cache_quant_algo"):
        cache = keys.text("kv_cache_quant_algo")
        keys.note("cache-format", f"the checkpoint is made for a cache in {cache[:20]}: ask for it with --kv")
    skipped = _skipped(keys, "exclude_modules", "ignore")
    return Quantization(method=f"modelopt {algorithm}", linear=WEIGHT_FORMATS[formats[algorithm]], skipped=skipped)


def _bits(keys: Keys, *names: str, allowed: tuple[int, ...]) -> int:
    """A width that checkpoints of the method have."""
    bits = keys.size(*names, default=4, maximum=16)
    keys.require(bits in allowed, names[0], f"must be one of {', '.join(map(str, allowed))}", bits)
    return bits


def _group(keys: Keys, *names: str) -> int | None:
    """A group size; -1 means one group for a whole row of inputs."""
    if keys.raw(*names) == -1:
        return None
    return keys.size(*names, default=128)


def _integers(bits: int, group: int | None, zero_bits: int) -> WeightFormat:
    return WeightFormat(
        name=f"int{bits}-g{group}" if group else f"int{bits}-rows",
        bits=bits,
        dtype="int8" if bits > 4 else "int4",
        group_size=group,
        per_column_scale=group is None,
        scale_bits=16,
        zero_bits=zero_bits,
        weight_only=True,
    )


def _skipped(keys: Keys, *names: str) -> frozenset[str]:
    """The kinds of matrices that a list of module names leaves in the model's dtype.

    A name that holds for all layers is read or refused. One of single layers' modules is noted, and counted as
    quantised: which layers share a format is not known to the counting yet.
    """
    listed = keys.texts(*names, default=()) if keys.has(*names) else ()
    found = set(_ALWAYS_SKIPPED)
    single = 0
    for name in listed:
        parts = [part for part in name.removeprefix("re:").replace("\\.", ".").strip("^$.*").split(".") if part]
        if (several := _SEVERAL.search(name)) and {"gate", "up", "down"} <= set(several[1].split("|")):
            parts = ["mlp"]  # all projections of the dense feed-forward parts, written as one pattern
        last = re.sub(r"[^\w]+", "", parts[-1]) if parts else ""
        kind = _SKIPPED_PARTS.get(last, last)
        if any(part in _SKIPPED_PARTS and _SKIPPED_PARTS[part] is None for part in parts) or kind in (None, "router"):
            continue  # of a tower beside the language model, or wide in any case
        if any(part.isdigit() for part in parts):
            single += 1
        elif last in _SKIPPED_PARTS:
            found.add(str(kind))
        else:
            what = "single projections" if last in _PROJECTIONS else "modules that are not known"
            stated = next(one for one in names if keys.has(one))
            keys.fault(stated, f"names {what}, which cannot be counted apart yet", name)
    if single:
        keys.note("quantization-exceptions", f"{single} modules kept in full width are counted as quantised", "warning")
    return frozenset(found)


_METHODS: dict[str, Callable[[Keys], Quantization | None]] = {
    "fp8": _fp8,
    "gptq": _gptq,
    "awq": _awq,
    "bitsandbytes": _bitsandbytes,
    "mxfp4": _mxfp4,
    "compressed-tensors": _compressed_tensors,
    "modelopt": _modelopt,
}
