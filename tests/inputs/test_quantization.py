"""How checkpoints store their weights, to the last scale and zero point."""

from math import ceil
from typing import Any

import pytest

from mansard.errors import InputError
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import Quantization
from mansard.inputs.quantization import read_quantization
from mansard.precision import WEIGHT_FORMATS


def read(**document: Any) -> Quantization:
    keys = Keys(document, "config.json", "quantization_config.")
    found = read_quantization(keys)
    keys.finish()
    assert found is not None
    return found


@pytest.mark.parametrize(
    ("document", "bits"),
    [
        ({"quant_method": "modelopt", "quant_algo": "FP8"}, 8),
        ({"quant_method": "modelopt", "quant_algo": "NVFP4"}, 4 + 8 / 16),
        ({"quant_method": "awq", "bits": 4, "group_size": 128, "zero_point": True}, 4 + (16 + 4) / 128),
        ({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True}, 4 + 16 / 128),
        ({"quant_method": "gptq", "bits": 8, "group_size": 128, "sym": True}, 8 + 16 / 128),
        ({"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4"}, 4 + 32 / 64),
        (
            {"quant_method": "bitsandbytes", "load_in_4bit": True, "bnb_4bit_quant_type": "nf4",
             "bnb_4bit_use_double_quant": True},
            4 + (8 + 32 / 256) / 64,
        ),
        ({"quant_method": "fp8", "weight_block_size": [128, 128]}, 8 + 32 / (128 * 128)),
        ({"quant_method": "fp8"}, 8),
        ({"quant_method": "mxfp4"}, 4 + 8 / 32),
    ],
)  # fmt: skip
def test_bits_per_weight(document: dict[str, Any], bits: float) -> None:
    assert read(**document).linear.bits_per_weight == bits


def test_a_ragged_edge_has_whole_scales() -> None:
    rows, columns = 7168, 576  # DeepSeek-V3's kv_a_proj: 576 is four and a half tiles
    stored = WEIGHT_FORMATS["fp8-block128"].matrix_bytes(rows, columns)
    assert stored == rows * columns + 4 * ceil(rows / 128) * ceil(columns / 128)
    assert ceil(columns / 128) == 5


def test_groups_that_do_not_divide_are_whole() -> None:
    rows, columns = 200, 8  # two groups of 128, the second of which has 72 rows
    assert WEIGHT_FORMATS["int4-g128"].matrix_bytes(rows, columns) == (rows * columns * 4 + 2 * columns * 20) // 8


def test_compressed_tensors() -> None:
    weights = {"num_bits": 4, "type": "int", "symmetric": True, "strategy": "group", "group_size": 128}
    found = read(
        quant_method="compressed-tensors",
        config_groups={"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None}},
        ignore=["lm_head"],
    )
    assert found.linear.bits_per_weight == 4 + 16 / 128
    assert found.linear.weight_only
    floats = {"num_bits": 8, "type": "float", "strategy": "channel"}
    both = read(
        quant_method="compressed-tensors",
        config_groups={"group_0": {"weights": floats, "input_activations": {"num_bits": 8}}},
    )
    assert both.linear.dtype == "fp8"
    assert not both.linear.weight_only


@pytest.mark.parametrize("document", [{"quant_method": "quip"}, {"quant_method": 4}, {"bits": 4}])
def test_what_is_not_known_is_refused_by_name(document: dict[str, Any]) -> None:
    with pytest.raises(InputError, match="quant_method"):
        read(**document)
