"""How every command hands over its answer: data alone on standard output, all else on standard error."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple

import click

from mansard.errors import UsageError
from mansard.inputs.notes import Note
from mansard.views.report import Report

PLAIN_WIDTH = 100


class Answer(NamedTuple):
    """An answer in each of its forms, worked out only in the one that is asked for. `status`: 1 if it is no."""

    document: Callable[[], Any]
    rows: Callable[[], Iterable[Mapping[str, Any]]]
    report: Callable[[], Report]
    notes: Callable[[], Iterable[Note]] = tuple
    status: int = 0


def deliver(answer: Answer, *, shape: str | None, as_json: bool, file: str | None, quiet: bool) -> int:
    """Writes the answer and gives the exit status.

    Raises:
        UsageError: if --json contradicts --format, or the file cannot be written.
    """
    if as_json and shape not in (None, "json"):
        raise UsageError(f"--json and --format {shape} contradict each other", hint="give one of them")
    shape = "json" if as_json else shape or "table"
    if shape == "table" and file is None and _is_terminal():
        from mansard.views.terminal import show

        show(answer.report())
        return answer.status
    text = _rendered(answer, shape)
    _write(text, file)
    if shape in ("json", "jsonl", "csv") and not quiet:
        for note in answer.notes():
            click.echo(f"{'warning' if note.level == 'warning' else 'note'}: {note.text}", err=True)
    return answer.status


def _rendered(answer: Answer, shape: str) -> str:
    if shape == "json":
        import json

        return json.dumps(answer.document(), indent=2, allow_nan=False, ensure_ascii=False) + "\n"
    if shape in ("jsonl", "csv"):
        from mansard.views import rows

        return (rows.to_jsonl if shape == "jsonl" else rows.to_csv)(answer.rows())
    if shape in ("md", "html"):
        from mansard.views import markup

        return (markup.to_markdown if shape == "md" else markup.to_html)(answer.report())
    from mansard.views.plain import to_plain

    return to_plain(answer.report(), _width())


def _write(text: str, file: str | None) -> None:
    if file is not None:
        try:
            with open(file, "w", encoding="utf-8") as target:
                target.write(text)
        except OSError as bad:
            raise UsageError(f"cannot write {file}: {bad.strerror}", hint="choose another place with -o FILE") from bad
        return
    data = text.encode("utf-8")
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
    else:
        sys.stdout.flush()
        stream.write(data)
    sys.stdout.flush()


def _is_terminal() -> bool:
    return sys.stdout.isatty()


def _width() -> int:
    """COLUMNS where it is set, else a width that reads well in a file."""
    asked = os.environ.get("COLUMNS", "")
    return max(40, int(asked)) if asked.isdigit() and len(asked) < 5 else PLAIN_WIDTH
