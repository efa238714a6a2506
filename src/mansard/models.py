"""A model from what a person types: a file, a folder, standard input, a catalogue name, a hub id, a parameter count."""

import os
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from types import ModuleType
from typing import Any, NoReturn

from mansard import registry
from mansard.architectures._classes import ended
from mansard.architectures._contradictions import check, with_activation
from mansard.errors import Fault, InputError, UnavailableError, UsageError, did_you_mean, printable
from mansard.inputs.folders import catalogue_files, exact_file, flat, heads, small_text, spelled, stem, words_of
from mansard.inputs.keys import Keys
from mansard.inputs.model import ModelConfig
from mansard.inputs.modules import ModuleNames
from mansard.inputs.notes import Note
from mansard.inputs.storage import stored
from mansard.precision import WeightFormat
from mansard.quantizations._method import read_scheme
from mansard.units import parse_quantity

_FAMILIES = "mansard.architectures"
_COMPOSITES = "mansard.architectures.towers"
# Where a multimodal model keeps the configuration of its language model.
_NESTED = ("text_config", "llm_config", "language_config", "thinker_config")
# In the catalogue's TOML, which has no null, an absent key of these means null.
_NULL_WHEN_ABSENT = ("sliding_window", "q_lora_rank")
# Kinds that are known and not supported, so that the refusal can say what they are. Words that names contain.
_OTHER_KINDS = {
    "hybrids of attention and state-space or linear layers": ("rwkv5", "rwkv6", "rwkv7"),
    "models whose attention chooses blocks or compressed tokens": ("deepseek_v4", "minimax_m3"),
    "encoders": ("bert", "electra", "deberta", "mpnet", "longformer"),
    "encoder-decoders": ("t5", "bart", "pegasus", "marian", "m2m", "led"),
    "vision towers": ("clip", "siglip", "vit", "dino", "swin"),
}  # fmt: skip


def load_model(name: str | os.PathLike[str], *, online: bool = False) -> ModelConfig:
    """A model from a path, a folder, `-`, `params=8e9[,bytes=2]`, a catalogue name or a hub id.

    Raises:
        UsageError: if no model of the catalogue has that name, with near matches.
        InputError: if a file is bad or its architecture is not known, with every fault.
        UnavailableError: if a hub id is neither in the catalogue nor in the local cache, and `online` is not asked for.

    >>> load_model("llama-3.1-8b").parameters
    8030261248
    """
    text = spelled(name, "model")
    if text.startswith("params="):
        return _counted(text)
    if text == "-" or text.endswith((".json", ".gguf", ".safetensors")) or os.path.exists(text):
        return _from_path(text)
    if (path := _catalogued(text)) is not None:
        return _from_catalogue(path)
    if text.count("/") == 1 and not text.startswith((".", "/", "~")):
        from mansard.inputs.files import beside, read_json
        from mansard.inputs.hub import cached_config, downloaded_config

        place = downloaded_config(text) if online else cached_config(text)
        if place is None:
            raise UnavailableError(
                f"{text} is neither in the catalogue nor in the local hub cache",
                hint="give its config.json as a path, pipe it in as -, or look it up with --online",
            )
        document, where = read_json(str(place))
        side = beside(where, "hf_quant_config.json")
        return replace(read_config(_with_side_file(document, side), text), name=printable(text))
    if "/" in text or os.sep in text:
        from mansard.inputs.files import read_json

        read_json(text)  # says what is wrong with the path
    hint = did_you_mean(text, _known_names()) or "`mansard list models` shows those that are known."
    if text[:1].isdigit() and text[-1:].upper() in ("B", "M"):
        hint = f"did you mean params={text}?"
    raise UsageError(f"no model is called {text[:60]!r}", hint=f"{hint} Or give its config.json, or params=8e9")


def _from_path(text: str) -> ModelConfig:
    """A model from a config, a GGUF file, or a folder of either with the files of weights in it."""
    from mansard.inputs import weight_files  # a catalogue name needs none of it
    from mansard.inputs.files import beside, read_json

    if text != "-" and not text.endswith("config.json"):
        gguf = text if weight_files.is_gguf(text) else weight_files.gguf_in(text)
        if gguf is not None:
            return _from_gguf(gguf)
    files = weight_files.safetensors_of(text) if text != "-" else None
    is_file = files is not None and not os.path.isdir(text)
    document, where = read_json(weight_files.config_beside(text) if is_file else text)
    model = read_config(_with_side_file(document, beside(where, "hf_quant_config.json")), where)
    if files is None or not model.layers or model.start_tokens:
        return model  # the names of encoders' tensors are not known
    return weight_files.with_weights(model, files)


def _from_gguf(path: str) -> ModelConfig:
    from mansard.inputs.gguf_config import gguf_config, gguf_name
    from mansard.inputs.gguf_files import read_gguf_model
    from mansard.inputs.weight_files import WeightFiles, with_weights

    header = read_gguf_model(path)
    document, unknown = gguf_config(header)
    model = read_config(document, header.where, name=gguf_name(header.metadata) or stem(path))
    text = f"a GGUF file names no dtype of activations: {model.dtype} is taken"
    notes = [Note(level="info", code="gguf-dtype", text=text)]
    for key in unknown[:20]:
        text = f"{key[:100]!r} of the file's metadata is not understood and left out"
        notes.append(Note(level="warning", code="gguf-key", text=text))
    files = WeightFiles(header.where, header.tensors, has_config=False)
    return with_weights(replace(model, notes=(*model.notes, *notes)), files)


def _with_side_file(document: dict[str, Any], side: dict[str, Any] | None) -> dict[str, Any]:
    """A config with what ModelOpt wrote beside it, unless it says by itself how it is stored."""
    if side is None or document.get("quantization_config"):
        return document
    inner = side.get("quantization")
    if not isinstance(inner, dict) or not inner:
        problem = "must be an object that says how the weights are stored"
        raise InputError([Fault(problem=problem, where="hf_quant_config.json", key="quantization", value=inner)])
    return {**document, "quantization_config": {**inner, "quant_method": "modelopt"}}


def named_model(text: str) -> ModelConfig:
    """A model by its catalogue name or its parameter count; no path is looked at and no network, whatever the text is.

    Raises:
        UsageError: if the catalogue has no such model, with near matches.
    """
    if text.startswith("params="):
        return _counted(text)
    if (path := _catalogued(text)) is not None:
        return _from_catalogue(path)
    hint = did_you_mean(text, _known_names()) or "GET /api/list/models names them; or give the config itself"
    raise UsageError(
        f"no model is called {text[:60]!r}", hint=hint, faults=[Fault(problem="is not known", key="model")]
    )


def read_config(document: Mapping[str, Any], source: str, name: str | None = None) -> ModelConfig:
    """A model from a parsed configuration as its publisher wrote it.

    Raises:
        InputError: naming the architecture if it is not known, or every fault of the configuration.
    """
    outer = Keys(document, source)
    _check_types(outer)
    keys, part = (outer, "") if _reads_parts(outer) else _language_part(outer)
    if part:
        keys = _typed(keys, _word(outer.raw("model_type")))
    family, model_type, architecture = _family(outer, keys)
    model: ModelConfig = family.read(keys)
    composite = _composite(outer)
    if composite is not None:
        model = composite.attach(outer, model)
    check(keys, model_type)
    if not part:
        model = ended(keys, model, architecture, family.ARCHITECTURES)
    model = with_activation(keys, model)
    scheme = read_scheme(_quantization(outer, keys))
    keys.finish()
    if part and composite is None:
        keys.note("text-only", f"only the language model ({part}) is counted, no vision or audio tower", "warning")
    head = model.head
    if head is not None and part and outer.has("tie_word_embeddings") and not keys.has("tie_word_embeddings"):
        head = head._replace(tied=outer.flag("tie_word_embeddings"))
        outer.finish()
    dtype = (
        outer.dtype()
        if part and outer.has("torch_dtype", "dtype") and not keys.has("torch_dtype", "dtype")
        else model.dtype
    )
    own_dtype = model.dtype
    known = name or _name(outer, source)
    model = replace(model, head=head, dtype=dtype)
    if scheme is not None:
        model = stored(model, scheme, ModuleNames(getattr(family, "MODULES", {}), inside=bool(part)), keys)
        keys.finish()
    if model.prediction_layers:
        keys.note("prediction-layers", _prediction_words(model))
    notes = [note for note in keys.notes if dtype == own_dtype or note.code != "default-dtype"]
    return replace(
        model, name=printable(known), source=printable(source), model_type=model_type, architecture=architecture,
        notes=tuple(dict.fromkeys((*model.notes, *notes))),
    )  # fmt: skip


def _prediction_words(model: ModelConfig) -> str:
    count = len(model.prediction_layers)
    layers = "1 layer that drafts tokens (MTP)" if count == 1 else f"{count} layers that draft tokens (MTP)"
    return f"{layers}, {model.prediction_parameters:,} parameters, beside those counted: --mtp counts their memory"


def _check_types(outer: Keys) -> None:
    """Faults in what says which model it is: nothing else is worth reading then."""
    kind, classes = outer.document.get("model_type"), outer.document.get("architectures")
    if kind is not None and not isinstance(kind, str):
        outer.fault("model_type", "must be a string", kind)
    if classes is not None and not (isinstance(classes, list) and all(isinstance(one, str) for one in classes)):
        outer.fault("architectures", "must be a list of class names", classes)
    for name in _NESTED:
        inner = outer.document.get(name)
        if inner is not None and not isinstance(inner, Mapping):
            outer.fault(name, "must be an object", inner)
    outer.finish()


def model_names() -> tuple[str, ...]:
    """The names of the models in the catalogue and in private folders, sorted."""
    return tuple(sorted({stem(path) for path in catalogue_files("models")}))


def _counted(text: str) -> ModelConfig:
    values: dict[str, float] = {}
    for pair in text.split(","):
        key, _, value = pair.strip().partition("=")
        if key not in ("params", "bytes"):
            raise UsageError(f"{key[:40]!r} is no part of a parameter count", hint="for example params=8e9,bytes=2")
        # "8B" is how people write billions of parameters; elsewhere B is a byte.
        values[key] = parse_quantity(value.replace("B", "G") if key == "params" else value, "")
    parameters, width = values["params"], values.get("bytes", 2)
    if parameters != int(parameters) or not 1 <= parameters <= 1e18 or not 0 < width <= 16:
        raise UsageError(f"{text[:60]!r}: params must be a whole number up to 1e18, bytes between 0 and 16")
    bits = 8 * width
    if bits != int(bits):
        raise UsageError(f"bytes={width:g} is no whole number of bits", hint="0.5 is 4 bits, 0.625 is 5")
    dtype = {8: "fp32"}.get(int(width * 2), "bf16")
    stored = WeightFormat(name=f"{width:g} bytes", bits=int(bits), dtype=dtype, weight_only=width < 2)
    return ModelConfig(
        name=text, source="a parameter count", model_type="", architecture="", hidden_size=0, layers=(), embedding=None,
        head=None, final_norm=None, dtype=dtype, opaque_parameters=int(parameters), opaque_format=stored,
        notes=tuple(_counted_notes("bytes" in values)),
    )  # fmt: skip


def _counted_notes(is_width_given: bool) -> Iterator[Note]:
    if not is_width_given:
        yield Note(level="info", code="default-dtype", text="bytes was not given: 2 bytes a parameter, bf16, are taken")
    text = "a parameter count tells no layers: attention, the cache and activations are left out, also of the memory"
    yield Note(level="warning", code="parameter-count", text=text)


def _catalogued(text: str) -> str | None:
    """The file of a catalogue name, an alias or a hub id; exact names first."""
    exact = exact_file("models", text)
    if exact is not None:
        return exact
    wanted = flat(text)
    loose: str | None = None
    for path, head in heads(catalogue_files("models")):
        names = (stem(path), *words_of(head.get("aliases")), *words_of(head.get("hub_ids")))
        if text.lower() in (name.lower() for name in names):
            return path
        if loose is None and wanted in map(flat, names):
            loose = path
    return loose


def _known_names() -> list[str]:
    found: list[str] = []
    for path, head in heads(catalogue_files("models")):
        found += [stem(path), *words_of(head.get("aliases")), *words_of(head.get("hub_ids"))]
    return found


def _from_catalogue(path: str) -> ModelConfig:
    try:
        document = tomllib.loads(small_text(path))
    except (OSError, ValueError, RecursionError) as error:
        raise InputError([Fault(problem=f"is no model file: {error}", where=path)]) from error
    config = document.get("config")
    if not isinstance(config, dict):
        raise InputError([Fault(problem="is required: the keys of the model", where=path, key="config")])
    config = {**dict.fromkeys(_NULL_WHEN_ABSENT), **config}
    source = ", ".join(str(document[key]) for key in ("source", "address") if document.get(key))
    return read_config(config, source or path, name=stem(path))


def _language_part(outer: Keys) -> tuple[Keys, str]:
    """The keys of the language model, and under which key they were nested: "" for a model that is nothing else."""
    for name in _NESTED:
        if isinstance(outer.document.get(name), Mapping) and outer.document[name]:
            inner = outer.nested(name)
            deeper, part = _language_part(inner)
            return (deeper, part or name)
    return outer, ""


def _reads_parts(outer: Keys) -> bool:
    """Whether the family of the whole reads the parts nested in its configuration by itself (`READS_PARTS`)."""
    model_type = _word(outer.raw("model_type"))
    classes = outer.raw("architectures") or []
    family = _by_model_type(model_type) if model_type else _by_class(classes)
    return bool(getattr(family, "READS_PARTS", False))


def _by_class(names: Sequence[str]) -> ModuleType | None:
    return next((one for one in registry.modules(_FAMILIES) if set(names) & set(one.ARCHITECTURES)), None)


def _typed(keys: Keys, composite: str) -> Keys:
    """A nested part that doesn't name its type has that of its composite's text, `<type>_text` by the classes' rule."""
    inferred = f"{composite}_text"
    if keys.has("model_type") or _by_model_type(inferred) is None:
        return keys
    return keys.over({**keys.document, "model_type": inferred})


def _quantization(outer: Keys, keys: Keys) -> Keys:
    """What says how the weights are stored: of the whole or of its language model, under one of the names that it has.

    Where a configuration names no method but the widths, and MLX's own key stands beside it, it is a copy of that.
    """
    for where in (outer, keys):
        for name in ("quantization_config", "compression_config", "quantization"):
            if where.raw(name):
                return where.nested(name)
    return outer.nested("quantization_config")


def _name(keys: Keys, source: str) -> str:
    given = keys.raw("_name_or_path")
    if isinstance(given, str) and given.strip("./") and len(given) < 120:
        return given.rstrip("/").rsplit("/", 1)[-1]
    file = os.path.basename(source)
    folder = os.path.basename(os.path.dirname(os.path.abspath(source)))
    return (folder if file == "config.json" else stem(source)) or "model"


def _family(outer: Keys, keys: Keys) -> tuple[ModuleType, str, str]:
    """The family that reads a configuration, by `model_type` and then by class; an unknown one is refused by name."""
    model_type = _word(keys.raw("model_type")) or _word(outer.raw("model_type"))
    classes = outer.raw("architectures") or keys.raw("architectures")
    listed = classes if isinstance(classes, list) else []
    names = [name for name in listed if isinstance(name, str)][:8]
    architecture = names[0] if names else ""
    if not model_type and not names:
        if outer.has("ssm_cfg"):  # the mamba_ssm package names neither
            return registry.module(_FAMILIES, "mamba_ssm"), "mamba_ssm", ""
        _refuse_shapeless(outer)
    if model_type:
        family = _by_model_type(model_type)
        if family is not None:
            return family, model_type, architecture
    elif (family := _by_class(names)) is not None:
        return family, family.MODEL_TYPES[0], architecture
    return _refuse_unknown(outer, model_type or architecture, architecture)


def _composite(outer: Keys) -> ModuleType | None:
    """What sees or hears in a composite of that type, beside its language model; None if it is none that is known."""
    model_type = _word(outer.raw("model_type"))
    if model_type in registry.names(_COMPOSITES):
        return registry.module(_COMPOSITES, model_type)
    if not any(isinstance(outer.document.get(name), Mapping) for name in (*_NESTED, "vision_config", "audio_config")):
        return None  # no part of its own: the other rooms need not be looked into
    return _composites_by_type().get(model_type)


@lru_cache(maxsize=1)
def _composites_by_type() -> dict[str, ModuleType]:
    return {model_type: one for one in registry.modules(_COMPOSITES) for model_type in one.MODEL_TYPES}


def _by_model_type(model_type: str) -> ModuleType | None:
    if model_type in registry.names(_FAMILIES):
        family = registry.module(_FAMILIES, model_type)
        if model_type in family.MODEL_TYPES:
            return family
    return _families_by_type().get(model_type)


@lru_cache(maxsize=1)
def _families_by_type() -> dict[str, ModuleType]:
    return {model_type: family for family in registry.modules(_FAMILIES) for model_type in family.MODEL_TYPES}


def _word(value: Any) -> str:
    return value[:100] if isinstance(value, str) else ""


def _refuse_shapeless(keys: Keys) -> None:
    if keys.has("_class_name", "_diffusers_version"):
        kind = _word(keys.raw("_class_name")) or "a diffusers component"
        keys.refuse(
            "_class_name", f"is a diffusion model ({kind}), no language model", hint="images and video come later"
        )
    if keys.has("dim", "n_layers"):
        hint = "give the config.json in Hugging Face's format; it lies beside params.json in most repositories"
        keys.refuse("dim", "is a key of Mistral's own params.json, whose format is not read", hint=hint)
    hint = "a config.json of a language model names its model_type"
    keys.refuse("model_type", "is required but absent, and no architectures are listed either", hint=hint)


def _refuse_unknown(keys: Keys, name: str, architecture: str) -> NoReturn:
    for kind, words in _OTHER_KINDS.items():
        if any(word in name.lower() for word in words):
            keys.refuse("model_type", f"{name!r} is one of the {kind}, which are not supported yet",
                        hint="decoders with attention, state-space layers or both are counted so far")  # fmt: skip
    hint = did_you_mean(name, tuple(_families_by_type())) or "params=8e9 gives a bound from a parameter count alone"
    shown = f" ({architecture})" if architecture and architecture != name else ""
    keys.refuse("model_type", f"architecture {name!r}{shown} is not known, and is not guessed at", hint=hint)
