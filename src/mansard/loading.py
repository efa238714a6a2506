"""A model from what a person types, whether it makes tokens, reads, or makes images and videos."""

import os
from collections.abc import Mapping
from typing import Any

from mansard import models
from mansard.errors import UnavailableError, UsageError, did_you_mean
from mansard.inputs.folders import spelled
from mansard.inputs.model import ModelConfig
from mansard.inputs.pipeline import Pipeline


def load_model(name: str | os.PathLike[str], *, online: bool = False) -> ModelConfig:
    """A model from a path, a folder, `-`, `params=8e9[,bytes=2]`, a catalogue name or a hub id.

    Of images and videos: a folder with model_index.json, the config of one component, or a catalogue name.

    Raises:
        UsageError: if nothing in the catalogue has that name, with near matches.
        InputError: if a file is bad or its architecture is not known, with every fault.
        UnavailableError: if a hub id is neither in the catalogue nor in the local cache, and `online` is not asked for.

    >>> load_model("llama-3.1-8b").parameters, load_model("flux.1-dev").pipeline.denoiser.parameters
    (8030261248, 11901408320)
    """
    text = spelled(name, "model")
    if text == "-":
        from mansard.inputs.files import read_json

        return read_config(*read_json(text))
    if text.endswith(".json") or os.path.isdir(text):
        from mansard import pipelines  # a name needs none of it

        if pipelines.is_path(text):
            return pipelined(pipelines.load_pipeline(text))
    try:
        return models.load_model(text, online=online)
    except (UsageError, UnavailableError) as unknown:
        return _named_pipeline(text, unknown)


def named_model(text: str) -> ModelConfig:
    """A model by its catalogue name or its parameter count; no path is looked at and no network, whatever the text is.

    Raises:
        UsageError: if the catalogue has no such model, with near matches.
    """
    try:
        return models.named_model(text)
    except UsageError as unknown:
        return _named_pipeline(text, unknown)


def read_config(document: Mapping[str, Any], source: str, name: str | None = None) -> ModelConfig:
    """A model, or a component of a pipeline, from a parsed configuration as its publisher wrote it.

    Raises:
        InputError: naming the architecture if it is not known, or every fault of the configuration.
    """
    if "_class_name" in document:
        from mansard import pipelines

        if pipelines.is_component(document):
            return pipelined(pipelines.read_alone(document, source))
    return models.read_config(document, source, name)


def model_names() -> tuple[str, ...]:
    """The names of the catalogue's models and pipelines, and of those in private folders, sorted."""
    from mansard import pipelines

    return tuple(sorted({*models.model_names(), *pipelines.pipeline_names()}))


def pipelined(pipeline: Pipeline) -> ModelConfig:
    """A pipeline as a model, whose phases encode the text, denoise and decode."""
    main = pipeline.denoiser or pipeline.autoencoder
    return ModelConfig(
        name=pipeline.name, source=pipeline.source, model_type=pipeline.class_name, architecture="", hidden_size=0,
        layers=(), embedding=None, head=None, final_norm=None, pipeline=pipeline, notes=pipeline.notes,
        dtype=main.dtype if main else "bf16",
    )  # fmt: skip


def _named_pipeline(text: str, unknown: UsageError | UnavailableError) -> ModelConfig:
    from mansard import pipelines

    found = pipelines.named_pipeline(text)
    if found is not None:
        return pipelined(found)
    near = did_you_mean(text, pipelines.pipeline_names())
    if near and isinstance(unknown, UsageError) and "did you mean" not in unknown.hint:
        raise UsageError(str(unknown), hint=near, faults=unknown.faults) from unknown
    raise unknown
