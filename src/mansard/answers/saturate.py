"""`saturate`: the batch at which compute catches up, or never and why."""

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Unpack

from mansard import analysis
from mansard.answers._answer import Answer, Charts
from mansard.answers._subject import called
from mansard.inputs.device import DeviceLike
from mansard.inputs.model import ModelLike
from mansard.inputs.notes import Note
from mansard.inputs.scenario import SaturateWords
from mansard.records import Saturation, plain
from mansard.scenarios import Scenario, scenario
from mansard.views.report import Report

if TYPE_CHECKING:
    from mansard.views.drawing import Chart


def answer(model: ModelLike, *, on: DeviceLike, **words: Unpack[SaturateWords]) -> Answer:
    """The answer of `mansard saturate`; the words are those of `mansard.saturate`."""
    found = analysis.saturate(model, on=on, **words)
    notes = tuple(_notes(scenario(model, on=on, **words), found, words.get("context")))

    def draw(kind: str, **look: Any) -> "Chart":
        from mansard.views.drawing import draw as drawn

        return drawn(kind, analysis.analyze(model, on=on, **words), **look)

    charts = Charts("batch", ("batch", "context", "roofline"), draw)
    return replace(of(found, f"{called(model)} on {called(on)}", notes), charts=charts)


def of(found: Saturation, subject: str = "", notes: tuple[Note, ...] = ()) -> Answer:
    """A saturating batch in every form."""

    def report(*, quiet: bool = False) -> Report:
        from mansard.views.tables import facts_of_saturation, with_notes

        drawn = facts_of_saturation(found, subject or "decode")
        return with_notes(drawn, () if quiet else notes)

    return Answer(document=found.to_dict, rows=lambda: [plain(found)], report=report, notes=lambda: notes)


def _notes(where: Scenario, found: Saturation, context: int | None) -> Iterator[Note]:
    """What stands in the way of the batch: memory that it does not fit into, a cache that is not known."""
    binding, room = where.binding, where.binding.device.memory_bytes
    if context is not None and binding.model.opaque_parameters:
        text = "a parameter count tells nothing of the cache: the context changes nothing here"
        yield Note(level="warning", code="parameter-count", text=text)
    if room is not None and found.batch is not None:
        needed = where.needed_bytes(found.batch, context or 1)
        if needed > room:
            text = f"that batch needs {needed / 1e9:,.1f} GB, more than the device's {room / 1e9:,.1f} GB"
            yield Note(level="warning", code="does-not-fit", text=text)
    dtypes = [dtype for dtype, _ in where.step_of(where.phase_names[-1])[0].peaks]
    if len(dtypes) > 1:
        text = f"{' and '.join(dtypes)} are mixed: the ridge point weighs their peaks by the work in each"
        yield Note(level="info", code="mixed-dtypes", text=text)
