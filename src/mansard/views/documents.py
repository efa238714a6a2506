"""The JSON documents of `show`: a device with every value, a model with its layers."""

from typing import Any

from mansard.inputs.device import Device, Fact
from mansard.inputs.model import ModelConfig
from mansard.inputs.scenario import Deployment
from mansard.memory import cache_bytes_per_token, state_bytes, weight_bytes
from mansard.records import package_version, plain
from mansard.views.layers import layer_runs


def device_values(device: Device) -> list[dict[str, Any]]:
    """Every number of a device as a flat row: what, value, confidence, source, note."""
    found: list[tuple[str, Fact]] = [(f"peak_flops_per_s {dtype}", fact) for dtype, fact in device.peaks]
    for name, fact in (
        ("vector_flops_per_s", device.vector_peak),
        ("memory_bandwidth_bytes_per_s", device.bandwidth),
        ("memory_bytes", device.memory),
        ("last_level_cache_bytes", device.last_level_cache),
    ):
        if fact is not None:
            found.append((name, fact))
    return [{"what": name, **plain(fact)} for name, fact in (*found, *device.facts)]


def device_document(device: Device) -> dict[str, Any]:
    """The document of schema `mansard.device/1`."""
    bandwidth = device.bandwidth.value if device.bandwidth else None
    return {
        "schema": "mansard.device/1",
        "version": package_version(),
        "name": device.name,
        "title": device.title,
        "vendor": device.vendor,
        "aliases": list(device.aliases),
        "memory_label": device.memory_label,
        "texts": dict(device.texts),
        "ridge_points": {dtype: fact.value / bandwidth for dtype, fact in device.peaks} if bandwidth else {},
        "values": device_values(device),
        "notes": plain(device.notes),
        "sources": plain(device.sources),
    }


def model_document(model: ModelConfig) -> dict[str, Any]:
    """The document of schema `mansard.model/1`: the `model` object of an analysis with the per-layer list."""
    own = Deployment()
    return {
        "schema": "mansard.model/1",
        "version": package_version(),
        "name": model.name,
        "source": model.source,
        "model_type": model.model_type,
        "architecture": model.architecture,
        "hidden_size": model.hidden_size,
        "dtype": model.dtype,
        "quantization": model.quantization.method if model.quantization else None,
        "max_position_embeddings": model.max_position_embeddings,
        "parameters": model.parameters,
        "parameters_active": model.parameters_active,
        "parameters_active_no_embedding": model.parameters_active_no_embedding,
        "prediction_parameters": model.prediction_parameters,
        "weight_bytes": weight_bytes(model, own),
        "kv_bytes_per_token": cache_bytes_per_token(model, own),
        "state_bytes_per_sequence": None if model.opaque_parameters else state_bytes(model, own),
        "layers": [{"index": place, **_layer(layer)} for place, layer in enumerate(model.layers)],
        "layer_runs": layer_runs(model),
        "notes": [note.text for note in model.notes],
    }


def _layer(layer: Any) -> dict[str, Any]:
    return {
        "mixer": _part(layer.mixer),
        "beside": [_part(mixer) for mixer in layer.beside],
        "feed_forward": _part(layer.feed_forward),
        "norms": plain(layer.norms),
        "parallel": layer.parallel,
        "extras": plain(layer.extras),
        "vectors": layer.vectors,
        "streams": plain(layer.streams),
        "last_only": layer.last_only,
        "shared": layer.shared,
        "storage": {key: stored.name for key, stored in layer.storage},
    }


def _part(part: Any) -> dict[str, Any] | None:
    return None if part is None else {"kind": type(part).__name__, **plain(part)}
