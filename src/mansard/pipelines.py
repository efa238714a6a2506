"""A pipeline from what a person types: a folder with model_index.json, a component's config, or a catalogue name."""

import os
import tomllib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from types import ModuleType
from typing import Any

from mansard import registry
from mansard.errors import Fault, InputError, UsageError, did_you_mean, printable
from mansard.inputs.component import Component, Recipe
from mansard.inputs.folders import catalogue_files, exact_file, flat, heads, small_text, spelled, stem, words_of
from mansard.inputs.keys import Keys
from mansard.inputs.mechanisms import MixtureOfExperts
from mansard.inputs.notes import Note
from mansard.inputs.pipeline import Pipeline, TextEncoder
from mansard.models import read_config

_FAMILIES = "mansard.components"
_INDEX = "model_index.json"
_CLIP_TOKENS = 77
# Solvers that evaluate the denoiser twice in every step but the last.
_SECOND_ORDER = (
    "HeunDiscreteScheduler", "FlowMatchHeunDiscreteScheduler", "KDPM2DiscreteScheduler",
    "KDPM2AncestralDiscreteScheduler", "DPMSolverSDEScheduler",
)  # fmt: skip
# Names under which pipelines keep what is counted; what has weights and another name is noted.
_DENOISERS, _SECOND, _AUTOENCODER, _CONTROLNET = ("transformer", "unet"), "transformer_2", "vae", "controlnet"
_WEIGHTLESS = ("scheduler", "tokenizer", "feature_extractor", "image_processor", "processor", "video_processor")
# Pipelines whose work is what their components and the sizes say. Others may add tokens of pictures.
_FROM_TEXT = (
    "FluxPipeline", "Flux2Pipeline", "Flux2KleinPipeline", "StableDiffusionPipeline", "StableDiffusionXLPipeline",
    "StableDiffusion3Pipeline", "StableDiffusionControlNetPipeline", "PixArtAlphaPipeline", "PixArtSigmaPipeline",
    "SanaPipeline", "SanaSprintPipeline", "QwenImagePipeline", "ZImagePipeline", "HunyuanVideoPipeline", "WanPipeline",
    "WanImageToVideoPipeline", "CogVideoXPipeline", "LTXPipeline", "MochiPipeline", "CosmosTextToWorldPipeline",
    "Cosmos2TextToImagePipeline",
)  # fmt: skip
# Keys that change no count: numerics, scales of latents, angles of positions, what training alone uses.
_HARMLESS = frozenset((
    "addition_embed_type_num_heads", "addition_time_embed_dim", "axes_dims", "axes_dims_rope", "axes_lens",
    "batch_norm_eps", "batch_norm_momentum", "controlnet_block_every_n", "controlnet_conditioning_channel_order",
    "decoder_act_fns", "decoder_causal", "decoder_conv_act_fn", "downsample_padding", "dropout", "encoder_causal",
    "eps", "flip_sin_to_cos", "force_upcast", "freq_shift", "guidance_embeds_scale", "img_context_dim_out",
    "img_context_num_tokens", "interpolation_scale", "invert_scale_latents", "latents_mean", "latents_std",
    "mid_block_scale_factor", "norm_eps", "norm_num_groups", "num_embeds_ada_norm", "pos_embed_max_size",
    "resnet_norm_eps", "resnet_out_scale_factor", "rope_axes_dim", "rope_max_seq_len", "rope_scale", "rope_theta",
    "sample_height", "sample_size", "sample_width", "scale_factor_spatial", "scale_factor_temporal", "scaling_factor",
    "shift_factor", "spatial_interpolation_scale", "t_scale", "temporal_interpolation_scale", "timestep_activation_fn",
    "timestep_scale", "upcast_attention", "use_layer3d_rope",
))  # fmt: skip
_MOST_NOTED = 20


def load_pipeline(name: str | os.PathLike[str]) -> Pipeline:
    """A pipeline from a folder, from the config of one component, or by a catalogue name.

    Raises:
        UsageError: if the catalogue has no such pipeline, with near matches.
        InputError: if a file is bad or a class is not known, with every fault.

    >>> load_pipeline("flux.1-dev").denoiser.parameters
    11901408320
    """
    text = spelled(name, "pipeline")
    if text == "-" or text.endswith(".json") or os.path.exists(text):
        return _from_path(text)
    found = named_pipeline(text)
    if found is None:
        hint = did_you_mean(text, [*_known_names()]) or "give a folder with model_index.json, or a component's config"
        raise UsageError(f"no pipeline is called {text[:60]!r}", hint=hint)
    return found


def named_pipeline(text: str) -> Pipeline | None:
    """A pipeline by its catalogue name, alias or hub id; None if the catalogue has none so called."""
    path = _catalogued(text)
    return None if path is None else _from_catalogue(path)


def pipeline_names() -> tuple[str, ...]:
    """The names of the pipelines in the catalogue and in private folders, sorted."""
    return tuple(sorted({stem(path) for path in catalogue_files("pipelines")}))


def is_path(text: str) -> bool:
    """Whether there is a pipeline, or one of its components, where the text leads."""
    from mansard.inputs.files import read_json

    if os.path.isdir(text):
        text = next(
            (place for name in (_INDEX, "config.json") if os.path.isfile(place := os.path.join(text, name))), ""
        )
    if not text.endswith(".json") or not os.path.isfile(text):
        return False
    return os.path.basename(text) == _INDEX or is_component(read_json(text)[0])


def is_component(document: Mapping[str, Any]) -> bool:
    """Whether a parsed configuration is that of a diffusion component or of a pipeline."""
    return isinstance(document.get("_class_name"), str) and "model_type" not in document


def read_alone(document: Mapping[str, Any], source: str) -> Pipeline:
    """A single component from its parsed configuration, as a pipeline of its own.

    Raises:
        InputError: if it names the components of a pipeline, which lie beside it, or is bad.
    """
    if _has_components(document):
        hint = "give the folder that holds them, or one component's config"
        raise InputError([Fault(problem="names components whose configurations are not here", where=source, hint=hint)])
    return _alone(read_component(document, source))


def read_component(document: Mapping[str, Any], source: str) -> Component:
    """A component from a parsed configuration as its publisher wrote it.

    Raises:
        InputError: naming the class if it is not known, or every fault of the configuration.
    """
    keys = Keys(document, source)
    family = _family(keys)
    if keys.raw("quantization_config"):
        hint = "give the format of its blocks as weights instead"
        keys.fault("quantization_config", "is not supported for diffusion components yet", hint=hint)
    component: Component = family.read(keys)
    dtype = keys.dtype()
    keys.finish()
    unread = [name for name in document if name not in keys.asked and name not in _HARMLESS and name[:1] != "_"]
    for name in unread[:_MOST_NOTED]:
        keys.note("unread-key", f"{printable(name)[:100]!r} is not read: the counts are those without it", "warning")
    notes = tuple(dict.fromkeys((*component.notes, *keys.notes)))
    return replace(component, source=printable(source), dtype=dtype, notes=notes)


def _family(keys: Keys) -> ModuleType:
    name = keys.text("_class_name")
    keys.finish()
    known: list[str] = []
    for family in registry.modules(_FAMILIES):
        if name in family.CLASSES:
            return family
        known += family.CLASSES
    hint = did_you_mean(name, known) or "counted are " + ", ".join(sorted(known))
    return keys.refuse("_class_name", "is no component that is counted", name, hint)


def _is_known(name: object) -> bool:
    return any(name in family.CLASSES for family in registry.modules(_FAMILIES))


def _from_path(text: str) -> Pipeline:
    from mansard.inputs.files import read_json

    document, where = read_json(text)
    if os.path.basename(where) == _INDEX or _has_components(document):
        folder = os.path.dirname(where)

        def configuration(part: str) -> tuple[dict[str, Any], str]:
            return read_json(os.path.join(folder, part))

        return _from_index(document, where, os.path.basename(folder) or where, configuration)
    return _alone(read_component(document, where))


def _has_components(document: Mapping[str, Any]) -> bool:
    return any(isinstance(document.get(name), list) for name in (*_DENOISERS, _AUTOENCODER))


def _alone(part: Component) -> Pipeline:
    if part.role == "autoencoder":
        recipe = Recipe(1024, 1024, 1, 1)
        return Pipeline(
            name=part.class_name, source=part.source, class_name=part.class_name, recipe=recipe, autoencoder=part,
            notes=part.notes,
        )  # fmt: skip
    missing = Note(
        level="warning", code="not-counted", text="neither text encoders nor an autoencoder are given: not counted"
    )
    return Pipeline(
        name=part.class_name, source=part.source, class_name=part.class_name, recipe=part.recipe or Recipe(1024, 1024),
        denoiser=part, is_distilled=part.is_distilled, notes=(*part.notes, missing),
    )  # fmt: skip


def _from_index(
    index: Mapping[str, Any], where: str, name: str, configuration: Callable[[str], tuple[Mapping[str, Any], str]]
) -> Pipeline:
    """A pipeline from what names its components; configuration: gives that of one, and where it is."""
    keys = Keys(index, where)
    class_name = keys.text("_class_name")
    named = dict(_named(keys))
    keys.finish()
    notes: list[Note] = []
    parts: dict[str, Component] = {}
    for part in (*_DENOISERS, _SECOND, _AUTOENCODER, _CONTROLNET):
        if part in named:
            document, place = configuration(part)
            if part == _AUTOENCODER and not _is_known(document.get("_class_name")):
                notes.append(_left_out(part, f"{printable(named[part])} is no component that is counted"))
                continue
            parts[part] = replace(read_component(document, place), name=part)
            notes += parts[part].notes
    denoiser = next((parts[part] for part in _DENOISERS if part in parts), None)
    if denoiser is None:
        return keys.refuse("_class_name", f"has none of {', '.join(_DENOISERS)} among its components", class_name)
    texts = tuple(_texts(named, denoiser, configuration, notes))
    counted = {*parts, *(text.name for text in texts)}
    for part, kind in named.items():
        if part not in counted and not part.startswith((*_WEIGHTLESS, "text_encoder", _AUTOENCODER)):
            notes.append(_left_out(part, f"{printable(kind)} is no part that is counted"))
    if class_name not in _FROM_TEXT:
        text = f"{class_name} is counted as if it made from text alone: pictures that it is given add tokens to it"
        notes.append(Note(level="warning", code="unknown-pipeline", text=text))
    _check(keys, parts, denoiser)
    return Pipeline(
        name=printable(name), source=printable(where), class_name=class_name, denoiser=denoiser,
        recipe=denoiser.recipe or Recipe(1024, 1024), second=parts.get(_SECOND), autoencoder=parts.get(_AUTOENCODER),
        controlnet=parts.get(_CONTROLNET), texts=texts,
        evaluations=2 if named.get("scheduler") in _SECOND_ORDER else 1,
        is_distilled=denoiser.is_distilled or keys.raw("is_distilled") is True,
        each_token_has_its_time=keys.raw("expand_timesteps") is True, notes=tuple(dict.fromkeys(notes)),
    )  # fmt: skip


def _named(keys: Keys) -> Iterator[tuple[str, str]]:
    """The components that an index names, and their classes; those that are null are left out."""
    for part, value in keys.document.items():
        if part.isidentifier() and isinstance(value, list):
            if len(value) == 2 and all(isinstance(one, str) for one in value):
                yield part, value[1]
            elif not (len(value) == 2 and value == [None, None]):
                keys.fault(part, "must be a library and a class", value)


def _texts(
    named: Mapping[str, str],
    denoiser: Component,
    configuration: Callable[[str], tuple[Mapping[str, Any], str]],
    notes: list[Note],
) -> Iterator[TextEncoder]:
    for part, kind in named.items():
        if not part.startswith("text_encoder"):
            continue
        tokens = _CLIP_TOKENS if kind.startswith("CLIP") else denoiser.prompt_tokens or denoiser.text_tokens
        try:
            document, place = configuration(part)
            model = read_config({**document, "architectures": [kind]}, place)  # the index's class is the one that runs
        except InputError as error:
            notes.append(_left_out(part, str(error.faults[0]) if error.faults else str(error)))
            continue
        if any(isinstance(layer.feed_forward, MixtureOfExperts) for layer, _ in model.distinct_layers):
            notes.append(_left_out(part, "text encoders with experts are not counted yet"))
            continue
        yield TextEncoder(name=part, model=model, tokens=tokens)


def _left_out(part: str, why: str) -> Note:
    return Note(level="warning", code="not-counted", text=f"{part} is not counted: {why}")


def _check(keys: Keys, parts: Mapping[str, Component], denoiser: Component) -> None:
    """Faults in what the components say of each other."""
    vae, second = parts.get(_AUTOENCODER), parts.get(_SECOND)
    if vae is not None and denoiser.outputs not in (vae.channels, 2 * vae.channels):
        problem = f"has {vae.channels} latent channels, and the denoiser gives {denoiser.outputs}"
        keys.fault(_AUTOENCODER, problem, hint="the components belong to different pipelines")
    if second is not None and second.stored != denoiser.stored:
        keys.fault(_SECOND, "must be of the same size as transformer", hint="two sizes are not counted yet")
    keys.finish()


def _catalogued(text: str) -> str | None:
    """The catalogue's file of a pipeline: by name, alias or hub id."""
    path = exact_file("pipelines", text)
    if path is not None:
        return path
    wanted = flat(text)
    for found, head in heads(catalogue_files("pipelines")):
        if wanted in {flat(stem(found)), *(flat(word) for word in _other_names(head))}:
            return found
    return None


def _other_names(head: Mapping[str, Any]) -> list[str]:
    return [*words_of(head.get("aliases")), *words_of(head.get("hub_ids"))]


def _known_names() -> Iterator[str]:
    for path, head in heads(catalogue_files("pipelines")):
        yield stem(path)
        yield from _other_names(head)


def _from_catalogue(path: str) -> Pipeline:
    try:
        document = tomllib.loads(small_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError([Fault(problem=f"is no pipeline file: {error}", where=path)]) from error
    index, parts = document.get("index"), document.get("components")
    if not isinstance(index, dict) or not isinstance(parts, dict):
        raise InputError([Fault(problem="must have index and components", where=path)])
    source = ", ".join(str(document[key]) for key in ("source", "address") if document.get(key)) or path

    def configuration(part: str) -> tuple[Mapping[str, Any], str]:
        found = parts.get(part)
        if not isinstance(found, dict):
            raise InputError([Fault(problem="is named and not given", where=path, key=f"components.{part}")])
        return found, f"{stem(path)}, {part}"

    pipeline = _from_index(index, path, stem(path), configuration)
    recipe = Keys(document.get("recipe") or {}, path, "recipe.")
    own = pipeline.recipe
    made = Recipe(
        height=recipe.optional_size("height") or own.height,
        width=recipe.optional_size("width") or own.width,
        frames=recipe.optional_size("frames") or own.frames,
        steps=recipe.optional_size("steps") or own.steps,
        guidance=recipe.number("guidance", default=own.guidance, minimum=0, maximum=1000),
    )
    recipe.finish()
    return replace(pipeline, source=source, recipe=made)
