"""Which matrix of which layer has which format: rules that name modules, followed to a model's bytes and a step's."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from mansard.forward import operators
from mansard.inputs.engine import load_engine
from mansard.inputs.model import ModelConfig
from mansard.inputs.scenario import Deployment
from mansard.inputs.storage import format_shares
from mansard.memory import weight_bytes
from mansard.models import load_model, read_config

# H hidden, F feed-forward, V vocabulary, L layers; D the columns of keys and of values: two heads of 16.
H, F, V, L, D = 128, 256, 512, 4, 32
LLAMA: dict[str, Any] = {
    "model_type": "llama", "hidden_size": H, "num_attention_heads": 8, "num_key_value_heads": 2, "num_hidden_layers": L,
    "intermediate_size": F, "vocab_size": V, "torch_dtype": "bfloat16", "tie_word_embeddings": False,
}  # fmt: skip
E = 4  # experts of width M, in the layers of a mixture
M = 64
MIXTURE = LLAMA | {
    "model_type": "qwen3_moe", "head_dim": 16, "num_experts": E, "num_experts_per_tok": 2, "moe_intermediate_size": M,
    "mlp_only_layers": [0],
}  # fmt: skip
Q, KEYS, UP = H * H, H * D, H * F
ATTENTION, FEED_FORWARD = 2 * Q + 2 * KEYS, 3 * UP
OUTER = 2 * V * H + (2 * L + 1) * H  # embedding, head and norms
INT4 = {"num_bits": 4, "type": "int", "strategy": "group", "group_size": 128}
INT8 = {"num_bits": 8, "type": "int", "strategy": "channel"}


def model(quantization: dict[str, Any], base: dict[str, Any] = LLAMA, **changes: Any) -> ModelConfig:
    return read_config(base | changes | {"quantization_config": quantization}, "config.json")


def stored(found: ModelConfig) -> int:
    return weight_bytes(found, Deployment())


def formats(found: ModelConfig, layer: int) -> dict[str, str]:
    return {key: one.name for key, one in found.layers[layer].storage}


def codes(found: ModelConfig) -> list[str]:
    return [note.code for note in found.notes]


def int4(inputs: int, outputs: int) -> int:
    """Bytes in groups of 128 inputs with a 16-bit scale each."""
    return inputs * outputs // 2 + inputs // 128 * outputs * 2


def grouped(*groups: dict[str, Any], ignore: tuple[str, ...] = ("lm_head",)) -> dict[str, Any]:
    return {
        "quant_method": "compressed-tensors",
        "config_groups": {f"group_{place}": one for place, one in enumerate(groups)},
        "ignore": list(ignore),
    }


ALL4 = int4(H, H) * 2 + 2 * int4(H, D) + 2 * int4(H, F) + int4(F, H)


def test_all_linear_layers_but_the_head() -> None:
    assert stored(model(grouped({"targets": ["Linear"], "weights": INT4}))) == L * ALL4 + 2 * OUTER


def test_a_head_that_is_not_ignored_is_quantised() -> None:
    found = model(grouped({"targets": ["Linear"], "weights": INT4}, ignore=()))
    assert stored(found) == L * ALL4 + int4(H, V) + 2 * (OUTER - V * H)
    tied = model(grouped({"targets": ["Linear"], "weights": INT4}, ignore=()), tie_word_embeddings=True)
    assert stored(tied) == L * ALL4 + 2 * (OUTER - V * H)


def test_a_name_goes_before_a_class_and_what_is_ignored_before_both() -> None:
    found = model(
        grouped(
            {"targets": ["Linear"], "weights": INT4},
            {"targets": ["re:.*down_proj", "model.layers.1.self_attn.v_proj"], "weights": INT8},
            ignore=("lm_head", "re:.*layers\\.0\\..*", "model.layers.3.self_attn.q_proj"),
        )
    )
    int8_down, int8_v = F * H + 2 * H, H * D + 2 * D  # a 16-bit scale for each output
    first = 2 * (ATTENTION + FEED_FORWARD)
    usual = ALL4 - int4(F, H) + int8_down
    second = usual - int4(H, D) + int8_v
    last = usual - int4(H, H) + 2 * Q
    assert stored(found) == first + second + usual + last + 2 * OUTER
    assert formats(found, 1)["mixer.v_proj"] == "int8-channel"
    assert formats(found, 2)["mixer.v_proj"] == "int4-g128"
    assert len(found.distinct_layers) == 4


def test_alike_layers_stay_alike() -> None:
    found = model({"quant_method": "fp8", "modules_to_not_convert": ["model.layers.0.mlp"]})
    assert [count for _, count in found.distinct_layers] == [1, L - 1]


def test_a_step_reads_what_is_stored_and_computes_in_the_dtypes_of_the_formats() -> None:
    dynamic = {"num_bits": 8, "type": "float", "dynamic": True}
    weights = {"num_bits": 8, "type": "float", "strategy": "tensor"}
    found = model(
        grouped(
            {"targets": ["Linear"], "weights": weights, "input_activations": dynamic}, ignore=("lm_head", "re:.*v_proj")
        )
    )
    step = mansard.analyze(found, on="h100-sxm").decode
    names = {row.name: row for row in step.operators}
    assert {"q_proj+k_proj", "v_proj", "gate_up_proj"} <= set(names)
    assert "qkv_proj" not in names
    assert names["q_proj+k_proj"].bytes == L * (Q + KEYS + 2 * 2)
    assert names["v_proj"].bytes == L * 2 * KEYS
    dtypes = {op.name: op.dtype for op in operators(found, Deployment(), load_engine("ideal"))}
    assert dtypes["q_proj+k_proj"] == dtypes["gate_up_proj"] == "fp8"
    assert dtypes["v_proj"] == dtypes["lm_head"] == "bf16"


def test_ones_own_weights_replace_all_of_it() -> None:
    found = model(grouped({"targets": ["Linear"], "weights": INT4}, ignore=("re:.*mlp.*",)))
    plain = read_config(LLAMA, "config.json")
    asked = Deployment(weights="fp8")
    assert weight_bytes(found, asked) == weight_bytes(plain, asked) == L * (ATTENTION + FEED_FORWARD) + 2 * OUTER


def test_experts_routers_and_shared_names() -> None:
    rules = ["lm_head", "re:.*self_attn.*", "re:.*mlp\\.(gate|up|down)_proj.*"]  # the dense layer's, not the experts'
    found = model(grouped({"targets": ["Linear"], "weights": {**INT4, "group_size": 32}}, ignore=tuple(rules)), MIXTURE)
    assert formats(found, 0) == dict.fromkeys(formats(found, 0), "bf16")
    sparse = formats(found, 1)
    assert {key for key, name in sparse.items() if name == "int4-g32"} == {
        "expert.gate_proj", "expert.up_proj", "expert.down_proj",
    }  # fmt: skip
    assert sparse["router.router"] == "bf16"
    assert "router-format" in codes(found)
    one = 3 * H * M
    experts = (L - 1) * E * (one // 2 + one // 32 * 2)
    wide = L * ATTENTION + FEED_FORWARD + (L - 1) * H * E + OUTER + L * 2 * 16  # queries' and keys' norms
    assert stored(found) == experts + 2 * wide


def test_experts_of_one_layer_in_two_formats_are_refused() -> None:
    one = "model.layers.2.mlp.experts.1.down_proj"
    with pytest.raises(InputError, match="experts of layer 2 different formats"):
        model({"quant_method": "fp8", "modules_to_not_convert": [one]}, MIXTURE)
    every = [f"model.layers.2.mlp.experts.{number}.down_proj" for number in range(E)]
    found = model({"quant_method": "fp8", "modules_to_not_convert": every}, MIXTURE)
    assert formats(found, 2)["expert.down_proj"] == "bf16"
    assert formats(found, 3)["expert.down_proj"] == "fp8"


@pytest.mark.parametrize(
    ("model_type", "pattern", "key"),
    [
        ("mixtral", "model.layers.1.block_sparse_moe.experts.*.w2", "expert.down_proj"),
        ("mixtral", "re:.*experts\\.\\d+\\.w1$", "expert.gate_proj"),
        ("phi3", "model.layers.1.self_attn.qkv_proj", "mixer.k_proj"),
        ("gpt_neox", "gpt_neox.layers.1.attention.dense", "mixer.o_proj"),
        ("starcoder2", "model.layers.1.mlp.c_fc", "feed_forward.up_proj"),
    ],
)
def test_families_have_names_of_their_own(model_type: str, pattern: str, key: str) -> None:
    own = {"model_type": model_type} | (
        {"num_local_experts": E, "num_experts_per_tok": 2} if model_type == "mixtral" else {}
    )
    found = model({"quant_method": "fp8", "modules_to_not_convert": [pattern]}, LLAMA | own)
    assert formats(found, 1)[key] == "bf16"
    assert "fp8" in formats(found, 1).values()
    assert "unknown-modules" not in codes(found)


@pytest.mark.parametrize("prefix", ["model.", "language_model.model.", "model.language_model.", "language_model."])
def test_a_language_model_inside_another_has_several_prefixes(prefix: str) -> None:
    inner = LLAMA | {"model_type": "gemma3_text", "sliding_window": 8, "head_dim": 16}
    skipped = {"quant_method": "fp8", "modules_to_not_convert": [f"{prefix}layers.2.mlp.down_proj", "vision_tower"]}
    outer = {"model_type": "gemma3", "text_config": inner, "quantization_config": skipped}
    found = read_config(outer, "config.json")
    assert formats(found, 2)["feed_forward.down_proj"] == "bf16"
    assert formats(found, 1)["feed_forward.down_proj"] == "fp8"
    assert "unknown-modules" not in codes(found)


def test_the_rules_of_gptq_for_single_modules() -> None:
    dynamic = {
        "-:.*layers\\.0\\..*": {},
        "+:.*\\.down_proj": {"bits": 8, "group_size": 64},
        ".*k_proj": {"desc_act": True},
    }
    found = model({"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True, "dynamic": dynamic})
    assert set(formats(found, 0).values()) == {"bf16"}
    down = F * H + F // 64 * H * 2
    keys = int4(H, D) + 4 * H  # 32 bits for each input
    layer = ALL4 - int4(F, H) + down - int4(H, D) + keys
    assert stored(found) == 2 * (ATTENTION + FEED_FORWARD) + (L - 1) * layer + 2 * OUTER


def test_gptq_may_name_the_only_modules_and_the_head() -> None:
    only = {
        "quant_method": "gptq",
        "bits": 4,
        "sym": True,
        "modules_in_block_to_quantize": [["self_attn.q_proj"], ["mlp.up_proj"]],
    }
    assert stored(model(only)) == L * (
        int4(H, H) + int4(H, F) + 2 * (ATTENTION + FEED_FORWARD - Q - UP)
    ) + 2 * OUTER  # fmt: skip
    head = {"quant_method": "gptq", "bits": 4, "group_size": 128, "sym": True, "lm_head": True}
    assert stored(model(head)) == L * ALL4 + int4(H, V) + 2 * (OUTER - V * H)


def test_widths_of_modules_in_auto_round() -> None:
    extra = {"model.layers.0.self_attn.q_proj": {"bits": 16, "data_type": "float"}, ".*layers\\.3\\.mlp.*": {"bits": 8}}
    found = model({"quant_method": "auto-round", "bits": 4, "group_size": 128, "sym": True, "extra_config": extra})
    assert formats(found, 0)["mixer.q_proj"] == "bf16"
    assert formats(found, 3)["feed_forward.up_proj"] == "int8-g128"
    assert formats(found, 2)["feed_forward.up_proj"] == "int4-g128"


def test_wildcards_of_modelopt() -> None:
    excluded = ["lm_head", "model.layers.1*", "*.mlp.up_proj", "model.layers.3.self_attn*", "model.layers.4*"]
    found = model({"quant_algo": "NVFP4", "group_size": 16, "exclude_modules": excluded}, num_hidden_layers=L)
    assert set(formats(found, 1).values()) == {"bf16"}
    assert {key for key, name in formats(found, 0).items() if name == "bf16"} == {"feed_forward.up_proj"}
    assert {key for key, name in formats(found, 3).items() if name == "nvfp4"} == {
        "feed_forward.gate_proj", "feed_forward.down_proj",
    }  # fmt: skip
    assert "unknown-modules" not in codes(found)  # layer 4 is none of these: an extra prediction layer


def test_mixed_precision_of_modelopt() -> None:
    layers = {
        "model.layers.0.self_attn.q_proj": {"quant_algo": "FP8"},
        "model.layers.2.mlp.down_proj": {"quant_algo": "NVFP4", "group_size": 16},
        "lm_head": {"quant_algo": "FP8"},
    }
    found = model({"quant_algo": "MIXED_PRECISION", "kv_cache_quant_algo": "FP8", "quantized_layers": layers})
    wide = L * (ATTENTION + FEED_FORWARD) - Q - UP + OUTER - V * H
    assert stored(found) == 2 * wide + (Q + 8) + (UP // 2 + UP // 16 + 8) + (V * H + 8)


def test_mlx_quantises_the_embedding_and_what_is_tied_to_it() -> None:
    own = {"group_size": 64, "bits": 4, "model.layers.1.mlp.down_proj": {"group_size": 32, "bits": 8},
           "model.layers.2.self_attn.o_proj": False}  # fmt: skip
    found = read_config(
        LLAMA | {"quantization": own, "quantization_config": own, "tie_word_embeddings": True}, "x.json"
    )

    def four(elements: int) -> int:
        return elements // 2 + elements // 64 * 4  # a 16-bit scale and a 16-bit bias for 64

    usual = four(ATTENTION + FEED_FORWARD)
    second = usual - four(UP) + UP + UP // 32 * 4
    third = usual - four(Q) + 2 * Q
    assert stored(found) == 2 * usual + second + third + four(V * H) + 2 * (2 * L + 1) * H
    step = mansard.analyze(found, on="h100-sxm").decode
    read = {row.name: row.bytes for row in step.operators}
    assert read["embedding"] == four(H)
    assert read["lm_head"] == four(V * H)


def test_patterns_of_quark() -> None:
    fp8 = {"weight": {"dtype": "fp8_e4m3", "qscheme": "per_tensor"}}
    config = {
        "quant_method": "quark", "global_quant_config": fp8, "exclude": ["lm_head", "re:.*layers\\.0\\..*"],
        "layer_quant_config": {"*v_proj": {"weight": {"dtype": "int8", "qscheme": "per_channel"}}},
    }  # fmt: skip
    found = model(config)
    assert set(formats(found, 0).values()) == {"bf16"}
    assert formats(found, 1)["mixer.v_proj"] == "int8-channel"
    assert formats(found, 1)["mixer.k_proj"] == "fp8-tensor"


def test_what_names_nothing_is_noted() -> None:
    names = [
        "lm_head",
        "model.norm",
        "model.layers.0.input_layernorm",
        "visual",
        "mtp*",
        "frobnicate",
        "model.layers.1.mlp.gat",
    ]
    found = model({"quant_method": "fp8", "modules_to_not_convert": names})
    texts = [note.text for note in found.notes if note.code == "unknown-modules"]
    assert len(texts) == 1
    assert "'frobnicate'" in texts[0]
    assert "'model.layers.1.mlp.gat'" in texts[0]
    assert "visual" not in texts[0]


def test_the_cache_is_the_one_that_the_checkpoint_is_made_for() -> None:
    found = model({"quant_algo": "FP8", "kv_cache_quant_algo": "FP8", "exclude_modules": ["lm_head"]})
    per_token = L * 2 * D
    at = {"on": "h100-sxm", "prompt": 100, "output": 1}
    assert mansard.analyze(found, **at).memory.cache_bytes == 100 * per_token
    assert mansard.analyze(found, **at, kv="bf16").memory.cache_bytes == 100 * per_token * 2
    assert "cache-format" in codes(found)


def test_formats_are_told_with_their_shares() -> None:
    found = model({"quant_method": "fp8", "modules_to_not_convert": ["mlp"]})
    total = L * (ATTENTION + FEED_FORWARD) + OUTER
    shares = dict(format_shares(found))
    assert shares["fp8"] == pytest.approx(L * ATTENTION / total)
    assert shares["bf16"] == pytest.approx(1 - L * ATTENTION / total)
    document = mansard.show(found).to_dict()
    assert document["layers"][0]["storage"]["mixer.q_proj"] == "fp8"


def test_the_published_mixture_of_formats() -> None:
    found = load_model("gpt-oss-120b")
    assert [name for name, _ in format_shares(found)] == ["mxfp4", "bf16"]
    assert {name for key, name in formats(found, 0).items() if key.startswith("expert")} == {"mxfp4"}
