"""How checkpoints store one matrix, to the last scale and zero point, by what each method's configuration says."""

import inspect
from math import ceil
from typing import Any

import pytest

from mansard import registry
from mansard.errors import InputError
from mansard.inputs.keys import Keys
from mansard.inputs.storage import Scheme
from mansard.precision import WEIGHT_FORMATS
from mansard.quantizations._method import methods, read_scheme

FOLDER = "mansard.quantizations"
K, N = 256, 384  # inputs and outputs of a matrix: two groups of 128, three blocks of outputs
CT = {"quant_method": "compressed-tensors"}


def scheme(**document: Any) -> Scheme:
    keys = Keys(document, "config.json", "quantization_config.")
    found = read_scheme(keys)
    keys.finish()
    assert found is not None
    return found


def group(weights: dict[str, Any], inputs: dict[str, Any] | None = None, **more: Any) -> dict[str, Any]:
    one = {"targets": ["Linear"], "weights": weights, "input_activations": inputs}
    return {**CT, "config_groups": {"group_0": one}, "ignore": ["lm_head"], **more}


FLOAT8 = {"num_bits": 8, "type": "float"}
INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}
DYNAMIC = {"num_bits": 8, "type": "float", "dynamic": True}
HQQ = {"weight_quant_params": {"nbits": 4, "group_size": 64, "axis": 1}, "scale_quant_params": None}
QUARK_FP8 = {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}}
MX = {"weight": {"dtype": "fp4", "qscheme": "per_group", "group_size": 32, "scale_format": "e8m0"}}

# What is stored of the matrix [K, N] beside its elements, in bits, by hand: (configuration, bits of an element, rest).
STORED: list[tuple[dict[str, Any], int, int]] = [
    ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8, 2 * 3 * 32),
    ({"quant_method": "fp8", "weight_block_size": [128, 128], "scale_fmt": "ue8m0"}, 8, 2 * 3 * 32),
    # [outputs, inputs]: 6 blocks of 64 outputs, 8 of 32 inputs.
    ({"quant_method": "fp8", "weight_block_size": [64, 32]}, 8, 6 * 8 * 32),
    ({"quant_method": "fp8"}, 8, 32),
    ({"quant_method": "fp8", "activation_scheme": "static"}, 8, 2 * 32),
    ({"quant_method": "fbgemm_fp8"}, 8, N * 32),
    ({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True}, 4, 2 * N * 16),
    ({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": False}, 4, 2 * N * (16 + 4)),
    ({"quant_method": "gptq", "bits": 3, "group_size": -1, "sym": True, "desc_act": True}, 3, N * 16 + K * 32),
    ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, 4, 2 * N * (16 + 4)),
    ({"quant_method": "awq", "w_bit": 4, "q_group_size": 64, "zero_point": False}, 4, 4 * N * 16),
    ({"quant_method": "auto-round", "bits": 2, "group_size": 32, "sym": True}, 2, 8 * N * 16),
    ({"quant_method": "bitsandbytes", "load_in_8bit": True}, 8, N * 32),
    ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, 4, 4 * N * 32),
    (
        {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_use_double_quant": True},
        4, 4 * N * 8 + 4 * N // 256 * 32,
    ),
    (group({**FLOAT8, "strategy": "tensor"}, DYNAMIC), 8, 16),
    (group({**FLOAT8, "strategy": "tensor"}, {**DYNAMIC, "dynamic": False}), 8, 2 * 16),
    (group({**FLOAT8, "strategy": "channel"}, DYNAMIC), 8, N * 16),
    (group({**FLOAT8, "strategy": "channel", "scale_dtype": "torch.float32"}, DYNAMIC), 8, N * 32),
    (group({**FLOAT8, "strategy": "block", "block_structure": [128, 64]}, DYNAMIC), 8, 3 * 4 * 16),
    (group(INT4), 4, 2 * N * 16),
    (group({**INT4, "symmetric": False}), 4, 2 * N * (16 + 4)),
    (group({**INT4, "actorder": "group"}), 4, 2 * N * 16 + K * 32),
    (group({**INT4, "actorder": "weight"}), 4, 2 * N * 16),
    (group({**INT4, "scale_dtype": None}, {"num_bits": 8, "type": "int", "dynamic": True}), 4, 2 * N * 16),
    (group(INT4, {"num_bits": 8, "type": "int", "dynamic": True}, format="int-quantized"), 8, 2 * N * 16),
    (group({"num_bits": 8, "type": "int", "strategy": "channel"}, {"num_bits": 8, "dynamic": True}), 8, N * 16),
    (group({"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16}), 4, 16 * N * 8 + 32),
    (
        group(
            {"num_bits": 4, "type": "float", "strategy": "tensor_group", "group_size": 16},
            {"num_bits": 4, "type": "float", "dynamic": "local"},
        ),
        4, 16 * N * 8 + 2 * 32,
    ),
    (group({"num_bits": 4, "type": "float", "strategy": "group", "group_size": 32}), 4, 8 * N * 8),
    ({"quant_method": "modelopt", "quant_algo": "FP8"}, 8, 2 * 32),
    ({"quant_algo": "NVFP4", "group_size": 16}, 4, 16 * N * 8 + 2 * 32),
    ({"quant_method": "modelopt", "quant_algo": "FP8_PB_WO"}, 8, 2 * 3 * 32),
    ({"quant_method": "modelopt", "quant_algo": "MXFP8"}, 8, 8 * N * 8),
    ({"bits": 4, "group_size": 64}, 4, 4 * N * (16 + 16)),
    ({"bits": 4, "group_size": 32, "mode": "mxfp4"}, 4, 8 * N * 8),
    ({"quant_method": "quark", "global_quant_config": QUARK_FP8}, 8, 32),
    ({"quant_method": "quark", "global_quant_config": MX}, 4, 8 * N * 8),
    ({"quant_method": "hqq", "quant_config": HQQ}, 4, 4 * N * (16 + 16)),
    ({"quant_method": "eetq", "weights": "int8"}, 8, N * 16),
    (
        {"quant_method": "torchao", "quant_type": "int4_weight_only", "quant_type_kwargs": {"group_size": 32}},
        4, 8 * N * 32,
    ),
    (
        {"quant_method": "torchao", "quant_type": {"default": {"_type": "Int8WeightOnlyConfig", "_data": {}}}},
        8, N * 16,
    ),
    ({"quant_method": "bitnet"}, 2, 16),
    # 16-bit codes for 8 inputs, a scale for each output, one codebook of 2^16 vectors of 8.
    ({"quant_method": "aqlm", "nbits_per_codebook": 16}, 0, K // 8 * N * 16 + N * 16 + 2**16 * 8 * 16),
    (
        {"quant_method": "aqlm", "nbits_per_codebook": 8, "num_codebooks": 2},
        0, K // 8 * N * 16 + N * 16 + 2 * 2**8 * 8 * 16,
    ),
]  # fmt: skip


@pytest.mark.parametrize(("document", "bits", "beside"), STORED)
def test_a_matrix_has_its_elements_and_all_that_is_kept_beside_them(
    document: dict[str, Any], bits: int, beside: int
) -> None:
    stored = scheme(**document).default
    assert stored is not None
    assert stored.matrix_bytes(K, N) == (K * N * bits + beside) // 8


@pytest.mark.parametrize(
    ("document", "dtype"),
    [
        (group(INT4), "bf16"),
        (group(INT4, {"num_bits": 8, "type": "int"}), "int8"),
        (group(INT4, DYNAMIC), "fp8"),
        (group({**FLOAT8, "strategy": "channel"}, DYNAMIC), "fp8"),
        (group({**FLOAT8, "strategy": "channel"}), "bf16"),
        ({"quant_algo": "NVFP4"}, "fp4"),
        ({"quant_algo": "W4A16_NVFP4"}, "bf16"),
        ({"quant_method": "eetq"}, "bf16"),
        ({"quant_method": "bitnet"}, "int8"),
        ({"quant_method": "quark", "global_quant_config": QUARK_FP8}, "bf16"),
        (
            {"quant_method": "quark", "global_quant_config": {**QUARK_FP8, "input_tensors": {"dtype": "fp8_e4m3"}}},
            "fp8",
        ),
    ],
)
def test_products_are_in_the_dtype_of_the_activations_scheme(document: dict[str, Any], dtype: str) -> None:
    stored = scheme(**document).default
    assert stored is not None
    assert ("bf16" if stored.weight_only else stored.dtype) == dtype


def test_a_ragged_edge_has_whole_scales() -> None:
    rows, columns = 7168, 576  # DeepSeek-V3's kv_a_proj: 576 is four and a half tiles
    stored = WEIGHT_FORMATS["fp8-block128"].matrix_bytes(rows, columns)
    assert stored == rows * columns + 4 * ceil(rows / 128) * ceil(columns / 128)
    assert ceil(columns / 128) == 5


def test_groups_that_do_not_divide_are_whole() -> None:
    rows, columns = 200, 8  # two groups of 128, the second of which has 72 rows
    assert WEIGHT_FORMATS["int4-g128"].matrix_bytes(rows, columns) == (rows * columns * 4 + 2 * columns * 20) // 8


@pytest.mark.parametrize(
    ("document", "cache"),
    [
        ({"quant_algo": "FP8", "kv_cache_quant_algo": "FP8"}, "fp8"),
        ({"quant_algo": "FP8", "kv_cache_quant_algo": "INT8"}, "int8"),
        ({"quant_algo": "NVFP4", "kv_cache_quant_algo": "NVFP4"}, None),
        (group(INT4, kv_cache_scheme={"num_bits": 8, "type": "float"}), "fp8"),
        (group(INT4, kv_cache_scheme={"num_bits": 8, "type": "int"}), "int8"),
        (group(INT4, kv_cache_scheme=None), None),
        ({"quant_method": "fp8", "kv_cache_scheme": "static"}, "fp8"),
    ],
)
def test_the_cache_that_a_checkpoint_is_made_for(document: dict[str, Any], cache: str | None) -> None:
    assert scheme(**document).cache == cache


@pytest.mark.parametrize(
    "document",
    [{"quant_method": "quip"}, {"quant_method": 4}, {"bits": 4}, {"quant_method": "vptq"}, {"quant_method": "spqr"}],
)
def test_what_is_not_known_is_refused_by_name(document: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="quant_method"):
        scheme(**document)


@pytest.mark.parametrize(
    ("document", "key"),
    [
        ({"quant_algo": "W4A8_AWQ"}, "quant_algo"),
        ({"quant_algo": "MIXED_PRECISION"}, "quantized_layers"),
        (group({"num_bits": 3, "type": "int"}), "num_bits"),
        (group({"num_bits": 6, "type": "float"}), "num_bits"),
        (group(INT4, format="sparse-24-bitmask"), "format"),
        (group(INT4, sparsity_config={"format": "sparse-24-bitmask"}), "sparsity_config"),
        (group(INT4, transform_config={"config_groups": {"u": {}}}), "transform_config"),
        ({"quant_method": "hqq", "quant_config": {**HQQ, "scale_quant_params": {"nbits": 8}}}, "scale_quant_params"),
        ({"quant_method": "torchao", "quant_type": "autoquant"}, "_type"),
        ({"quant_method": "auto-round", "data_type": "mx_fp"}, "data_type"),
        ({"quant_method": "quark", "global_quant_config": {"weight": [{}, {}]}}, "weight"),
        ({"quant_method": "aqlm", "out_group_size": 8}, "out_group_size"),
        ({"bits": 7, "group_size": 64}, "bits"),
    ],
)
def test_what_its_keys_do_not_tell_is_refused_by_name(document: dict[str, Any], key: str) -> None:
    with pytest.raises(InputError, match=key):
        scheme(**document)


@pytest.mark.parametrize("name", registry.names(FOLDER))
def test_every_file_of_the_folder_is_a_method(name: str) -> None:
    module = registry.module(FOLDER, name)
    assert module.METHODS
    assert set(module.METHODS) <= set(methods())
    assert "Source" in (inspect.getdoc(module) or "")
    keys = Keys({"quant_method": module.METHODS[0]}, "config.json")
    read_scheme(keys)  # whatever it lacks is a fault, never an exception
