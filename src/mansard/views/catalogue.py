"""What the catalogue holds, as reports: lists, and everything that is known of one device or model."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from mansard.inputs.device import Device, Fact
from mansard.inputs.model import ModelConfig
from mansard.inputs.notes import Source
from mansard.inputs.storage import format_shares
from mansard.views.layers import LAYER_COLUMNS, layer_cells, layer_runs, stack_runs
from mansard.views.report import Block, Column, Report, Table, Text, facts
from mansard.views.sources import source_line
from mansard.views.tables import notes_block
from mansard.views.wording import NONE, bytes_both, counted, figure, number, percent, scaled, short_count

_READ = {"text": "text", "image": "images", "audio": "sound"}
# By which dtype devices are compared: the first of these that a device has.
_COMPARED = ("bf16", "fp16", "fp32")


def compared_peak(device: Device) -> tuple[str, float] | None:
    """The dtype and dense peak by which a device is ranked; None if it has none of them."""
    known = dict(device.peaks)
    for dtype in _COMPARED:
        if dtype in known:
            return dtype, known[dtype].value
    return None if device.vector_peak is None else ("fp32", device.vector_peak.value)


def ridge(device: Device) -> float:
    """Its ridge point in the dtype by which it is ranked; 0 if it has none."""
    found = compared_peak(device)
    return found[1] / device.bandwidth.value if found and device.bandwidth else 0.0


def ranked(devices: Sequence[Device], by: str) -> list[Device]:
    """Devices by name, or by a measure with the largest first."""
    if by == "name":
        return sorted(devices, key=lambda device: device.name)
    measures: dict[str, Callable[[Device], float]] = {
        "ridge": ridge,
        "bandwidth": lambda device: device.bandwidth.value if device.bandwidth else 0.0,
        "peak": lambda device: (compared_peak(device) or ("", 0.0))[1],
    }
    return sorted(devices, key=lambda device: (-measures[by](device), device.name))


def device_rows(devices: Sequence[Device]) -> list[dict[str, Any]]:
    """A row of raw numbers for each device."""
    rows = []
    for device in devices:
        dtype, peak = compared_peak(device) or ("", None)
        rows.append(
            {
                "name": device.name,
                "title": device.title,
                "dtype": dtype,
                "peak_flops_per_s": peak,
                "memory_bandwidth_bytes_per_s": device.bandwidth.value if device.bandwidth else None,
                "ridge_point": ridge(device) or None,
                "memory_bytes": device.memory_bytes,
            }
        )
    return rows


def device_list(devices: Sequence[Device]) -> Report:
    """A line for each device: peak, bandwidth, ridge point, memory."""
    rows = tuple(
        (
            row["name"], row["dtype"], scaled(row["peak_flops_per_s"], "FLOP/s"),
            scaled(row["memory_bandwidth_bytes_per_s"], "B/s"),
            figure(row["ridge_point"]) if row["ridge_point"] else NONE,
            devices[place].memory_label or scaled(row["memory_bytes"], "B"),
        )
        for place, row in enumerate(device_rows(devices))
    )  # fmt: skip
    columns = (
        Column("name"), Column("dtype"), Column("dense peak", right=True),
        Column("bandwidth", right=True), Column("ridge", right=True), Column("memory", right=True),
    )  # fmt: skip
    return Report(headline=counted(len(devices), "device"), blocks=(Table(title="", columns=columns, rows=rows),))


def name_list(kind: str, rows: Sequence[dict[str, Any]]) -> Report:
    """A line for each thing; the keys of the first are the columns."""
    one = kind.removesuffix("s")
    if not rows:
        return Report(headline=f"no {kind}")
    names = list(rows[0])
    right = {name for name in names if all(isinstance(row[name], (int, float)) for row in rows)}
    cells = tuple(tuple(number(row[n]) if n in right else str(row[n] or "") for n in names) for row in rows)
    columns = tuple(Column(name.replace("_", " "), right=name in right) for name in names)
    return Report(headline=counted(len(rows), one), blocks=(Table(title="", columns=columns, rows=cells),))


def device_report(device: Device, *, quiet: bool = False) -> Report:
    """Every value with its confidence and note, and the ridge point of each dtype."""
    first = f"{device.name}: {device.title}, {device.vendor}" if device.vendor else f"{device.name}: {device.title}"
    names = ", ".join(device.aliases)
    blocks: list[Block] = [
        facts(
            "", [*((_words(name), text) for name, text in device.texts), *([("also called", names)] if names else [])]
        )
    ]

    def ridge_of(fact: Fact) -> str:
        return f"{figure(fact.value / device.bandwidth.value)} FLOP/byte" if device.bandwidth else NONE

    rows = [(dtype, scaled(fact.value, "FLOP/s"), ridge_of(fact), *_trust(fact)) for dtype, fact in device.peaks]
    if device.vector_peak is not None:
        fact = device.vector_peak
        rows.append(
            (
                "vector (fp32)",
                scaled(fact.value, "FLOP/s"),
                ridge_of(fact),
                *_trust(fact),
            )
        )
    columns = (
        Column("dtype"), Column("dense peak", right=True), Column("ridge point", right=True), Column("confidence"),
        Column("source"), Column("note"),
    )  # fmt: skip
    blocks.append(Table(title="Peaks", columns=columns, rows=tuple(rows)))
    blocks.append(_memory(device))
    if device.facts:
        others = tuple(
            (name.replace("_", " "), _amount(name, fact.value), *_trust(fact)) for name, fact in device.facts
        )
        blocks.append(Table(title="More", columns=_VALUES, rows=others))
    if not quiet:
        blocks += notes_block(device.notes)
    blocks.append(Text(title="Sources", lines=tuple(f"- {source_line(source)}" for source in device.sources)))
    kept = (block for block in blocks if not isinstance(block, Table) or block.rows)
    return Report(headline=first, blocks=tuple(kept))


_VALUES = (Column("what"), Column("value", right=True), Column("confidence"), Column("source"), Column("note"))


def _memory(device: Device) -> Table:
    rows = (
        []
        if device.bandwidth is None
        else [("bandwidth", scaled(device.bandwidth.value, "B/s"), *_trust(device.bandwidth))]
    )
    if device.memory is not None:
        label = f", sold as {device.memory_label}" if device.memory_label else ""
        rows.append(("size", bytes_both(device.memory.value) + label, *_trust(device.memory)))
    if device.last_level_cache is not None:
        rows.append(("last-level cache", bytes_both(device.last_level_cache.value), *_trust(device.last_level_cache)))
    return Table(title="Memory", columns=_VALUES, rows=tuple(rows))


def _trust(fact: Fact) -> tuple[str, str, str]:
    return fact.confidence, fact.source, fact.note


_ENDINGS = (("flops_per_s", "FLOP/s"), ("bytes_per_s", "B/s"), ("bytes", "B"), ("hz", "Hz"), ("w", "W"))


def _words(name: str) -> str:
    """A fact's name without the unit that its value shows."""
    for ending, _ in _ENDINGS:
        name = name.removesuffix(f"_{ending}")
    return name.replace("_", " ").replace("usd per h", "[USD/h]")


def _amount(name: str, value: float) -> str:
    """A value in the unit that its name ends in."""
    for ending, unit in _ENDINGS:
        if name.endswith(f"_{ending}"):
            return scaled(value, unit)
    return f"{value:.0f}" if name.endswith("year") else number(value)


def stored(model: ModelConfig) -> str:
    """How the weights are stored, in words: the dtype, or the checkpoint's own format and the dtype of the rest."""
    if model.stored is not None:
        return f"{model.stored.name} in its layers, as its files hold it"
    if model.quantization is None:
        return model.dtype
    return ", ".join(f"{name} ({percent(share)} of the parameters)" for name, share in format_shares(model))


def model_report(model: ModelConfig, document: dict[str, Any], *, quiet: bool = False) -> Report:
    """Its facts, then its layers in runs of alike ones."""
    pairs = [
        ("architecture", " ".join(part for part in (model.architecture, f"({model.model_type})") if part.strip("()"))),
        ("parameters", number(document["parameters"])),
        ("active per token", number(document["parameters_active"])),
        ("  without embedding", number(document["parameters_active_no_embedding"])),
        ("weights", f"{bytes_both(document['weight_bytes'])} in {stored(model)}"),
        ("cache per token", "not known" if model.opaque_parameters else f"{number(document['kv_bytes_per_token'])} B"),
        ("state per sequence", f"{number(document['state_bytes_per_sequence'] or 0)} B" * bool(model.state_elements)),
        (
            "longest context",
            f"{number(model.max_position_embeddings)} tokens" if model.max_position_embeddings else NONE,
        ),
        ("source", model.source),
    ]
    if model.hidden_size:
        pairs.insert(1, ("hidden size", number(model.hidden_size)))
    blocks: list[Block] = [facts("", [pair for pair in pairs if pair[1]])]
    if model.layers:
        blocks.append(_layer_table("Layers", layer_runs(model)))
    for encoder in model.encoders:
        runs = stack_runs(encoder.layers, encoder.hidden_size)
        blocks.append(_layer_table(f"Encoder of {encoder.modality}, width {number(encoder.hidden_size)}", runs))
    if not quiet:
        blocks += notes_block(model.notes)
    headline = f"{model.name}: {short_count(model.parameters)} parameters, {_stacks(model)}"
    return Report(headline=headline, blocks=tuple(blocks))


def _layer_table(title: str, runs: Sequence[dict[str, Any]]) -> Table:
    return Table(title=title, columns=LAYER_COLUMNS, rows=tuple(layer_cells(run) for run in runs))


def _stacks(model: ModelConfig) -> str:
    encoders = [f"{counted(len(one.layers), 'layer')} that read {_READ[one.modality]}" for one in model.encoders]
    own = [counted(len(model.layers), "layer")] if model.layers else []
    return " and ".join((*own, *encoders)) or "a parameter count alone"


def citation(subject: str, sources: Sequence[Source], stated: Mapping[str, Sequence[str]]) -> Report:
    """What stands behind the numbers of a device or a model; `stated`: by source, the values that it is taken for."""
    if not sources:
        return Report(headline=f"{subject}: no source is recorded")
    lines = tuple(
        f"- {source_line(source)}" + (f"; states {', '.join(stated[source.id])}" if stated.get(source.id) else "")
        for source in sources
    )
    return Report(headline=f"{subject}: {counted(len(sources), 'source')}", blocks=(Text(title="", lines=lines),))
