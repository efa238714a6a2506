"""An answer in each of its forms: a document, flat rows, a report; worked out only in the one that is asked for."""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, Protocol

from mansard.inputs.notes import Note
from mansard.views.report import Report


class Reporter(Protocol):
    """What makes a report; `quiet`: without the notes."""

    def __call__(self, *, quiet: bool = False) -> Report: ...


class Answer(NamedTuple):
    """What a verb answers. `status` is what the command exits with: 1 if the answer is no."""

    document: Callable[[], dict[str, Any]]
    rows: Callable[[], Iterable[Mapping[str, Any]]]
    report: Reporter
    notes: Callable[[], Iterable[Note]] = tuple
    status: int = 0

    def to_dict(self) -> dict[str, Any]:
        """The document that `--json` prints."""
        return self.document()

    def to_json(self, indent: int | None = 2) -> str:
        """The same as JSON text; never NaN or Infinity."""
        return json.dumps(self.document(), indent=indent, allow_nan=False, ensure_ascii=False)

    def __str__(self) -> str:
        from mansard.views.plain import to_plain

        return to_plain(self.report()).rstrip("\n")

    def __repr__(self) -> str:
        return f"<Answer: {self.report().headline or self.document().get('schema', '')}>"

    def _repr_html_(self) -> str:
        from mansard.views.markup import to_fragment

        return to_fragment(self.report())
