"""How every command hands over its answer: data alone on standard output, all else on standard error."""

import os
import sys
from contextlib import suppress
from typing import TYPE_CHECKING

import click

from mansard.cli._options import Output
from mansard.errors import UsageError

if TYPE_CHECKING:
    from mansard.answers._answer import Answer

PLAIN_WIDTH = 100


def deliver(answer: "Answer", out: Output) -> int:
    """Writes the answer and its charts, and gives the exit status.

    Raises:
        UsageError: if --json contradicts --format, or the file cannot be written.
    """
    if out.as_json and out.shape not in (None, "json"):
        raise UsageError(f"--json and --format {out.shape} contradict each other", hint="give one of them")
    shape = "json" if out.as_json else out.shape or "table"
    for named in out.charts:
        _draw(answer, named, out)
    if shape == "table" and out.file is None and _is_terminal():
        from mansard.views.terminal import show

        show(answer.report(quiet=out.quiet))
        return answer.status
    _write(_rendered(answer, shape, out.quiet), out.file)
    if shape in ("json", "jsonl", "csv") and not out.quiet:
        with suppress(OSError):  # the answer is whole; whether anybody reads the notes is another matter
            for note in answer.notes():
                click.echo(f"{'warning' if note.level == 'warning' else 'note'}: {note.text}", err=True)
    return answer.status


def _draw(answer: "Answer", named: str, out: Output) -> None:
    """One `--chart`: `roof.svg`, or `memory:mem.png` where the kind is not the usual one."""
    kind, colon, place = named.partition(":")
    if not colon or "/" in kind or "." in kind:
        kind, place = "", named
    answer.chart(kind or None, theme=out.theme).save(place)
    if not out.quiet:
        click.echo(f"note: chart written to {place}", err=True)


def _rendered(answer: "Answer", shape: str, quiet: bool) -> str:
    if shape == "json":
        return answer.to_json() + "\n"
    if shape in ("jsonl", "csv"):
        from mansard.views import rows

        return (rows.to_jsonl if shape == "jsonl" else rows.to_csv)(answer.rows())
    if shape in ("md", "html"):
        from mansard.views import markup

        return (markup.to_markdown if shape == "md" else markup.to_html)(answer.report(quiet=quiet))
    from mansard.views.plain import to_plain

    return to_plain(answer.report(quiet=quiet), _width())


def _write(text: str, file: str | None) -> None:
    if file is not None:
        try:
            with open(file, "w", encoding="utf-8") as target:
                target.write(text)
        except OSError as bad:
            raise UsageError(f"cannot write {file}: {bad.strerror}", hint="choose another place with -o FILE") from bad
        return
    try:
        _print(text)
    except BrokenPipeError:
        raise
    except OSError as bad:
        raise UsageError(f"cannot write to standard output: {bad.strerror}", hint="write into a file with -o") from bad


def _print(text: str) -> None:
    if sys.stdout is None:
        raise UsageError("standard output is closed", hint="write into a file with -o")
    stream = getattr(sys.stdout, "buffer", None)
    if stream is None:
        sys.stdout.write(text)
    else:
        sys.stdout.flush()
        stream.write(text.encode("utf-8"))
    sys.stdout.flush()


def _is_terminal() -> bool:
    return sys.stdout is not None and sys.stdout.isatty()


def _width() -> int:
    """COLUMNS where it is set, else a width that reads well in a file."""
    asked = os.environ.get("COLUMNS", "")
    return max(40, int(asked)) if asked.isascii() and asked.isdigit() and len(asked) < 5 else PLAIN_WIDTH
