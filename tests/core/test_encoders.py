"""Models that read before they write: encoders alone, encoder-decoders, images in a prompt. Every number by hand."""

from typing import Any

import pytest

import mansard
from mansard.errors import UsageError
from mansard.inputs.encoder import Applied, Encoder
from mansard.inputs.mechanisms import Embedding, FeedForward, Head, Layer
from mansard.inputs.mixers import Attention, CrossAttention
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import FixedImage, NativeImage, PaddedAudio, Text
from mansard.inputs.weights import Matrix, Norm
from mansard.records import Phase

A = 2  # bytes of an activation, a weight, a cache element


def layer(hidden: int, heads: int, inner: int, *, causal: bool, beside: tuple[Any, ...] = ()) -> Layer:
    attention = Attention(heads=heads, kv_heads=heads, head_dim=hidden // heads, causal=causal)
    return Layer(
        mixer=attention,
        feed_forward=FeedForward(inner, gated=False, activation="gelu"),
        norms=(Norm("layer", hidden), Norm("layer", hidden)),
        beside=beside,
    )


def model(**parts: Any) -> ModelConfig:
    usual: dict[str, Any] = {
        "name": "made", "source": "test", "model_type": "made", "architecture": "", "hidden_size": 0, "layers": (),
        "embedding": None, "head": None, "final_norm": None,
    }  # fmt: skip
    return ModelConfig(**{**usual, **parts})


def found(one: ModelConfig, **words: Any) -> mansard.Analysis:
    return mansard.analyze(one, on="h100-sxm", **words)


def flops(phase: Phase, *kinds: str) -> float:
    return sum(row.flops for row in phase.operators if row.kind in kinds)


# ViT-B/16 at 224 (arXiv:2010.11929, table 1): 14² patches and a class token.
h, f, H, L = 768, 3072, 12, 12
PATCHES, TOKENS = 14 * 14, 14 * 14 + 1
VIT = Encoder(
    name="vision",
    modality="image",
    hidden_size=h,
    layers=(layer(h, H, f, causal=False),) * L,
    front=(Applied(Matrix("patches", 3 * 16 * 16, h, bias=True), times=PATCHES, per=TOKENS, kind="convolution"),),
    back=(Applied(Matrix("pooler", h, h, bias=True), per=0),),
    norms=(Norm("layer", h),),
    vectors=h + TOKENS * h,
    reads=FixedImage(224, 16, beside=1),
)


def test_vit_is_row_20_of_the_counting_rules() -> None:
    analysis = found(model(encoders=(VIT,)))
    (phase,) = analysis.phases.values()
    convolution = 2 * PATCHES * 768 * h
    linear = L * 2 * TOKENS * (4 * h * h + 2 * h * f)
    attention = L * 4 * TOKENS**2 * h
    pooler = 2 * h * h
    assert phase.name == "encode"
    assert flops(phase, "convolution") == convolution
    assert flops(phase, "attention") == attention
    assert phase.flops == convolution + linear + attention + pooler == 35_126_120_448 + 1_179_648
    matrices = A * (768 * h + L * (4 * h * h + 2 * h * f))
    assert round((phase.flops - pooler) / matrices) == 205
    vectors = h + L * 2 * 2 * h + 2 * h + (1 + TOKENS) * h + h  # bias of patches, norms, class, positions, pooler
    assert phase.bytes.weights == matrices + A * (h * h + vectors)
    assert phase.bound == "memory"
    assert phase.bytes.cache_read == phase.bytes.cache_write == 0
    assert phase.tokens == TOKENS


def test_a_model_that_makes_no_tokens_has_an_end_and_a_rate_only() -> None:
    analysis = found(model(encoders=(VIT,)), batch=8)
    (phase,) = analysis.phases.values()
    assert phase.tokens == 8 * TOKENS
    assert analysis.prefill is analysis.decode is None
    assert analysis.main is phase
    assert analysis.request.e2e_s.best == phase.best_s
    assert analysis.request.requests_per_s_per_device.best == 8 / phase.best_s
    assert analysis.request.ttft_s.best is analysis.request.itl_s.best is None
    assert analysis.memory.cache_bytes == 0
    assert analysis.memory.max_context_tokens is None
    text = str(analysis)
    assert "decode" not in text
    assert "prefill" not in text
    assert "sequence, 1 image" not in text.replace("sequences", "")
    assert {note.text for note in analysis.notes if note.code == "default-workload"} == {
        "images was not given: 1 is taken"
    }


def test_inputs_saturate_where_weights_are_paid_for() -> None:
    """Without activations to move the batch is (W/B) / (F/P): weights over one input's share of the work."""
    analysis = found(model(encoders=(VIT,)))
    (phase,) = analysis.phases.values()
    ridge = phase.ridge_point
    per_input, weights = phase.flops, phase.bytes.weights
    assert phase.bytes.activations == 0  # the ideal engine keeps them on the chip
    assert analysis.saturation.batch == -(-weights * ridge // per_input) == 2
    assert "never" not in analysis.saturation.reason


# Whisper-large-v3 (arXiv:2212.04356, and its published configuration).
w, wf, w_heads, w_layers, MEL, S = 1280, 5120, 20, 32, 128, 1500
CROSS = CrossAttention(heads=w_heads, kv_heads=w_heads, head_dim=w // w_heads)
WHISPER = model(
    hidden_size=w,
    layers=(layer(w, w_heads, wf, causal=True, beside=(CROSS,)),) * w_layers,
    embedding=Embedding(vocab_size=51_866, dim=w, positions=448, position_dim=w),
    head=Head(dim=w, vocab_size=51_866, tied=True),
    final_norm=Norm("layer", w),
    start_tokens=4,
    encoders=(
        Encoder(
            name="audio",
            modality="audio",
            hidden_size=w,
            layers=(layer(w, w_heads, wf, causal=False),) * w_layers,
            front=(
                Applied(Matrix("conv1", 3 * MEL, w), times=2, kind="convolution"),
                Applied(Matrix("conv2", 3 * w, w), kind="convolution"),
            ),
            norms=(Norm("layer", w),),
            reads=PaddedAudio(30, S, S),
        ),
    ),
)


def test_whisper_is_row_16_of_the_counting_rules() -> None:
    analysis = found(WHISPER)
    encode, decode = analysis.phases["encode"], analysis.phases["decode"]
    convolutions = 2 * 3 * MEL * w * 3000 + 2 * 3 * w * w * 1500
    linear = w_layers * 2 * S * (4 * w * w + 2 * w * wf)
    attention = w_layers * 4 * S * S * w
    cross = w_layers * 2 * S * w * 2 * w
    assert flops(encode, "convolution") == convolutions == 17_694_720_000
    assert flops(encode, "attention") == attention == 368_640_000_000
    assert encode.flops - cross == convolutions + linear + attention == 2_273_771_520_000
    made = {row.name: row for row in encode.operators}
    assert made["cross_kv_proj"].flops == cross == 314_572_800_000
    kept = w_layers * S * 2 * w * A
    assert made["cross_cache_write"].cache_write_bytes == kept == 245_760_000
    read = {row.name: row for row in decode.operators}["cross_attention"]
    assert read.cache_read_bytes == kept
    assert read.flops == w_layers * 4 * S * w


def test_an_encoder_decoder_begins_with_its_own_tokens() -> None:
    analysis = found(WHISPER, output=100)
    assert [*analysis.phases] == ["encode", "prefill", "decode"]
    assert analysis.phases["prefill"].tokens == 4
    assert analysis.phases["decode"].context_tokens == 4 + 50
    own, kept = w_layers * (4 + 100 - 1) * 2 * w * A, w_layers * S * 2 * w * A
    assert analysis.memory.cache_bytes == own + kept
    best = [analysis.phases[name].best_s for name in ("encode", "prefill")]
    assert analysis.request.ttft_s.best == pytest.approx(sum(best), rel=1e-12)


def test_each_window_of_a_long_sound_is_a_sequence_that_the_decoder_attends_to() -> None:
    analysis = found(WHISPER, seconds=45.0)
    assert analysis.phases["encode"].tokens == 2 * S
    read = {row.name: row for row in analysis.phases["decode"].operators}["cross_attention"]
    assert read.flops == w_layers * 4 * 2 * S * w


# A small model that finds images in its prompt.
READER = model(
    hidden_size=64,
    layers=(layer(64, 4, 128, causal=True),) * 2,
    embedding=Embedding(vocab_size=100, dim=64),
    head=Head(dim=64, vocab_size=100, tied=False),
    final_norm=Norm("layer", 64),
    encoders=(
        Encoder(
            name="vision", modality="image", hidden_size=32, layers=(layer(32, 2, 64, causal=False),) * 3,
            reads=NativeImage(14, 2, 3136, 12_845_056),
        ),
    ),
)  # fmt: skip


def test_images_become_tokens_of_the_prompt() -> None:
    rows, columns = 1092 // 14, 1932 // 14  # 1080 and 1920 to the nearest multiples of 28
    given = 3 * rows * columns // 4
    analysis = found(READER, prompt=100, output=11, images=3, resolution="1920x1080")
    assert [*analysis.phases] == ["encode", "prefill", "decode"]
    assert analysis.phases["encode"].tokens == 3 * rows * columns
    assert flops(analysis.phases["encode"], "attention") == 3 * 3 * 4 * (rows * columns) ** 2 * 32
    assert analysis.phases["prefill"].tokens == 100 + given
    assert analysis.phases["decode"].context_tokens == 100 + given + 5
    assert analysis.memory.cache_bytes == 2 * (100 + given + 10) * 2 * 64 * A
    assert analysis.to_dict()["workload"]["encoder_tokens"] == given


def test_a_model_with_eyes_reads_text_alone_unless_it_is_asked_to_look() -> None:
    analysis = found(READER)
    assert [*analysis.phases] == ["prefill", "decode"]
    assert [note.code for note in analysis.notes].count("no-media") == 1
    shown = found(READER, resolution="448")
    assert shown.phases["prefill"].tokens == 1024 + (448 // 28) ** 2


def test_frames_of_a_video_are_taken_two_at_a_time() -> None:
    analysis = found(READER, images=1, resolution="280x280", frames=7)
    assert analysis.phases["encode"].tokens == 4 * 20 * 20
    assert analysis.phases["prefill"].tokens == 1024 + 4 * 10 * 10


def test_a_text_encoder_reads_the_prompt() -> None:
    reads = Encoder("text", "text", 32, (layer(32, 2, 64, causal=False),), embedding=Embedding(50, 32), reads=Text())
    analysis = found(model(encoders=(reads,), max_position_embeddings=512))
    assert analysis.phases["encode"].tokens == 512  # no more than its positions, where no length is given
    assert flops(analysis.phases["encode"], "attention") == 4 * 512**2 * 32
    warned = found(model(encoders=(reads,), max_position_embeddings=512), prompt=600)
    assert "beyond-positions" in {note.code for note in warned.notes}


@pytest.mark.parametrize("words", [{"images": 1}, {"seconds": 5.0}, {"resolution": "10x10"}, {"frames": 2}])
def test_what_nothing_reads_is_refused(words: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match=f"{next(iter(words))}.*has no encoder"):
        mansard.analyze("llama-3.1-8b", on="h100-sxm", **words)


@pytest.mark.parametrize("resolution", ["", "x", "0x5", "12x", "1e3", "99999x2", "-4x4", True, "1 2"])
def test_what_is_no_resolution_is_refused(resolution: Any) -> None:
    with pytest.raises(UsageError, match="resolution"):
        found(READER, images=1, resolution=resolution)


def test_all_faults_of_media_come_at_once() -> None:
    with pytest.raises(UsageError) as error:
        found(READER, images=-1, resolution="no", frames=0, seconds=-2)
    assert {fault.key for fault in error.value.faults} == {"images", "resolution", "frames", "seconds"}


@pytest.mark.parametrize("kind", ["roofline", "clocks", "operators", "memory", "request"])
@pytest.mark.parametrize("one", [model(encoders=(VIT,)), WHISPER, READER])
def test_charts_of_what_runs_before_prefill(one: ModelConfig, kind: str) -> None:
    words: dict[str, Any] = {"images": 1} if one is READER else {}
    spec = found(one, **words).chart(kind).spec
    assert "encode" in str(spec) or kind == "memory"


def test_a_model_without_a_decoder_has_no_curve_of_decode() -> None:
    with pytest.raises(UsageError, match="makes no tokens"):
        found(model(encoders=(VIT,))).chart("batch")


@pytest.mark.parametrize("one", [model(encoders=(VIT,)), WHISPER, READER])
def test_explained_and_advised(one: ModelConfig) -> None:
    words: dict[str, Any] = {"images": 1} if one is READER else {}
    text = str(mansard.explain(one, on="h100-sxm", **words))
    assert "Encode: clocks" in text
    assert "scaled" not in text
    assert {change.phase for change in found(one, **words).advice} == {*found(one, **words).phases}
