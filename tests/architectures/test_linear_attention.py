"""Linear attention, gated recurrences and short convolutions: parameters, state, work and bytes derived by hand."""

from typing import Any

import pytest

import mansard
from mansard.errors import InputError
from mansard.inputs.mixers import Attention, LatentAttention, Recurrence
from mansard.inputs.model import encoder_parameters
from mansard.models import read_config

H100 = "h100-sxm"
# h hidden, N query and M key/value heads of D, L layers, W vocabulary, F feed-forward, E experts of f, s shared.
h, N, M, D, L, W, F, E, f, s = 64, 4, 2, 32, 8, 100, 48, 6, 24, 20
# Delta layers: H value heads of V, G key heads of K, C convolved channels over k tokens.
H, G, K, V, k = 4, 2, 12, 20, 4
C = 2 * G * K + H * V


def read(document: dict[str, Any], **changes: Any) -> mansard.ModelConfig:
    return read_config(document | changes, "config.json")


def faults(document: dict[str, Any], **changes: Any) -> set[str]:
    with pytest.raises(InputError) as refused:
        read(document, **changes)
    return {fault.key for fault in refused.value.faults}


def notes(model: mansard.ModelConfig, code: str) -> list[str]:
    return [note.text for note in model.notes if note.code == code]


def mixers(model: mansard.ModelConfig, kind: type) -> list[int]:
    """The numbers of the layers that have a mixer of a kind."""
    return [index for index, layer in enumerate(model.layers) if isinstance(layer.mixer, kind)]


COMMON: dict[str, Any] = {
    "hidden_size": h, "num_attention_heads": N, "num_key_value_heads": M, "num_hidden_layers": L, "vocab_size": W,
    "intermediate_size": F, "dtype": "bfloat16", "tie_word_embeddings": False,
}  # fmt: skip
DELTA = {
    "linear_num_value_heads": H, "linear_num_key_heads": G, "linear_key_head_dim": K, "linear_value_head_dim": V,
    "linear_conv_kernel_dim": k,
}  # fmt: skip
EXPERTS = {"num_experts": E, "num_experts_per_tok": 2, "moe_intermediate_size": f, "shared_expert_intermediate_size": s}
NEXT: dict[str, Any] = COMMON | DELTA | EXPERTS | {"model_type": "qwen3_next", "head_dim": D}
DENSE: dict[str, Any] = {"model_type": "qwen3_5_text", "head_dim": D} | COMMON | DELTA

# Products of a delta layer: q, k, v and gate, decay and rate, and the way back; then what lies beside them.
DELTA_MATRICES = h * (2 * G * K + 2 * H * V) + h * 2 * H + H * V * h
DELTA_LAYER = DELTA_MATRICES + C * k + 2 * H + V
GATED_MATRICES = h * (2 * N * D + 2 * M * D) + N * D * h
GATED_LAYER = GATED_MATRICES + 2 * D
MIXTURE = h * E + E * 3 * h * f + 3 * h * s + h


class TestQwen:
    def test_parameters_by_hand(self) -> None:
        linear, full = L - L // 4, L // 4
        layers = linear * DELTA_LAYER + full * GATED_LAYER + L * (2 * h + MIXTURE)
        assert read(NEXT).parameters == layers + 2 * W * h + h
        idle = L * (E - 2) * 3 * h * f
        assert read(NEXT).parameters_active == layers + 2 * W * h + h - idle

    def test_dense_layers_by_step_by_list_and_without_experts(self) -> None:
        per_layer = MIXTURE - 3 * h * F
        assert read(NEXT).parameters - read(NEXT, decoder_sparse_step=2).parameters == L // 2 * per_layer
        assert read(NEXT).parameters - read(NEXT, mlp_only_layers=[1, 5]).parameters == 2 * per_layer
        assert read(NEXT).parameters - read(NEXT, num_experts=0).parameters == L * per_layer

    def test_products_apart_or_together_are_the_same_model(self) -> None:
        linear, full = L - L // 4, L // 4
        layers = linear * DELTA_LAYER + full * GATED_LAYER + L * (2 * h + 3 * h * F)
        assert read(DENSE).parameters == layers + 2 * W * h + h
        first = read(DENSE).layers[0].mixer
        assert isinstance(first, Recurrence)
        assert [matrix.columns for matrix in first.projections] == [C, H * V, H, H]

    def test_state_and_cache(self) -> None:
        model = read(NEXT)
        assert model.cache_elements_per_token == L // 4 * 2 * M * D
        assert model.state_elements == (L - L // 4) * H * K * V
        assert model.convolution_state_elements == (L - L // 4) * C * k
        assert model.state_dtype == "fp32"

    def test_work_of_a_token(self) -> None:
        """Matrix work is that of the matrices and of attention; the scan is vector work, once for each token."""
        attended, linear, full = 512, L - L // 4, L // 4
        found = mansard.step(read(DENSE), on=H100, context=attended)
        matrices = linear * DELTA_MATRICES + full * GATED_MATRICES + L * 3 * h * F + h * W
        assert found.flops == 2 * matrices + full * 4 * N * D * attended
        rows = {row.name: row for row in found.operators}
        each = 7 * H * K * V + 7 * H * V + 10 * H + 7 * G * K + 4 * C
        assert rows["gated_delta_scan"].vector_flops == linear * each
        assert rows["short_convolution"].vector_flops == linear * 2 * k * C
        assert rows["output_gate"].vector_flops == full * (4 + 1) * N * D
        assert rows["rotary"].vector_flops == full * 3 * (N + M) * (D // 4)
        assert rows["gated_delta_norm"].vector_flops == linear * 4 * H * V

    def test_a_prompt_is_counted_once_for_each_token(self) -> None:
        found = mansard.analyze(read(DENSE), on=H100, prompt=64).prefill
        scan = next(row for row in found.operators if row.kind == "scan")
        each = 7 * H * K * V + 7 * H * V + 10 * H + 7 * G * K + 4 * C
        assert scan.vector_flops == 64 * (L - L // 4) * each
        assert (scan.cache_read_bytes, scan.cache_write_bytes) == (0, (L - L // 4) * 4 * H * K * V)

    def test_biases_are_on_queries_gate_keys_values_and_output(self) -> None:
        biases = L // 4 * (2 * N * D + 2 * M * D + h)
        assert read(NEXT, attention_bias=True).parameters - read(NEXT).parameters == biases

    @pytest.mark.parametrize("each", [1, 2, 3, 8])
    def test_every_nth_layer_has_attention(self, each: int) -> None:
        by_interval = read(NEXT, full_attention_interval=each)
        assert mixers(by_interval, Attention) == [index for index in range(L) if (index + 1) % each == 0]
        listed = ["full_attention" if (index + 1) % each == 0 else "linear_attention" for index in range(L)]
        assert read(NEXT, layer_types=listed).layers == by_interval.layers

    def test_a_list_goes_before_the_interval_with_a_note(self) -> None:
        kinds = ["full_attention"] * 2 + ["linear_attention"] * (L - 2)
        model = read(NEXT, layer_types=kinds, full_attention_interval=4)
        assert mixers(model, Attention) == [0, 1]
        assert any("full_attention_interval" in text for text in notes(model, "ignored-key"))
        agreed = ["full_attention" if index % 4 == 3 else "linear_attention" for index in range(L)]
        assert notes(read(NEXT, layer_types=agreed, full_attention_interval=4), "ignored-key") == []

    def test_what_is_refused(self) -> None:
        assert faults(NEXT, layer_types=["mamba"] * L) == {"layer_types"}
        assert faults(NEXT, layer_types=["linear_attention"]) == {"layer_types"}
        assert faults(NEXT, linear_num_key_heads=3) == {"linear_num_key_heads"}
        assert faults(NEXT, full_attention_interval=0) == {"full_attention_interval"}
        assert faults(NEXT, attn_output_gate=False) == {"attn_output_gate"}
        assert faults(NEXT, full_attention_interval=0, linear_num_key_heads=3, num_experts_per_tok=9) == {
            "full_attention_interval", "linear_num_key_heads", "num_experts_per_tok",
        }  # fmt: skip

    def test_a_composite_is_read_by_its_language_model(self) -> None:
        sparse = {**{key: value for key, value in NEXT.items() if key != "model_type"}, "mtp_num_hidden_layers": 1}
        model = read({"model_type": "qwen3_5_moe", "text_config": sparse, "tie_word_embeddings": True})
        assert model.head is not None
        assert not model.head.tied  # the language model's own word goes first
        tower = sum(encoder_parameters(one) for one in model.encoders)
        assert tower > 0
        assert model.parameters == read(NEXT).parameters + tower
        assert len(notes(model, "prediction-layers")) == 1
        assert "text_config" in faults({**sparse, "model_type": "qwen3_5_moe"})
        assert faults({"model_type": "qwen3_5_moe", "text_config": sparse | {"mlp_only_layers": [0]}}) == {
            "text_config.mlp_only_layers"
        }

    def test_the_state_has_the_dtype_that_is_named(self) -> None:
        models = read(NEXT), read(NEXT, mamba_ssm_dtype="bfloat16")
        wide, narrow = (mansard.analyze(model, on=H100).memory.state_bytes for model in models)
        assert wide - narrow == 2 * (L - L // 4) * H * K * V


class TestKimi:
    r, nope, rope, v, width, heads = 16, 8, 4, 12, 10, 3
    document: dict[str, Any] = COMMON | {
        "model_type": "kimi_linear", "kv_lora_rank": r, "qk_nope_head_dim": nope, "qk_rope_head_dim": rope,
        "v_head_dim": v, "num_experts": E, "num_experts_per_token": 2, "num_shared_experts": 2,
        "moe_intermediate_size": f, "first_k_dense_replace": 1,
        "linear_attn_config": {
            "full_attn_layers": [4, 8], "kda_layers": [1, 2, 3, 5, 6, 7], "head_dim": width, "num_heads": heads,
            "short_conv_kernel_size": k,
        },
    }  # fmt: skip

    def test_parameters_by_hand(self) -> None:
        whole = self.heads * self.width
        matrices = 3 * h * whole + 2 * (h * self.width + self.width * whole) + h * self.heads + whole * h
        delta = matrices + 3 * whole * k + self.heads + whole + self.width
        latent = h * N * (self.nope + self.rope) + h * (self.r + self.rope) + self.r
        latent += self.r * N * (self.nope + self.v) + N * self.v * h
        sparse = h * E + E * 3 * h * f + 3 * h * 2 * f
        layers = 6 * delta + 2 * latent + 3 * h * F + (L - 1) * sparse + L * 2 * h
        model = read(self.document)
        assert model.parameters == layers + 2 * W * h + h
        assert model.cache_elements_per_token == 2 * (self.r + self.rope)
        assert model.state_elements == 6 * whole * self.width
        assert model.convolution_state_elements == 6 * 3 * whole * k

    def test_layers_are_numbered_from_one(self) -> None:
        assert mixers(read(self.document), LatentAttention) == [3, 7]

    def test_each_layer_is_named_once(self) -> None:
        for full, delta in (([4], [1, 2, 3]), ([1, 4, 8], [1, 2, 3, 5, 6, 7]), ([0, 4], [1, 2, 3, 5, 6, 7])):
            own = self.document["linear_attn_config"] | {"full_attn_layers": full, "kda_layers": delta}
            assert all(key.startswith("linear_attn_config.") for key in faults(self.document, linear_attn_config=own))

    def test_other_words_for_the_same(self) -> None:
        flat = {key: value for key, value in self.document.items() if key != "linear_attn_config"}
        kinds = ["full_attention" if index in (3, 7) else "linear_attention" for index in range(L)]
        sizes = {"linear_head_dim": self.width, "linear_num_heads": self.heads, "linear_conv_kernel_dim": k}
        assert read(flat, layer_types=kinds, **sizes).layers == read(self.document).layers
        by_class = read(flat, **sizes)
        assert mixers(by_class, LatentAttention) == [4]
        assert any("fourth" in text for text in notes(by_class, "class-default"))

    def test_latent_attention_rotates_nothing(self) -> None:
        rows = [row.name for row in mansard.step(read(self.document), on=H100, context=64).operators]
        assert "rotary" not in rows
        assert "kimi_delta_scan" in rows
        assert faults(self.document, mla_use_nope=False) == {"mla_use_nope"}

    def test_work_of_the_scan(self) -> None:
        rows = mansard.step(read(self.document), on=H100, context=64).operators
        whole = self.heads * self.width
        assert sum(row.vector_flops for row in rows if row.kind == "scan") == 6 * (
            7 * whole * self.width + 20 * whole + 4 * self.heads + 4 * 3 * whole
        )

    def test_the_class_never_ties_its_head(self) -> None:
        tied = read(self.document, tie_word_embeddings=True)
        assert tied.parameters == read(self.document).parameters
        assert any("tie_word_embeddings" in text for text in notes(tied, "ignored-key"))


class TestBailing:
    r, nope, rope, v, width = 16, 8, 4, 12, 10
    document: dict[str, Any] = COMMON | {
        "model_type": "bailing_hybrid", "kv_lora_rank": r, "qk_nope_head_dim": nope, "qk_rope_head_dim": rope,
        "v_head_dim": v, "num_experts": E, "num_experts_per_token": 2, "num_shared_experts": 1,
        "moe_intermediate_size": f, "first_k_dense_replace": 2, "layer_group_size": 4, "head_dim": width,
        "short_conv_kernel_size": k,
    }  # fmt: skip

    def test_parameters_by_hand(self) -> None:
        whole = N * self.width
        delta = 5 * h * whole + h * N + whole * h + 3 * whole * k + N + whole + self.width
        latent = h * N * (self.nope + self.rope) + h * (self.r + self.rope) + self.r
        latent += self.r * N * (self.nope + self.v) + N * self.v * h + h * N
        sparse = h * E + E * 3 * h * f + 3 * h * f
        layers = 6 * delta + 2 * latent + 2 * 3 * h * F + (L - 2) * sparse + L * 2 * h
        model = read(self.document)
        assert model.parameters == layers + 2 * W * h + h
        assert mixers(model, LatentAttention) == [3, 7]
        assert (model.state_elements, model.cache_elements_per_token) == (6 * whole * self.width, 2 * (16 + 4))

    def test_a_gate_on_each_head_of_latent_attention(self) -> None:
        rows = mansard.step(read(self.document), on=H100, context=64).operators
        gates = [row for row in rows if row.name == "output_gate"]
        assert sum(row.vector_flops for row in gates) == 2 * (4 * N + N * self.v)

    def test_the_keys_of_files_that_the_class_has_written(self) -> None:
        written = {"linear_head_dim": self.width, "linear_num_heads": N, "linear_conv_kernel_dim": k}
        again = read(self.document, head_dim=self.rope, **written)
        assert again.parameters == read(self.document).parameters


class TestMiniMax:
    document: dict[str, Any] = COMMON | {
        "model_type": "minimax_text_01", "head_dim": D, "num_local_experts": E, "num_experts_per_tok": 2,
        "attn_type_list": [0, 0, 0, 1] * 2, "rotary_dim": 8,
    }  # fmt: skip

    def test_parameters_by_hand(self) -> None:
        lightning = h * 3 * N * D + h * N * D + N * D * h + N * D
        softmax = h * (N + 2 * M) * D + N * D * h
        layers = 6 * lightning + 2 * softmax + L * (h * E + E * 3 * h * F + 2 * h)
        model = read(self.document)
        assert model.parameters == layers + 2 * W * h + h
        assert (model.state_elements, model.convolution_state_elements) == (6 * N * D * D, 0)
        assert model.cache_elements_per_token == 2 * 2 * M * D

    def test_work_of_a_token(self) -> None:
        rows = {row.name: row for row in mansard.step(read(self.document), on=H100, context=64).operators}
        assert rows["lightning_scan"].vector_flops == 6 * (5 * N * D * D + 17 * N * D)
        assert rows["rotary"].vector_flops == 2 * 3 * (N + M) * 8

    def test_a_shared_expert_has_a_gate(self) -> None:
        shared = read(self.document, shared_intermediate_size=s).parameters - read(self.document).parameters
        assert shared == L * (3 * h * s + h)
        plain = self.document | {"model_type": "minimax"}
        del plain["attn_type_list"]
        assert faults(plain, shared_intermediate_size=s) == {"shared_intermediate_size"}

    def test_the_class_words_and_its_own_dtype_of_state(self) -> None:
        plain = {key: value for key, value in self.document.items() if key != "attn_type_list"}
        kinds = ["linear_attention"] * 3 + ["full_attention"]
        model = read(plain, model_type="minimax", layer_types=kinds * 2)
        assert model.parameters == read(self.document).parameters
        assert (model.state_dtype, read(self.document).state_dtype) == ("bf16", "fp32")
        assert mixers(read(plain, model_type="minimax"), Attention) == [0, 2, 4, 6]

    def test_what_is_refused(self) -> None:
        assert faults(self.document, attn_type_list=[0, 2] * 4) == {"attn_type_list"}
        assert faults(self.document, attn_type_list=[0, 1]) == {"attn_type_list"}
        assert faults(self.document, rotary_dim=D + 1) == {"rotary_dim"}


class TestShortConvolutions:
    document: dict[str, Any] = COMMON | {
        "model_type": "lfm2", "full_attn_idxs": [2, 5], "conv_L_cache": 3, "block_ff_dim": 100,
        "block_multiple_of": 8, "tie_embedding": True,
    }  # fmt: skip
    size = h // N

    def test_parameters_by_hand(self) -> None:
        width = 72  # 66 are two thirds of 100, rounded up to a multiple of 8
        convolution = h * 3 * h + h * h + 3 * h
        attention = h * (N + 2 * M) * self.size + N * self.size * h + 2 * self.size
        layers = 6 * convolution + 2 * attention + L * (3 * h * width + 2 * h)
        model = read(self.document)
        assert model.parameters == layers + W * h + h
        assert (model.state_elements, model.convolution_state_elements) == (0, 6 * h * 3)
        assert model.cache_elements_per_token == 2 * 2 * M * self.size

    @pytest.mark.parametrize(
        ("asked", "width"),
        [
            ({"block_auto_adjust_ff_dim": False}, 100),
            ({"block_ffn_dim_multiplier": 1.5}, 104),  # 99 of 66
            ({"block_multiple_of": 1}, 66),
            ({"block_ffn_dim_multiplier": 1, "block_multiple_of": 256}, 256),
        ],
    )
    def test_the_width_is_adjusted(self, asked: dict[str, Any], width: int) -> None:
        plain = read(self.document, block_auto_adjust_ff_dim=False).parameters
        assert read(self.document, **asked).parameters - plain == L * 3 * h * (width - 100)

    def test_biases_are_on_both_products_and_the_convolution(self) -> None:
        assert read(self.document, conv_bias=True).parameters - read(self.document).parameters == 6 * (3 * h + h + h)

    def test_a_convolution_reads_and_writes_its_inputs(self) -> None:
        rows = {row.name: row for row in mansard.step(read(self.document), on=H100, context=64, batch=2).operators}
        row = rows["short_convolution"]
        assert row.cache_read_bytes == 2 * 6 * 2 * h * 2  # sequences, layers, inputs before, channels, bytes
        assert row.cache_write_bytes == 2 * 6 * h * 2
        assert row.vector_flops == 2 * 6 * 2 * 3 * h
        scan = rows["gated_convolution_scan"]
        assert (scan.vector_flops, scan.cache_read_bytes, scan.cache_write_bytes) == (2 * 6 * 2 * h, 0, 0)

    def test_experts_come_after_dense_layers(self) -> None:
        kinds = ["conv" if index not in (2, 5) else "full_attention" for index in range(L)]
        document = {key: value for key, value in self.document.items() if key != "full_attn_idxs"} | {
            "model_type": "lfm2_moe", "layer_types": kinds, "num_experts": E, "num_experts_per_tok": 2,
            "moe_intermediate_size": f, "num_dense_layers": 2,
        }  # fmt: skip
        mixtures = (L - 2) * (h * E + E * 3 * h * f) + 2 * 3 * h * F
        whole = read(self.document, block_auto_adjust_ff_dim=False).parameters - L * 3 * h * 100
        assert read(document).parameters == whole + mixtures
        del document["layer_types"]
        assert faults(document) == {"layer_types"}

    def test_windows_gates_and_more_norms(self) -> None:
        """LFM3: of eight layers three have attention, those of numbers 2 and 6 without a window, 4 with one."""
        document = COMMON | {"model_type": "lfm3", "head_dim": D, "conv_L_cache": 5, "sliding_window": 16}
        convolution = h * 3 * h + h * h + 5 * h
        attention = h * (N + 2 * M) * D + N * D * h + 2 * D
        layers = 5 * convolution + 3 * (attention + h * N) + L * (3 * h * F + 4 * h)
        model = read(document)
        assert model.parameters == layers + 2 * W * h + h
        assert model.convolution_state_elements == 5 * 5 * h
        assert [getattr(model.layers[index].mixer, "window", 0) for index in (2, 4, 6)] == [None, 16, None]
        assert model.parameters - read(document, use_attention_gate=False).parameters == 3 * h * N
        assert model.parameters - read(document, use_sandwich_norm=False).parameters == L * 2 * h
        found = mansard.step(model, on=H100, context=64).operators
        assert sum(row.vector_flops for row in found if row.name == "rotary") == 3 * (N + M) * (D + 2 * (D // 2))

    def test_what_is_refused(self) -> None:
        assert faults(self.document, full_attn_idxs=[2, L]) == {"full_attn_idxs"}
        assert faults(self.document, layer_types=["short_conv"] * L) == {"layer_types"}
        assert faults(self.document, conv_dim=h + 1) == {"conv_dim"}


class TestRecurrentGemma:
    R = 80  # channels of the recurrence
    document: dict[str, Any] = COMMON | {
        "model_type": "recurrent_gemma", "lru_width": R, "conv1d_width": k, "attention_window_size": 16,
        "tie_word_embeddings": True, "num_hidden_layers": 8,
    }  # fmt: skip

    def test_parameters_by_hand(self) -> None:
        recurrent = 2 * (h * self.R + self.R) + self.R * h + h + self.R * k + self.R
        recurrent += 2 * (N * (self.R // N) ** 2 + self.R) + self.R
        size = h // N
        attention = h * (N + 2 * M) * size + N * size * h + h
        part = 3 * h * (F // 2) + 2 * (F // 2) + h
        model = read(self.document)
        assert model.parameters == 6 * recurrent + 2 * attention + L * (part + 2 * h) + W * h + h
        assert (model.state_elements, model.convolution_state_elements) == (6 * self.R, 6 * (k - 1) * self.R)
        assert mixers(model, Attention) == [2, 5]

    def test_attention_is_local_and_logits_are_capped(self) -> None:
        model = read(self.document)
        assert {layer.mixer.window for layer in model.layers if isinstance(layer.mixer, Attention)} == {16}
        assert model.head is not None
        assert model.head.softcap
        short, long = (mansard.analyze(model, on=H100, prompt=n).memory for n in (64, 4096))
        assert short.cache_bytes == long.cache_bytes == 2 * 16 * 2 * M * (h // N) * 2

    def test_work_of_a_token(self) -> None:
        rows = {row.name: row for row in mansard.step(read(self.document), on=H100, context=64).operators}
        assert rows["rg_lru_scan"].vector_flops == 6 * 27 * self.R
        found = mansard.step(read(self.document), on=H100, context=64).operators
        gates = sum(row.flops for row in found if row.name.endswith("_gate"))
        assert gates == 6 * 2 * 2 * N * (self.R // N) ** 2

    def test_blocks_are_repeated(self) -> None:
        assert mixers(read(self.document, block_types=["attention", "recurrent"]), Attention) == [0, 2, 4, 6]
        assert faults(self.document, block_types=["recurrent", "mamba"]) == {"block_types"}
        assert faults(self.document, block_types=[]) == {"block_types"}
        assert faults(self.document, lru_width=N * 5 + 1) == {"lru_width"}


RWKV: dict[str, Any] = {
    "model_type": "rwkv", "hidden_size": h, "num_hidden_layers": L, "vocab_size": W, "dtype": "bfloat16",
}  # fmt: skip


class TestRwkv:
    document = RWKV

    def test_parameters_by_hand(self) -> None:
        layer = 3 * h * h + h * h + 2 * h + 3 * h  # time mixing
        layer += 2 * h * 4 * h + h * h + 2 * h  # channel mixing
        assert read(self.document).parameters == L * (layer + 2 * 2 * h) + 2 * W * h + 2 * 2 * h
        assert read(self.document, tie_word_embeddings=True).parameters == read(self.document).parameters - W * h

    def test_a_state_and_the_token_before_are_all_that_is_kept(self) -> None:
        model = read(self.document)
        assert model.cache_elements_per_token == 0
        assert (model.state_elements, model.convolution_state_elements) == (L * 3 * h, L * 2 * h)
        assert mansard.analyze(model, on=H100).memory.state_bytes == 4 * L * 3 * h + 2 * L * 2 * h

    def test_work_and_bytes_of_a_token(self) -> None:
        found = mansard.step(read(self.document), on=H100, context=64)
        assert found.flops == 2 * (L * (4 * h * h + 9 * h * h) + W * h)
        rows = {row.name: row for row in found.operators}
        assert rows["rwkv4_scan"].vector_flops == L * (28 * h + 5 * h)
        shift = rows["token_shift"]
        assert shift.vector_flops == L * 3 * 5 * h
        assert (shift.cache_read_bytes, shift.cache_write_bytes) == (L * 2 * h * 2, L * 2 * h * 2)
        fresh = mansard.analyze(read(self.document), on=H100, prompt=8).prefill
        assert next(row for row in fresh.operators if row.name == "token_shift").cache_read_bytes == 0

    def test_other_widths(self) -> None:
        wide = read(self.document, attention_hidden_size=2 * h, intermediate_size=10)
        assert wide.parameters - read(self.document).parameters == L * (4 * h * h + 2 * h - 2 * h * (4 * h - 10))

    def test_later_versions_are_refused_by_name(self) -> None:
        assert faults({"model_type": "rwkv7"}) == {"model_type"}


class TestOlmoHybrid:
    document: dict[str, Any] = COMMON | {"model_type": "olmo_hybrid"}

    def test_parameters_by_hand(self) -> None:
        keys, values = h * 3 // 4 // N, 2 * (h * 3 // 4 // N)
        mixed = N * (2 * keys + values)
        delta = h * (mixed + N * values + 2 * N) + N * values * h + mixed * k + 2 * N + values
        size = h // N
        attention = h * (N + 2 * M) * size + N * size * h + N * size + M * size
        model = read(self.document)
        assert model.parameters == 6 * delta + 2 * attention + L * (3 * h * F + 2 * h) + 2 * W * h + h
        assert model.state_elements == 6 * N * keys * values

    def test_layers_of_both_kinds(self) -> None:
        assert mixers(read(self.document), Attention) == [3, 7]
        assert mixers(read(self.document, num_hidden_layers=3), Attention) == [2]
        assert faults(self.document, num_hidden_layers=1) == {"num_hidden_layers"}
        assert faults(self.document, layer_types=["linear_attention"] * L) == {"layer_types"}

    def test_rotation_is_left_out_without_a_base(self) -> None:
        def rotates(**asked: Any) -> bool:
            model = read(self.document, **asked)
            return any(row.name == "rotary" for row in mansard.step(model, on=H100, context=64).operators)

        assert rotates()
        assert rotates(rope_parameters=None)
        assert not rotates(rope_theta=None)
        assert not rotates(rope_parameters={"rope_theta": None, "rope_type": "default"})
