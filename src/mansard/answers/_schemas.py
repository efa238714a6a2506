"""JSON Schemas of the outputs, made from the result dataclasses; pydantic is imported only when one is asked for."""

import types
from collections.abc import Callable
from dataclasses import is_dataclass
from typing import Any, Literal, NotRequired, Union, get_args, get_origin, get_type_hints

from mansard.answers._names import KINDS
from mansard.inputs.notes import Note, Source
from mansard.inputs.scenario import Deployment
from mansard.records import Advice, Memory, Phase, Request, Saturation
from mansard.rooflines import OperatorResult
from mansard.single import OperatorAnalysis

# What a document says beside the fields of its class: computed on the way out.
_BESIDE: dict[type, dict[str, Any]] = {
    OperatorResult: {"intensity": float | None, "expected_s": None},
    OperatorAnalysis: {"inputs": dict[str, Any], "device": str},
}


def schema_names() -> tuple[str, ...]:
    """The outputs that have a schema."""
    return tuple(_DOCUMENTS)


def json_schema(name: str) -> dict[str, Any]:
    """The JSON Schema (draft 2020-12) of an output by its name."""
    from pydantic import TypeAdapter

    fields = {"schema": Literal[f"mansard.{name}/1"], "version": str, **_DOCUMENTS[name]()}
    document = _typed(f"{name.capitalize()}Document", fields)
    schema = TypeAdapter(document).json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": f"mansard.{name}/1", **schema}


def _typed(name: str, fields: dict[str, Any]) -> Any:
    from pydantic import ConfigDict
    from typing_extensions import TypedDict

    make: Any = TypedDict  # from what is known only at run time
    made = make(name, fields)
    made.__pydantic_config__ = ConfigDict(extra="forbid")
    return made


def _documented(hint: Any, made: dict[type, Any]) -> Any:
    """A type as it looks in JSON: classes as objects, tuples as lists."""
    if isinstance(hint, type) and (is_dataclass(hint) or hasattr(hint, "_fields")):
        return _object(hint, made)
    origin, inner = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return Union[tuple(_documented(one, made) for one in inner)]  # noqa: UP007  # made at run time
    if origin in (tuple, list):
        return list[_documented(inner[0], made)]  # type: ignore[misc]
    return hint


def _object(kind: type, made: dict[type, Any]) -> Any:
    if kind not in made:
        beside = _BESIDE.get(kind, {})
        hints = {name: hint for name, hint in get_type_hints(kind).items() if name not in beside}
        # A class may hold others of its kind; one level of them is all that there is.
        own = {
            name: list[dict[str, Any]] if kind in _inside(hint) else _documented(hint, made)
            for name, hint in hints.items()
        }
        made[kind] = _typed(kind.__name__, {**own, **beside})
    return made[kind]


def _inside(hint: Any) -> tuple[Any, ...]:
    return (hint, *(deep for one in get_args(hint) for deep in _inside(one)))


def _fields(kind: type) -> dict[str, Any]:
    return dict(get_type_hints(_documented(kind, {})))


def _analysis() -> dict[str, Any]:
    made: dict[type, Any] = {}
    whole = int | None
    return {
        "model": _typed("Model", {**_MODEL, "layers": int}),
        "device": _typed("Device", _DEVICE),
        "workload": _typed(
            "Workload",
            {
                **dict.fromkeys(("batch", "prompt_tokens", "output_tokens", "cached_tokens", "context_tokens"), int),
                **dict.fromkeys(("images", "height", "width", "frames"), whole),
                "seconds": float | None,
                **dict.fromkeys(("encoder_tokens", "decoder_prompt_tokens"), int),
            },
        ),
        "deployment": _typed("Deployment", {**get_type_hints(Deployment), "devices": int}),
        "phases": dict[str, _documented(Phase, made)],  # type: ignore[misc]
        "request": _documented(Request, made),
        "memory": _documented(Memory, made),
        "saturation": _documented(Saturation, made),
        "advice": list[_documented(Advice, made)],  # type: ignore[misc]
        "notes": list[_documented(Note, made)],  # type: ignore[misc]
        "sources": list[_documented(Source, made)],  # type: ignore[misc]
    }


def _device() -> dict[str, Any]:
    made: dict[type, Any] = {}
    value = {"what": str, "value": float, "confidence": str, "source": str, "note": str}
    return {
        "name": str,
        "title": str,
        "vendor": str,
        "aliases": list[str],
        "memory_label": str,
        "texts": dict[str, str],
        "ridge_points": dict[str, float],
        "values": list[_typed("Value", value)],  # type: ignore[misc]
        "notes": list[_documented(Note, made)],  # type: ignore[misc]
        "sources": list[_documented(Source, made)],  # type: ignore[misc]
    }


def _model() -> dict[str, Any]:
    run = {"first": int, "last": int, "mixer": str, "feed_forward": str, "parameters": int}
    part = dict[str, Any]
    layer = {
        "index": int,
        "mixer": part | None,
        "beside": list[part],
        "feed_forward": part | None,
        "norms": list[part],
        "parallel": bool,
        "extras": list[part],
        "vectors": int,
        "streams": part | None,
        "last_only": bool,
        "shared": str,
        "storage": dict[str, str],
    }
    return {
        **_MODEL,
        "hidden_size": int,
        "dtype": str,
        "quantization": str | None,
        "max_position_embeddings": int | None,
        "prediction_parameters": int,
        "layers": list[_typed("Layer", layer)],  # type: ignore[misc]
        "layer_runs": list[_typed("Run", run)],  # type: ignore[misc]
    }


def _advice() -> dict[str, Any]:
    return {"advice": list[_documented(Advice, {})]}  # type: ignore[misc]


def _request() -> dict[str, Any]:
    always = dict.fromkeys(("ttft_s", "itl_s", "e2e_s", "request_tokens_per_s"), float)
    gaps = dict.fromkeys(("tpot_s", "steady_tokens_per_s"), float | None)
    return {**always, **gaps, "output_tokens": int, "prompt_tokens": int | None}


def _explanation() -> dict[str, Any]:
    from mansard.views.derivation import Line

    return {"lines": list[_documented(Line, {})]}  # type: ignore[misc]


def _cited() -> dict[str, Any]:
    source = {**get_type_hints(Source), "states": list[str]}
    return {"name": str, "sources": list[_typed("Cited", source)]}  # type: ignore[misc]


def _list() -> dict[str, Any]:
    rows = NotRequired[list[dict[str, Any]]]
    return {"kind": Literal[KINDS], **dict.fromkeys(KINDS, rows)}


_MODEL: dict[str, Any] = {
    "name": str,
    "source": str,
    "model_type": str,
    "architecture": str,
    "parameters": int,
    "parameters_active": int,
    "parameters_active_no_embedding": int,
    "weight_bytes": int,
    "kv_bytes_per_token": int | None,
    "state_bytes_per_sequence": int | None,
    "notes": list[str],
}
_DEVICE: dict[str, Any] = {
    "name": str,
    "title": str,
    "count": int,
    "peak_flops_per_s": dict[str, float],
    "vector_flops_per_s": float | None,
    "memory_bandwidth_bytes_per_s": float,
    "memory_bytes": int | None,
    "sources": list[str],
}
_DOCUMENTS: dict[str, Callable[[], dict[str, Any]]] = {
    "analysis": _analysis,
    "explanation": _explanation,
    "saturation": lambda: _fields(Saturation),
    "operator": lambda: _fields(OperatorAnalysis),
    "advice": _advice,
    "request": _request,
    "model": _model,
    "device": _device,
    "list": _list,
    "sources": _cited,
}
