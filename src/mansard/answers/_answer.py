"""An answer in each of its forms: a document, flat rows, a report; worked out only in the one that is asked for."""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

from mansard.errors import UsageError, did_you_mean
from mansard.inputs.notes import Note
from mansard.views.report import Report

if TYPE_CHECKING:
    from mansard.views.drawing import Chart


class Reporter(Protocol):
    """What makes a report; `quiet`: without the notes."""

    def __call__(self, *, quiet: bool = False) -> Report: ...


class Charts(NamedTuple):
    """How an answer is drawn: its usual chart, those that it has, and what draws one."""

    usual: str
    kinds: tuple[str, ...]
    draw: Callable[..., "Chart"]


# No tuple, since what reads tables would take one for a row.
@dataclass(frozen=True, slots=True, kw_only=True, eq=False, repr=False)
class Answer:
    """What a verb answers. `status` is the exit status: 1 if the answer is no. charts: None if it has none."""

    document: Callable[[], dict[str, Any]]
    rows: Callable[[], Iterable[Mapping[str, Any]]]
    report: Reporter
    notes: Callable[[], Iterable[Note]] = tuple
    status: int = 0
    charts: Charts | None = None

    def to_dict(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        return self.document()

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON text; never NaN or Infinity."""
        return json.dumps(self.document(), indent=indent, allow_nan=False, ensure_ascii=False)

    def chart(self, kind: str | None = None, *, theme: str = "light", width: int | None = None) -> "Chart":
        """A chart of the answer; without a kind the usual one.

        Raises:
            UsageError: if the answer has no such chart.
        """
        if self.charts is None:
            raise UsageError("this answer has no chart", hint="analyze, saturate and list devices have charts")
        kind = kind or self.charts.usual
        if kind not in self.charts.kinds:
            hint = did_you_mean(kind, self.charts.kinds) or f"one of {', '.join(self.charts.kinds)}"
            raise UsageError(f"this answer has no chart that is called {kind[:60]!r}", hint=hint)
        size = {} if width is None else {"width": width}
        return self.charts.draw(kind, theme=theme, **size)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        """The rows as an Arrow stream: `polars.DataFrame(answer)`, and the like in pandas, duckdb and pyarrow.

        Raises:
            UnavailableError: if the extra `arrow` is not installed.
        """
        from mansard.answers._arrow import arrow_stream

        return arrow_stream(self.rows(), requested_schema)

    def __str__(self) -> str:
        from mansard.views.plain import to_plain

        return to_plain(self.report()).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Answer: {self.report().headline or self.document().get('schema', '')}>"

    def _repr_html_(self) -> str:
        from mansard.views.markup import to_fragment

        return to_fragment(self.report())
