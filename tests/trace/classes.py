"""Builds the published class of a language model on the meta device, and runs its passes under a counter."""

import copy
import inspect
from collections.abc import Mapping
from typing import Any, NamedTuple

import torch
from counting import Traced, WorkCounter
from huggingface_hub.errors import StrictDataclassError
from transformers import MODEL_FOR_CAUSAL_LM_MAPPING, AutoModelForCausalLM, DynamicCache, PretrainedConfig
from transformers.models.auto.configuration_auto import CONFIG_MAPPING

# What a class raises where its sizes do not go together.
MISFITS = (
    AssertionError, AttributeError, NotImplementedError, RuntimeError, StrictDataclassError, TypeError, ValueError,
)  # fmt: skip
# Expert modules that send every token to every expert, and weigh most of them by zero.
_ALL_EXPERTS = ("Llama4TextExperts",)
_CACHE_NAMES = ("past_key_values", "cache_params", "cache")  # what forward() calls its cache
# Names that checkpoints give themselves, and the class that is theirs.
_CLASSES_OF_OTHERS = {"kimi_k2": "deepseek_v3"}


class Passes(NamedTuple):
    """What a class did: its phases, its unique parameters, and the cache that they left.

    all_logits: the class computes logits of every position, not of the last alone. all_experts: it runs every expert
    for every token. cache_elements: what the cache holds after the prefill, and state_elements what the
    states and the inputs of short convolutions have, over all sequences.
    """

    phases: dict[str, Traced]
    parameters: int
    cache_elements: int
    state_elements: int
    all_logits: bool
    all_experts: bool


def class_of(model_type: str) -> str:
    """The `model_type` under which the library knows a class."""
    return _CLASSES_OF_OTHERS.get(model_type, model_type)


def is_published(document: Mapping[str, Any]) -> bool:
    """Whether the library has a class with a head over the vocabulary for the configuration's `model_type`."""
    return (
        class_of(document.get("model_type", "")) in CONFIG_MAPPING
        and type(published_config(document)) in MODEL_FOR_CAUSAL_LM_MAPPING
    )


def class_defaults(model_type: str) -> dict[str, Any]:
    """Every key that the class of a `model_type` knows, with its default."""
    defaults: dict[str, Any] = CONFIG_MAPPING[model_type]().to_dict()
    return defaults


def published_config(document: Mapping[str, Any]) -> PretrainedConfig:
    """The class's own configuration of a `config.json`: of the language model, where others stand beside it."""
    plain = {key: value for key, value in copy.deepcopy(dict(document)).items() if key != "quantization_config"}
    name = class_of(plain["model_type"])
    config = CONFIG_MAPPING[name].from_dict({**plain, "model_type": name})
    return config.get_text_config(decoder=True)


def language_model(config: PretrainedConfig, device: str = "meta") -> torch.nn.Module:
    """The class with a head over the vocabulary, with weights that have shapes and no contents.

    Attention runs as two products with a mask over the whole square; experts as one product with the weights gathered
    for each choice of each token, which needs no routing that depends on data.
    """
    words: dict[str, Any] = {"attn_implementation": "eager"}
    with torch.device(device):
        try:
            made = AutoModelForCausalLM.from_config(config, experts_implementation="batched_mm", **words)
        except (ValueError, TypeError):
            made = AutoModelForCausalLM.from_config(config, **words)
    return made.eval()


def unique_parameters(module: torch.nn.Module) -> int:
    """Parameters after tying: `parameters()` names a shared one once."""
    return sum(parameter.numel() for parameter in module.parameters())


def trace_language_model(document: Mapping[str, Any], *, batch: int, prompt: int, device: str = "meta") -> Passes:
    """A prefill of `prompt` tokens for each of `batch` sequences into an empty cache, then one decode step.

    device: "cpu" where the class routes by data, which the meta device has not; its sizes must be small then.
    """
    config = published_config(document)
    model = language_model(config, device)
    counter = WorkCounter(model)
    asked = inspect.signature(model.forward).parameters
    words: dict[str, Any] = {"logits_to_keep": 1} if "logits_to_keep" in asked else {}
    all_logits = not words
    cache = DynamicCache(config=config)
    words |= {name: cache for name in _CACHE_NAMES if name in asked} | {"use_cache": True}
    with torch.device(device), torch.no_grad():
        with counter.trace("prefill"):
            model(torch.zeros(batch, prompt, dtype=torch.long), **words)
        held, states = _elements(cache)
        with counter.trace("decode"):
            model(torch.zeros(batch, 1, dtype=torch.long), **words)
    return Passes(
        phases=counter.phases,
        parameters=unique_parameters(model),
        cache_elements=held,
        state_elements=states,
        all_logits=all_logits,
        all_experts=any(type(module).__name__ in _ALL_EXPERTS for module in model.modules()),
    )


def _elements(cache: DynamicCache) -> tuple[int, int]:
    """Elements of keys, values and index keys, and of states, that a cache holds; none of what others keep."""
    held = states = 0
    for layer in cache.layers:
        kept = (getattr(layer, name, None) for name in ("keys", "values", "indexer_keys"))
        held += sum(tensor.numel() for tensor in kept if tensor is not None)
        kinds = (getattr(layer, "conv_states", {}), getattr(layer, "recurrent_states", {}))
        states += sum(tensor.numel() for kind in kinds for tensor in kind.values() if tensor is not None)
    return held, states
