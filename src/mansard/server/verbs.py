"""Requests become answers: names are looked up in the catalogue alone, and what was loaded is kept for the next one."""

from collections import OrderedDict
from json import dumps
from typing import Any

from mansard import algebra
from mansard.analysis import analyze
from mansard.answers._answer import Answer
from mansard.answers._names import names_of
from mansard.answers.analyze import of
from mansard.errors import UsageError
from mansard.inputs.device import Device
from mansard.inputs.device_file import named_device
from mansard.inputs.model import ModelConfig
from mansard.loading import named_model, read_config
from mansard.records import package_version
from mansard.registry import module
from mansard.results import Analysis
from mansard.server import words
from mansard.views.drawing import draw
from mansard.views.headline import headline
from mansard.views.report import Block, Report, Table

_MOST_KEPT = 64
_PASTED = "config.json"


class Kept:
    """The last models and devices by what they were asked for with: a slider asks for the same ones again and again."""

    def __init__(self) -> None:
        self._found: OrderedDict[str, Any] = OrderedDict()

    def model(self, asked: str | dict[str, Any]) -> ModelConfig:
        """A model by its name, or from a parsed config.json.

        Raises:
            MansardError: if it is not known, or the configuration is bad.
        """
        if isinstance(asked, str):
            found: ModelConfig = self._get(f"model {asked}", lambda: named_model(asked))
        else:
            key = f"config {dumps(asked, sort_keys=True, default=str)}"
            found = self._get(key, lambda: read_config(asked, _PASTED, name=_name(asked)))
        return found

    def device(self, asked: str) -> Device:
        """A device by its name or its numbers.

        Raises:
            UsageError: if it is not known.
        """
        found: Device = self._get(f"device {asked}", lambda: named_device(asked))
        return found

    def _get(self, key: str, load: Any) -> Any:
        if key not in self._found:
            self._found[key] = load()
            if len(self._found) > _MOST_KEPT:
                self._found.popitem(last=False)
        self._found.move_to_end(key)
        return self._found[key]


def _name(config: dict[str, Any]) -> str:
    """What a pasted configuration is called: by its publisher, or after its type."""
    given = config.get("_name_or_path") or config.get("model_type") or "config.json"
    return str(given).rstrip("/").rsplit("/", 1)[-1][:60] or "config.json"


def answered(verb: str, asked: words.Words, kept: Kept) -> Answer:
    """The answer of a verb.

    Raises:
        MansardError: if the words cannot be understood or the configuration is bad.
    """
    given = {name: value for name, value in asked.model_dump().items() if value is not None}
    if isinstance(asked, words.Asked):
        given |= {"model": kept.model(asked.model), "on": kept.device(asked.on)}
    elif isinstance(asked, words.Operator):
        given = {"name": asked.name, "on": kept.device(asked.on), **_inputs(asked.inputs)}
    elif isinstance(asked, words.Named):
        given = {"name": _subject(asked.name, kept)}
    answer: Answer = module("mansard.answers", verb).answer(**given)
    return answer


def _inputs(given: dict[str, Any]) -> dict[str, Any]:
    """An operator's inputs; those that would be taken for arguments of the verb are no inputs of any operator."""
    return {(f"{name} " if name in ("name", "on", "explains") else name): value for name, value in given.items()}


def _subject(name: str, kept: Kept) -> Device | ModelConfig:
    if name.startswith("params=") or name in names_of("models"):
        return kept.model(name)
    try:
        return kept.device(name)
    except UsageError:
        return kept.model(name)


def analysis_of(asked: words.Scenario, kept: Kept) -> Analysis:
    """The analysis of a scenario.

    Raises:
        MansardError: if the words cannot be understood or the configuration is bad.
    """
    given = {name: value for name, value in asked.model_dump(exclude={"model", "on"}).items() if value is not None}
    return analyze(kept.model(asked.model), on=kept.device(asked.on), **given)


def chart_of(asked: words.Drawn, kept: Kept) -> dict[str, Any]:
    """A chart's description.

    Raises:
        MansardError: if the words cannot be understood or the chart takes another number of runs.
    """
    return _drawn(asked, [analysis_of(run, kept) for run in asked.runs])


def _drawn(asked: words.Drawn, runs: list[Analysis]) -> dict[str, Any]:
    return draw(asked.kind, *runs, theme=asked.theme, width=asked.width, along=asked.along).spec


def page_of(asked: words.Page, kept: Kept) -> dict[str, Any]:
    """All that the page shows after a change: for each run its headline and tables, and the chart of all of them.

    Raises:
        MansardError: as `analysis_of`.
    """
    runs = [analysis_of(run, kept) for run in asked.runs]
    found: dict[str, Any] = {"runs": [_shown(run) for run in runs]}
    if asked.chart is not None:
        drawn = runs if asked.chart.kind in ("roofline", "hardware") else runs[:1]
        found["chart"] = _drawn(asked.chart, drawn)
    return found


def _shown(found: Analysis) -> dict[str, Any]:
    """What the page shows of a run: the first line, and the report's blocks as data."""
    answer = of(found)
    return {
        "model": found.model.name,
        "device": found.device.name,
        "headline": headline(found),
        "fits": found.fits,
        "bounds": {name: phase.bound for name, phase in found.phases.items()},
        "blocks": blocks(answer.report()),
    }


def blocks(report: Report) -> list[dict[str, Any]]:
    """A report's blocks as plain data: tables with their columns, texts with their lines."""
    return [_block(block) for block in report.blocks]


def _block(block: Block) -> dict[str, Any]:
    if isinstance(block, Table):
        columns = [{"title": column.title, "right": column.right} for column in block.columns]
        return {"title": block.title, "columns": columns, "rows": [list(row) for row in block.rows]}
    return {"title": block.title, "lines": list(block.lines), "literal": block.literal}


def algebra_of(asked: words.Algebra) -> dict[str, Any]:
    """The roofline of one weight matrix at a batch: two FLOPs a weight and sequence, each weight read once."""
    intensity = algebra.matmul_intensity(asked.batch, asked.bytes_per_parameter)
    ridge = algebra.ridge_point(asked.peak, asked.bandwidth)
    attainable = algebra.attainable(asked.peak, asked.bandwidth, intensity)
    return {
        "schema": "mansard.algebra/1",
        "version": package_version(),
        "intensity": intensity,
        "ridge_point": ridge,
        "attainable_flops_per_s": attainable,
        "share_of_peak": attainable / asked.peak,
        "bound": algebra.bound(asked.peak, asked.bandwidth, intensity),
        "batch_to_saturate": algebra.batch_to_saturate(asked.peak, asked.bandwidth, asked.bytes_per_parameter),
    }
