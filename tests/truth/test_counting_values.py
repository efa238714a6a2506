"""The worked values of the counting rules, each derived by hand from named symbols, equal to the last digit."""

import math
from dataclasses import replace
from typing import Any

import pytest

import mansard
from mansard.operators.step import attended_pairs, cached_tokens_kept, distinct_experts

PEAK, BANDWIDTH = 989.4e12, 3.35e12  # one H100 SXM in bf16
RIDGE = PEAK / BANDWIDTH
H100 = "h100-sxm"


def pairs(n: int, c: int) -> int:
    return n * c + n * (n + 1) // 2


def window_pairs(n: int, w: int) -> int:
    """Of a prompt of n > w tokens."""
    return w * (w + 1) // 2 + (n - w) * w


def work(phase: Any, *kinds: str) -> float:
    return sum(row.flops for row in phase.operators if not kinds or row.kind in kinds)


def linear_work(phase: Any) -> float:
    return work(phase, "linear", "experts") - head_work(phase)


def head_work(phase: Any) -> float:
    return sum(row.flops for row in phase.operators if row.name == "lm_head")


def attention_work(phase: Any) -> float:
    return work(phase, "attention", "latent_attention")


def matrices_read(phase: Any, biases: float = 0) -> float:
    """Bytes of the matrices that a step reads: norms, sinks and looked-up rows are of other kinds, biases are given."""
    return sum(row.weight_bytes for row in phase.operators if row.kind in ("linear", "experts")) - biases


class Llama8B:
    """Llama-3.1-8B: L layers, hidden h, H query and H_kv key/value heads of d, feed-forward f, vocabulary V."""

    L, h, H, H_kv, d, f, V = 32, 4096, 32, 8, 128, 14336, 128256
    layer = h * (H + 2 * H_kv) * d + H * d * h + 3 * h * f
    head = h * V
    weights = 2 * (L * layer + head)
    cache = L * 2 * H_kv * d * 2


@pytest.mark.parametrize(
    ("name", "parameters", "active"),
    [
        ("llama-3.1-8b", 8_030_261_248, 8_030_261_248),
        ("llama-3.1-70b", 70_553_706_496, 70_553_706_496),
        ("mixtral-8x7b", 46_702_792_704, 12_879_925_248),
        ("deepseek-v3", 671_026_404_352, 37_552_282_624),
        ("qwen2.5-7b", 7_615_616_512, 7_615_616_512),
    ],
)
def test_published_parameters(name: str, parameters: int, active: int) -> None:
    model = mansard.load_model(name)
    assert (model.parameters, model.parameters_active) == (parameters, active)


def test_deepseek_v3_has_its_routing_biases_beside_its_parameters() -> None:
    buffers = sum(
        getattr(layer.feed_forward, "correction_buffer", 0) for layer in mansard.load_model("deepseek-v3").layers
    )
    assert buffers == 58 * 256


@pytest.mark.parametrize(
    ("name", "elements"),
    [
        ("llama-3.1-8b", 32 * 2 * 8 * 128),
        ("llama-2-7b", 32 * 2 * 32 * 128),
        ("qwen2.5-7b", 28 * 2 * 4 * 128),
        ("deepseek-v3", 61 * (512 + 64)),
    ],
)
def test_cache_per_token(name: str, elements: int) -> None:
    found = mansard.analyze(name, on=H100, weights="bf16").to_dict()["model"]["kv_bytes_per_token"]
    assert found == 2 * elements


def test_llama_prefill_of_8000() -> None:
    m = Llama8B
    prefill = mansard.analyze("llama-3.1-8b", on=H100, prompt=8000, output=2).prefill
    assert linear_work(prefill) == 2 * m.L * m.layer * 8000 == 111_669_149_696_000
    assert head_work(prefill) == 2 * m.head == 1_050_673_152
    assert attention_work(prefill) == 4 * m.H * m.d * pairs(8000, 0) * m.L == 16_779_313_152_000
    assert prefill.flops == 128_449_513_521_152


@pytest.mark.parametrize(
    ("batch", "flops", "cache", "milliseconds"),
    [
        (1, 17_156_800_512, 536_739_840, 4.64),
        (32, 549_017_616_384, 17_175_674_880, 9.6),
        (256, 4_392_140_931_072, 137_405_399_040, 45.5),
    ],
)
def test_llama_decode_at_4096(batch: int, flops: int, cache: int, milliseconds: float) -> None:
    m, a = Llama8B, 4096
    found = mansard.analyze("llama-3.1-8b", on=H100, batch=batch, context=a)
    decode = found.decode
    assert decode is not None
    assert decode.flops == batch * (2 * m.L * m.layer + 2 * m.head + 4 * m.H * m.d * a * m.L) == flops
    assert matrices_read(decode) == m.weights == 15_009_316_864
    assert decode.bytes.cache_read == batch * m.cache * (a - 1) == cache
    norms, row, logits = 2 * (2 * m.L + 1) * m.h, 2 * m.h, 2 * m.V
    assert decode.bytes.total == m.weights + cache + norms + batch * (row + logits + m.cache)
    assert decode.best_s == decode.bytes.total / BANDWIDTH
    assert decode.best_s * 1e3 == pytest.approx(milliseconds, rel=3e-3)
    assert decode.bound == "memory"
    assert found.memory.fits is (batch < 256)
    if batch == 256:
        assert flops / (m.weights + cache) == pytest.approx(28.8, abs=0.05)


class DeepSeekV3:
    """DeepSeek-V3: 3 dense and 58 mixture layers; MLA with r, d_rope, d_nope, d_v; E experts of width m, k chosen."""

    L, dense, h, H = 61, 3, 7168, 128
    q_rank, r, d_nope, d_rope, d_v = 1536, 512, 128, 64, 128
    f, m, E, k, V = 18432, 2048, 256, 8, 129280
    attention = h * q_rank + q_rank * H * (d_nope + d_rope) + h * (r + d_rope) + r * H * (d_nope + d_v) + H * d_v * h
    expert, router = 3 * h * m, h * E
    active = L * attention + dense * 3 * h * f + (L - dense) * ((k + 1) * expert + router)
    head = h * V

    @staticmethod
    def stored(rows: int, columns: int) -> int:
        """An fp8 matrix in tiles of 128 x 128 with one fp32 scale each."""
        return rows * columns + 4 * math.ceil(rows / 128) * math.ceil(columns / 128)

    @classmethod
    def expert_bytes(cls) -> int:
        return 3 * cls.stored(cls.h, cls.m)

    @classmethod
    def fixed_bytes(cls) -> int:
        """All that a step reads but for the routed experts."""
        h, H = cls.h, cls.H
        attention = (
            cls.stored(h, cls.q_rank)
            + cls.stored(cls.q_rank, H * (cls.d_nope + cls.d_rope))
            + cls.stored(h, cls.r + cls.d_rope)
            + cls.stored(cls.r, H * (cls.d_nope + cls.d_v))
            + cls.stored(H * cls.d_v, h)
        )
        mixture = cls.expert_bytes() + 2 * cls.router  # the shared expert, and the router in bf16
        return cls.L * attention + cls.dense * 3 * cls.stored(h, cls.f) + (cls.L - cls.dense) * mixture + 2 * cls.head


def test_row_1_deepseek_prefill_expanded() -> None:
    m, n = DeepSeekV3, 4096
    assert m.active == 35_697_917_952
    prefill = mansard.analyze("deepseek-v3", on=H100, prompt=n, output=2).prefill
    assert linear_work(prefill) == 2 * m.active * n == 292_437_343_862_784
    assert head_work(prefill) == 2 * m.head == 1_853_358_080
    per_pair = 2 * m.H * (m.d_nope + m.d_rope + m.d_v)
    assert attention_work(prefill) == per_pair * pairs(n, 0) * m.L == 41_929_114_910_720
    assert prefill.flops == 334_368_312_131_584
    assert {row.name for row in prefill.operators} >= {"attention_expanded"}
    # Routing 4,096 tokens touches every expert, up to a share of (31/32)^4096.
    all_experts = m.fixed_bytes() + 58 * m.E * m.expert_bytes()
    assert all_experts == 671_295_181_152
    assert matrices_read(prefill) == pytest.approx(all_experts, rel=1e-15)
    assert prefill.bytes.cache_write == m.L * (m.r + m.d_rope) * 2 * n == 287_834_112


def test_row_2_deepseek_prefill_absorbed() -> None:
    m, n = DeepSeekV3, 4096
    prefill = mansard.analyze("deepseek-v3", on=H100, prompt=n, output=2, attention="absorbed").prefill
    assert attention_work(prefill) == 2 * m.H * (2 * m.r + m.d_rope) * pairs(n, 0) * m.L == 142_558_990_696_448
    assert prefill.flops == 434_998_187_917_312


@pytest.mark.parametrize(
    ("batch", "flops", "experts", "weights", "cache"),
    [
        (1, 142_841_085_952, 8, 37_666_402_656, 287_763_840),
        (32, 4_570_914_750_464, 163.3138, 434_486_251_418, 9_208_442_880),
        (256, 36_567_318_003_712, 255.9244, 671_102_063_332, 73_667_543_040),
    ],
)
def test_row_3_deepseek_decode(batch: int, flops: int, experts: float, weights: int, cache: int) -> None:
    m, a = DeepSeekV3, 4096
    decode = mansard.analyze("deepseek-v3", on=H100, batch=batch, context=a).decode
    assert decode is not None
    per_pair = 2 * m.H * (2 * m.r + m.d_rope)
    assert decode.flops == batch * (2 * m.active + 2 * m.head + per_pair * a * m.L) == flops
    touched = m.E * (1 - (31 / 32) ** batch)
    assert touched == pytest.approx(experts, abs=5e-5)
    assert m.fixed_bytes() == 17_226_764_640
    assert m.expert_bytes() == 44_050_944
    by_hand = m.fixed_bytes() + 58 * touched * m.expert_bytes()
    assert by_hand == pytest.approx(weights, abs=1)
    assert matrices_read(decode) == pytest.approx(by_hand, rel=1e-14)
    assert decode.bytes.cache_read == 70_272 * (a - 1) * batch == cache


def test_163_of_256_experts_at_batch_32() -> None:
    assert int(distinct_experts(256, 8, 32)) == 163


def test_row_4_deepseek_decode_expanded() -> None:
    m, a = DeepSeekV3, 4096
    decode = mansard.analyze("deepseek-v3", on=H100, context=a, attention="expanded").decode
    assert decode is not None
    extra = 2 * (a - 1) * m.r * m.H * (m.d_nope + m.d_v) * m.L
    assert extra == 8_381_729_341_440
    per_pair = 2 * m.H * (m.d_nope + m.d_rope + m.d_v)
    assert decode.flops == 2 * m.active + 2 * m.head + per_pair * a * m.L + extra == 8_475_446_738_944


@pytest.mark.parametrize(("cached", "first_expanded"), [(1000, 159), (4096, 168)])
def test_row_4_where_expanded_becomes_cheaper(cached: int, first_expanded: int) -> None:
    def form(new: int) -> str:
        found = mansard.analyze("deepseek-v3", on=H100, prompt=cached + new, cached=cached, output=2).prefill
        return next(row.name for row in found.operators if row.kind == "latent_attention")

    assert form(first_expanded - 1) == "attention_absorbed"
    assert form(first_expanded) == "attention_expanded"


class GptOss120B:
    """gpt-oss-120b: half of L layers see a window W; E experts of which k are chosen; weights in MXFP4, 17/32 byte."""

    L, h, H, H_kv, d, W, m, E, k, V = 36, 2880, 64, 8, 64, 128, 2880, 128, 4, 201088
    attention = h * (H + 2 * H_kv) * d + H * d * h
    expert, router = 3 * h * m, h * E
    linear = 2 * L * (attention + router + k * expert)
    biases = 2 * L * ((H + 2 * H_kv) * d + h + E + k * (2 * m + h))  # in bf16, those of the k experts touched


@pytest.mark.parametrize(
    ("context", "flops", "cache"),
    [(4096, 11_507_908_608, 155_639_808), (131_072, 48_954_654_720, 4_836_483_072)],
)
def test_rows_5_and_6_gpt_oss_decode(context: int, flops: int, cache: int) -> None:
    m, a = GptOss120B, context
    decode = mansard.analyze("gpt-oss-120b", on=H100, context=a).decode
    assert decode is not None
    assert linear_work(decode) == m.linear == 9_103_933_440
    assert head_work(decode) == 2 * m.h * m.V == 1_158_266_880
    assert attention_work(decode) == 4 * m.H * m.d * (m.L // 2) * (a + min(a, m.W))
    assert decode.flops == flops
    read = 2 * (m.L * (m.attention + m.router) + m.h * m.V) + m.L * m.k * m.expert * 17 // 32
    assert matrices_read(decode, m.biases) == read == 4_999_403_520
    per_token = 2 * m.H_kv * m.d * 2
    assert decode.bytes.cache_read == per_token * (m.L // 2) * (a - 1 + m.W - 1) == cache


def test_row_6_gpt_oss_keeps_a_window() -> None:
    m = GptOss120B
    kept = 2 * m.H_kv * m.d * 2 * (m.L // 2) * (131_072 + cached_tokens_kept(131_072, m.W))
    assert kept == 4_836_556_800
    found = mansard.analyze("gpt-oss-120b", on=H100, context=131_072)
    assert found.memory.cache_bytes_per_sequence == kept


class Gemma27B:
    """Gemma-3-27B: 10 global and 52 window layers."""

    L, whole, windowed, W = 62, 10, 52, 1024
    h, H, H_kv, d, f, V = 5376, 32, 16, 128, 21504, 262208
    layer = h * (H + 2 * H_kv) * d + H * d * h + 3 * h * f


def test_row_7_gemma_prefill() -> None:
    m, n = Gemma27B, 32_768
    prefill = mansard.analyze("gemma-3-27b", on=H100, prompt=n, output=2).prefill
    everywhere, near = pairs(n, 0), window_pairs(n, m.W)
    assert (everywhere, near) == (536_887_296, 33_030_656)
    assert attention_work(prefill) == 4 * m.H * m.d * (m.whole * everywhere + m.windowed * near)
    assert linear_work(prefill) == 2 * m.L * m.layer * n == 1_677_614_225_817_600
    assert head_work(prefill) == 2 * m.h * m.V == 2_819_260_416
    assert prefill.flops == 1_793_721_721_585_664


def test_row_8_gemma_decode() -> None:
    m, a = Gemma27B, 32_768
    decode = mansard.analyze("gemma-3-27b", on=H100, context=a).decode
    assert decode is not None
    per_token = 2 * m.H_kv * m.d * 2
    assert decode.bytes.cache_read == per_token * (m.whole * (a - 1) + m.windowed * (m.W - 1)) == 3_120_054_272
    assert attention_work(decode) == 4 * m.H * m.d * (m.whole * a + m.windowed * m.W) == 6_241_124_352
    assert matrices_read(decode) == 2 * (m.L * m.layer + m.h * m.V) == 54_015_983_616


@pytest.mark.parametrize(
    ("batch", "experts", "weights", "milliseconds"),
    [(1, 2, 25_497_174_016, 7.77), (2, 3.5, 42_408_607_744, None), (8, 58_975 / 8_192, 84_113_293_312, None),
     (32, 7.99920, 93_133_848_690, 32.9), (256, 8, None, 68.8)],
)  # fmt: skip
def test_row_9_mixtral(batch: int, experts: float, weights: int | None, milliseconds: float | None) -> None:
    layers, h, f, total, chosen = 32, 4096, 14336, 8, 2
    fixed = 2 * (layers * (h * (32 + 16) * 128 + 32 * 128 * h + h * total) + h * 32000)
    assert fixed == 2_948_595_712
    touched = total * (1 - (1 - chosen / total) ** batch)
    assert touched == pytest.approx(experts, abs=1e-5)
    decode = mansard.analyze("mixtral-8x7b", on=H100, batch=batch, context=4096).decode
    assert decode is not None
    assert matrices_read(decode) == pytest.approx(fixed + layers * touched * 2 * 3 * h * f, rel=1e-14)
    if weights is not None:
        assert matrices_read(decode) == pytest.approx(weights, abs=1)
    if milliseconds is not None:
        assert decode.best_s * 1e3 == pytest.approx(milliseconds, rel=2e-3)


@pytest.mark.parametrize(
    ("batch", "flops", "weights", "cache"),
    [(1, 9_304_539_136, 6_083_313_664, 402_554_880), (64, 595_490_504_704, 59_509_408_932, 25_763_512_320)],
)
def test_row_10_qwen3_30b(batch: int, flops: int, weights: int, cache: int) -> None:
    layers, h, heads, kv_heads, d, m, experts, chosen, vocabulary = 48, 2048, 32, 4, 128, 768, 128, 8, 151_936
    a = 4096
    attention, router, expert = h * (heads + 2 * kv_heads) * d + heads * d * h, h * experts, 3 * h * m
    decode = mansard.analyze("qwen3-30b-a3b", on=H100, batch=batch, context=a).decode
    assert decode is not None
    per_sequence = 2 * layers * (attention + router + chosen * expert) + 2 * h * vocabulary + 4 * heads * d * layers * a
    assert decode.flops == batch * per_sequence == flops
    touched = experts * (1 - (15 / 16) ** batch)
    assert matrices_read(decode) == pytest.approx(
        2 * (layers * (attention + router + touched * expert) + h * vocabulary), rel=1e-14
    )
    assert matrices_read(decode) == pytest.approx(weights, abs=1)
    assert decode.bytes.cache_read == layers * 2 * kv_heads * d * 2 * (a - 1) * batch == cache


def test_row_13_llama_405b_in_fp8() -> None:
    layers, h, heads, kv_heads, d, f, vocabulary = 126, 16384, 128, 8, 128, 53248, 128256
    linear = layers * (h * (heads + 2 * kv_heads) * d + heads * d * h + 3 * h * f)
    assert linear == 401_646_551_040
    outer = 2 * vocabulary * h + (2 * layers + 1) * h
    in_fp8 = mansard.analyze("llama-3.1-405b", on=H100, weights="fp8", kv="bf16").memory.weights_bytes
    assert in_fp8 == linear + 2 * outer == 410_060_226_560
    assert mansard.analyze("llama-3.1-405b", on=H100).memory.weights_bytes == 2 * (linear + outer) == 811_706_777_600
    per_token = layers * 2 * kv_heads * d * 2
    assert per_token == 516_096
    for device_bytes, tokens in ((80e9, 445_536), (85_520_809_984, 531_114)):
        assert (8 * device_bytes - in_fp8) // per_token == tokens


def test_row_14_qwen3_next_state() -> None:
    """Qwen3-Next-80B-A3B: L of 48 layers carry a state, H value heads of K by V; C channels are convolved over k."""
    L, H, G, K, V, k = 36, 32, 16, 128, 128, 4
    C = 2 * G * K + H * V
    model = mansard.load_model("qwen3-next-80b-a3b")
    assert H * K * V == 524_288
    assert C == 8_192
    assert (model.state_elements, model.convolution_state_elements) == (L * H * K * V, L * C * k)
    assert model.state_elements + model.convolution_state_elements == 20_054_016
    assert model.state_elements + L * C * (k - 1) == 19_759_104
    found = mansard.analyze("qwen3-next-80b-a3b", on=H100, context=4096)
    assert found.memory.state_bytes == 4 * L * H * K * V + 2 * L * C * k == 77_856_768
    each = found.to_dict()["model"]["kv_bytes_per_token"]
    assert each == 12 * 2 * 2 * 256 * 2 == 24_576
    assert 3_168 * each == 77_856_768
    scan = next(row for row in found.decode.operators if row.kind == "scan")
    assert scan.cache_read_bytes + scan.cache_write_bytes == 2 * 4 * L * H * K * V == 150_994_944


def test_row_15_mamba_2_decode() -> None:
    h, L, H, P, N, V = 2560, 64, 80, 64, 128, 50_288
    layer = h * (2 * H * P + 2 * N + H) + H * P * h
    assert layer == 40_181_760
    model = mansard.load_model("mamba2-2.7b")
    assert model.state_elements == L * H * P * N == 41_943_040
    phase = mansard.analyze("mamba2-2.7b", on=H100, context=4096).decode
    assert phase is not None
    assert phase.flops == 2 * (L * layer + h * V) == 5_400_739_840
    assert matrices_read(phase) == 5_400_739_840
    (scan,) = [row for row in phase.operators if row.kind == "scan"]
    assert scan.cache_read_bytes + scan.cache_write_bytes == 2 * 4 * L * H * P * N == 335_544_320
    assert phase.flops / (2 * 4 * model.state_elements) == pytest.approx(16.10, abs=5e-3)  # its level
    halved = mansard.analyze("mamba2-2.7b", on=H100, context=4096, state="bf16").decode
    assert halved is not None
    (scan,) = [row for row in halved.operators if row.kind == "scan"]
    assert scan.cache_read_bytes + scan.cache_write_bytes == 167_772_160


def test_row_22_a_cached_prefix() -> None:
    m, n, c = Llama8B, 2000, 6000
    whole = mansard.analyze("llama-3.1-8b", on=H100, prompt=8000, output=2).prefill
    prefill = mansard.analyze("llama-3.1-8b", on=H100, prompt=8000, cached=c, output=2).prefill
    by_hand = 2 * m.L * m.layer * n + 2 * m.head + 4 * m.H * m.d * m.L * pairs(n, c)
    assert prefill.flops == by_hand == 35_258_894_385_152
    assert prefill.best_s * 1e3 == pytest.approx(35.64, abs=0.005)
    assert whole.flops - prefill.flops == 93_190_619_136_000
    assert 1 - prefill.flops / whole.flops == pytest.approx(0.7255, abs=5e-5)
    assert prefill.bytes.cache_read == m.cache * c == 786_432_000


def test_row_23_a_request() -> None:
    m, prompt, output = Llama8B, 8000, 500
    request = mansard.analyze("llama-3.1-8b", on=H100, prompt=prompt, output=output).request
    assert request.ttft_s.best == 128_449_513_521_152 / PEAK
    assert request.ttft_s.best * 1e3 == pytest.approx(129.826, abs=5e-4)
    cache = sum(m.cache * (prompt - 1 + j) for j in range(1, output))
    assert (output - 1) * m.weights == 7_489_649_115_136
    assert cache == 539_525_251_072
    # Beside the matrices and the cache read, every step reads norms and a row, and writes one token and its logits.
    rest = (output - 1) * (2 * (2 * m.L + 1) * m.h + 2 * m.h + 2 * m.V + m.cache)
    decoding = ((output - 1) * m.weights + cache + rest) / BANDWIDTH
    assert request.e2e_s.best == pytest.approx(request.ttft_s.best + decoding, rel=1e-12)
    assert request.e2e_s.best == pytest.approx(2.52659, rel=1e-4)
    assert request.itl_s.best == pytest.approx(decoding / (output - 1), rel=1e-12)
    for found, milliseconds in ((request.itl_first_s, 4.7934), (request.itl_s, 4.8031), (request.itl_last_s, 4.8129)):
        assert found.best * 1e3 == pytest.approx(milliseconds, rel=1e-4)


def test_row_24_pairs() -> None:
    assert attended_pairs(1000, 3500, window=4096) == 3_918_690
    assert attended_pairs(1000, 3500) == 4_000_500
    assert attended_pairs(1000, 8000, chunk=8192) == 1_881_364
    assert attended_pairs(1000, 8000, window=8192) == 8_173_664
    assert attended_pairs(1, 8192, chunk=8192) == 1


@pytest.mark.parametrize(("context", "batch"), [(128, 438), (4096, None), (393, "some"), (394, None)])
def test_row_25_where_llama_saturates(context: int, batch: int | str | None) -> None:
    m = Llama8B
    flops, cache = m.weights + 524_288 * context, 131_072 * context
    found = mansard.saturate("llama-3.1-8b", on=H100, context=context)
    exists = flops > RIDGE * cache
    assert (found.batch is not None) is exists is (batch is not None)
    if batch == 438:
        assert found.batch == math.ceil(RIDGE * m.weights / (flops - RIDGE * cache)) == 438
    assert found.plateau_intensity == pytest.approx(flops / cache, rel=1e-12)


def test_row_25_levels() -> None:
    at_4096 = mansard.saturate("llama-3.1-8b", on=H100, context=4096)
    assert at_4096.plateau_intensity == pytest.approx(31.957, abs=5e-4)
    assert at_4096.reason.startswith("never")
    in_fp8 = mansard.saturate("llama-3.1-8b", on=H100, context=4096, kv="fp8")
    assert in_fp8.plateau_intensity == pytest.approx(63.914, abs=5e-4)
    assert mansard.saturate("llama-3.1-8b", on=H100, context=797, kv="fp8").batch is not None
    assert mansard.saturate("llama-3.1-8b", on=H100, context=798, kv="fp8").batch is None
    assert mansard.saturate("llama-3.1-8b", on=H100).batch == 296
    assert mansard.saturate("llama-3.1-8b", on=H100, context=1 << 24).plateau_intensity == pytest.approx(4, rel=2e-3)


def test_row_25_deepseek() -> None:
    m = DeepSeekV3
    flops, cache = 2 * (m.active + m.head) + 16_990_208 * 4096, 70_272 * 4096
    found = mansard.saturate("deepseek-v3", on=H100, context=4096, weights="bf16")
    assert found.batch == 6_845
    assert found.plateau_intensity == pytest.approx(flops / cache, rel=1e-12)
    assert found.plateau_intensity == pytest.approx(496.3, abs=0.05)


def test_the_smallest_model_of_a_parameter_count() -> None:
    """8e9 parameters of 2 bytes on 990e12 FLOP/s and 3.35e12 byte/s."""
    found = mansard.analyze("params=8e9", on="peak=990e12,bandwidth=3.35e12", prompt=8000)
    decode = found.decode
    assert decode is not None
    assert decode.bytes.total == 16e9
    assert decode.clocks.memory_s * 1e3 == pytest.approx(4.78, abs=0.005)
    assert decode.clocks.compute_s * 1e3 == pytest.approx(0.016, abs=0.0005)
    assert round(decode.clocks.memory_s / decode.clocks.compute_s) == 296
    assert found.prefill.flops == 128e12
    assert found.prefill.best_s * 1e3 == pytest.approx(129.29, abs=0.005)
    assert found.prefill.best_s / decode.best_s == pytest.approx(27, abs=0.1)
    assert found.saturation.batch == 296


@pytest.mark.parametrize(("batch", "milliseconds"), [(1, 1.416), (32, 16.556), (256, 27.790)])
def test_row_3_over_eight_devices_bandwidth(batch: int, milliseconds: float) -> None:
    decode = mansard.analyze("deepseek-v3", on=H100, batch=batch, context=4096).decode
    assert decode is not None
    read = matrices_read(decode) + decode.bytes.cache_read
    assert 1e3 * read / (8 * BANDWIDTH) == pytest.approx(milliseconds, abs=5e-4)


def test_row_4_at_4097_and_far_behind_a_cache() -> None:
    m, a = DeepSeekV3, 4097
    decode = mansard.analyze("deepseek-v3", on=H100, context=a, attention="expanded").decode
    assert decode is not None
    extra = 2 * (a - 1) * m.r * m.H * (m.d_nope + m.d_v) * m.L
    per_pair = 2 * m.H * (m.d_nope + m.d_rope + m.d_v)
    assert decode.flops == 2 * m.active + 2 * m.head + per_pair * a * m.L + extra == 8_477_498_556_416
    # pairs/c > r·(d_nope + d_v) / (2·r − d_nope − d_v) = 512/3, which for c far above n is n ≥ 171
    edge = m.r * (m.d_nope + m.d_v) / (2 * m.r - m.d_nope - m.d_v)
    assert math.ceil(edge) == 171
    for new, form in ((170, "attention_absorbed"), (171, "attention_expanded")):
        found = mansard.analyze("deepseek-v3", on=H100, prompt=50_000_000 + new, cached=50_000_000, output=2).prefill
        assert form in {row.name for row in found.operators}


def test_row_5_milliseconds() -> None:
    m = GptOss120B
    decode = mansard.analyze("gpt-oss-120b", on=H100, context=4096).decode
    assert decode is not None
    read = matrices_read(decode, m.biases) + decode.bytes.cache_read
    assert 1e3 * read / BANDWIDTH == pytest.approx(1.539, abs=5e-4)


def unwindowed(name: str) -> mansard.ModelConfig:
    """The same model, whose every layer attends to everything."""
    model = mansard.load_model(name)
    layers = tuple(layer._replace(mixer=layer.mixer._replace(window=None)) for layer in model.layers)
    return replace(model, layers=layers)


def test_rows_6_to_8_without_their_windows() -> None:
    m, a = GptOss120B, 131_072
    decode = mansard.analyze(unwindowed("gpt-oss-120b"), on=H100, context=a).decode
    assert decode is not None
    assert decode.bytes.cache_read == 2 * m.H_kv * m.d * 2 * m.L * (a - 1) == 9_663_602_688
    g, n = Gemma27B, 32_768
    prefill = mansard.analyze(unwindowed("gemma-3-27b"), on=H100, prompt=n, output=2).prefill
    assert attention_work(prefill) == 4 * g.H * g.d * g.L * pairs(n, 0) == 545_374_410_375_168
    decode = mansard.analyze(unwindowed("gemma-3-27b"), on=H100, context=n).decode
    assert decode is not None
    assert decode.bytes.cache_read == 2 * g.H_kv * g.d * 2 * g.L * (n - 1) == 16_642_490_368


@pytest.mark.parametrize(("batch", "intensity"), [(1, 1.43), (64, 6.98)])
def test_row_10_intensity(batch: int, intensity: float) -> None:
    decode = mansard.analyze("qwen3-30b-a3b", on=H100, batch=batch, context=4096).decode
    assert decode is not None
    read = matrices_read(decode) + decode.bytes.cache_read
    assert decode.flops / read == pytest.approx(intensity, abs=5e-3)


def test_row_13_a_device_of_eight() -> None:
    found = mansard.analyze("llama-3.1-405b", on=H100, weights="fp8")
    assert found.memory.weights_bytes == 410_060_226_560
    assert found.memory.weights_bytes // 8 == 51_257_528_320


def test_row_25_what_it_takes_and_where_it_levels_off() -> None:
    batch, context = 6_845, 4096
    found = mansard.analyze("deepseek-v3", on=H100, weights="bf16", batch=batch, context=context)
    assert batch * 70_272 * context == pytest.approx(1.97e12, rel=1e-3)
    assert found.memory.cache_bytes_per_sequence == 70_272 * context
    long = mansard.saturate("deepseek-v3", on=H100, weights="bf16", context=1 << 29)
    m = DeepSeekV3
    assert long.plateau_intensity == pytest.approx(2 * m.H * (2 * m.r + m.d_rope) / (2 * (m.r + m.d_rope)), rel=1e-3)
    assert long.plateau_intensity == pytest.approx(241.8, abs=0.05)
