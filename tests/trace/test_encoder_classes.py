"""Parameters and operations of encoders and encoder-decoders, equal to the last digit to those of their classes."""

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest
from encoders import defaults, variants

from mansard.encoding import encoder_operators
from mansard.forward import operators
from mansard.inputs.encoder import Encoder
from mansard.inputs.engine import load_engine
from mansard.inputs.model import ModelConfig
from mansard.inputs.perception import Asked, FixedImage
from mansard.inputs.scenario import Deployment
from mansard.models import read_config
from mansard.operators.cost import Op
from mansard.operators.step import Step

pytestmark = [pytest.mark.trace, pytest.mark.filterwarnings("ignore"), pytest.mark.usefixtures("published")]

BF16, IDEAL = Deployment(weights="bf16", kv="bf16"), load_engine("ideal")
BATCH, START = 2, 3
VARIANTS = list(variants())
# What a class of more labels than two cannot run, or runs by what its input holds.
_NOT_RUN = ("ForQuestionAnswering", "ForMultipleChoice", "Siglip2")


def named(cases: Sequence[tuple[str, dict[str, Any]]]) -> list[Any]:
    return [pytest.param(name, sizes, id=f"{place}-{name}") for place, (name, sizes) in enumerate(cases)]


def read_by(name: str, sizes: dict[str, Any]) -> ModelConfig:
    import transformers

    model_type = getattr(transformers, name).config_class.model_type
    return read_config({"model_type": model_type, "architectures": [name], **sizes}, "config.json")


def made(name: str, sizes: dict[str, Any]) -> Any:
    import torch
    import transformers

    found = getattr(transformers, name)
    with torch.device("meta"):
        return found._from_config(found.config_class.from_dict(dict(sizes)), attn_implementation="eager").eval()


@pytest.mark.parametrize(("name", "sizes"), named([*VARIANTS, *defaults()]))
def test_parameters_are_those_of_the_class(name: str, sizes: dict[str, Any]) -> None:
    from classes import unique_parameters

    assert read_by(name, sizes).parameters == unique_parameters(made(name, sizes))


def work(ops: Sequence[Op], step: Step) -> Counter[str]:
    """Matrix FLOPs by kind, under the convention of the classes: the whole square is multiplied, and then masked."""
    found: Counter[str] = Counter()
    for op in ops:
        for term in op.flops:
            value = step.value(term.basis)
            if term.basis.kind in ("pairs", "both_ways") and step.cached == 0:
                value = step.batch * step.new * step.new
            if term.basis.kind == "sampled":
                value = step.batch * step.new  # these classes make logits of every token
            found[op.kind] += int(op.count * term.coefficient * value)
    return found


ALONE = [(name, sizes) for name, sizes in VARIANTS if not name.endswith(_NOT_RUN) and "Siglip2" not in name]


@pytest.mark.parametrize(("name", "sizes"), named(ALONE))
def test_encoders_do_what_their_classes_do(name: str, sizes: dict[str, Any]) -> None:
    from components import encode_pixels, encode_tokens

    model = read_by(name, sizes)
    if model.layers or len(model.encoders) > 1:
        pytest.skip("has another part beside one encoder")
    (encoder,) = model.encoders
    if encoder.modality == "text":
        tokens = 15
        traced = encode_tokens(made(name, sizes), batch=BATCH, tokens=tokens)
    else:
        assert isinstance(encoder.reads, FixedImage)
        tokens, side = encoder.reads.reading(Asked(images=1)).tokens, encoder.reads.size
        channels = sizes.get("num_channels", 3)
        traced = encode_pixels(made(name, sizes), batch=BATCH, height=side, width=side, channels=channels)
    found = work(encoder_operators(encoder, model, BF16, IDEAL), Step(BATCH, tokens, 0))
    assert found["linear"] == traced.gemm_flops
    assert found["attention"] == traced.attention_flops
    assert found["convolution"] == traced.convolution_flops


PAIRS = [(name, sizes) for name, sizes in VARIANTS if name.endswith(("ForConditionalGeneration", "MTModel"))]


@pytest.mark.parametrize(("name", "sizes"), named(PAIRS))
def test_encoder_decoders_do_what_their_classes_do(name: str, sizes: dict[str, Any]) -> None:
    import torch
    from components import encode_decode

    model = read_by(name, sizes)
    (encoder,) = model.encoders
    given, word, tokens = _given(encoder, model)
    states = torch.empty(BATCH, *given, device="meta")
    phases = encode_decode(made(name, sizes), states=states, name=word, tokens=START)
    made_once = encoder_operators(encoder, model, BF16, IDEAL)
    encoding = work([op for op in made_once if op.name != "cross_kv_proj"], Step(BATCH, tokens, 0, source=tokens))
    across = work([op for op in made_once if op.name == "cross_kv_proj"], Step(BATCH, tokens, 0, source=tokens))
    assert encoding["linear"] == phases["encode"].gemm_flops
    assert encoding["attention"] == phases["encode"].attention_flops
    assert encoding["convolution"] == phases["encode"].convolution_flops
    for phase, new, cached in (("prefill", START, 0), ("decode", 1, START)):
        found = work(operators(model, BF16, IDEAL), Step(BATCH, new, cached, source=tokens))
        # A class makes keys and values of the encoder's output when its decoder first runs.
        assert found["linear"] + (across["linear"] if phase == "prefill" else 0) == phases[phase].gemm_flops
        assert found["attention"] == phases[phase].attention_flops


def _given(encoder: Encoder, model: ModelConfig) -> tuple[tuple[int, int], str, int]:
    """The shape of one input, under which name the encoder takes it, and how many tokens it becomes."""
    if encoder.modality == "text":
        return (17, model.hidden_size), "inputs_embeds", 17
    tokens = encoder.reads.reading(Asked(seconds=0.1)).tokens
    return (33, 2 * tokens), "input_features", tokens
