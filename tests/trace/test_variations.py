"""Small configurations with unusual mixtures of heads, biases, windows and experts, drawn by seed for every family."""

from types import ModuleType

import pytest
from configurations import varied

from mansard import registry
from mansard.errors import InputError
from mansard.models import read_config

pytestmark = [pytest.mark.trace_all, pytest.mark.filterwarnings("ignore")]

TYPES = [name for family in registry.modules("mansard.architectures") for name in family.MODEL_TYPES]
SEEDS = range(8)
BATCH, PROMPT = 2, 40


@pytest.mark.parametrize("model_type", TYPES)
@pytest.mark.parametrize("seed", SEEDS)
def test_variations_do_what_their_classes_do(published: ModuleType, model_type: str, seed: int) -> None:
    from expected import differences

    if not published.is_published({"model_type": model_type}):
        pytest.skip("the library has no class of this model_type")
    document = varied(published.class_defaults(published.class_of(model_type)), model_type, seed)
    try:
        model = read_config(document, "config.json")
    except InputError as refused:
        pytest.skip(f"refused: {str(refused)[:200]}")
    if not model.layers or model.start_tokens:
        pytest.skip("an encoder, or a decoder behind one: test_encoder_classes.py compares these")
    try:
        passes = published.trace_language_model(document, batch=BATCH, prompt=PROMPT)
    except published.MISFITS as error:
        pytest.skip(f"the class cannot run {document}: {str(error)[:200]}")
    found = differences(model, passes, batch=BATCH, prompt=PROMPT)
    assert found == [], document
