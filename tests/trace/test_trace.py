"""Operations, parameters and caches, equal to the last digit to those of the published class of each configuration."""

from collections.abc import Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from configurations import REPRESENTATIVE, catalogue_names, catalogued, document_of, reference_files

from mansard.errors import InputError
from mansard.inputs.model import ModelConfig
from mansard.models import read_config

pytestmark = pytest.mark.filterwarnings("ignore")  # the libraries deprecate parts of each other

BATCH, PROMPT = 2, 64
# The class of DBRX routes by data, which the meta device has not: it is compared at small sizes.
ROUTED_BY_DATA = ("dbrx",)
# The class of Gemma 3n finds the threshold of its sparse activations from data; the library has no class of OpenELM;
# and MiniMax's own classes are not the library's, whose class has a cache of another kind.
OTHERWISE = (
    "gemma-3n-e2b", "gemma-3n-e4b", "minimax-m1", "minimax-text-01", "openelm-270m", "openelm-450m", "openelm-1.1b",
    "openelm-3b",
)  # fmt: skip


READS_FIRST = "an encoder, or a decoder behind one: test_encoder_classes.py compares these"


def reads_first(model: ModelConfig) -> bool:
    """Whether it is an encoder alone or an encoder-decoder, which run other passes than a prefill and a decode step."""
    return not model.layers or model.start_tokens > 0


def assert_equal(published: ModuleType, document: Mapping[str, Any], device: str = "meta") -> None:
    from expected import differences

    passes = published.trace_language_model(document, batch=BATCH, prompt=PROMPT, device=device)
    assert differences(read_config(document, "config.json"), passes, batch=BATCH, prompt=PROMPT) == []


@pytest.mark.trace
@pytest.mark.parametrize("mechanism", REPRESENTATIVE)
def test_representatives_do_what_their_classes_do(published: ModuleType, mechanism: str) -> None:
    assert_equal(published, catalogued(REPRESENTATIVE[mechanism]))


@pytest.mark.trace
def test_experts_that_are_routed_by_data_are_run_where_there_are_data(published: ModuleType) -> None:
    small = {"d_model": 64, "n_heads": 4, "n_layers": 2, "vocab_size": 320}
    parts = {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 500000.0, "clip_qkv": 8.0},
        "ffn_config": {"ffn_hidden_size": 96, "moe_num_experts": 6, "moe_top_k": 2, "hidden_size": 64},
    }
    assert_equal(published, {"model_type": "dbrx", **small, **parts}, device="cpu")


@pytest.mark.trace_all
@pytest.mark.parametrize("name", [name for name in catalogue_names() if name not in (*ROUTED_BY_DATA, *OTHERWISE)])
def test_the_catalogue_does_what_its_classes_do(published: ModuleType, name: str) -> None:
    if reads_first(read_config(catalogued(name), name)):
        pytest.skip(READS_FIRST)
    assert_equal(published, catalogued(name))


@pytest.mark.trace_all
@pytest.mark.parametrize("path", reference_files(), ids=lambda path: path.stem)
def test_reference_configurations_do_what_their_classes_do(published: ModuleType, path: Path) -> None:
    document = document_of(path)
    try:
        model = read_config(document, path.name)
    except InputError as refused:
        pytest.skip(f"refused: {str(refused)[:200]}")
    if reads_first(model):
        pytest.skip(READS_FIRST)
    if not published.is_published(document):
        pytest.skip("the library has no class of this model_type")
    assert_equal(published, document)
