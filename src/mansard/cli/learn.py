"""`mansard learn`."""

import sys

import click

from mansard.answers._answer import Answer
from mansard.cli import _options as options
from mansard.cli._output import deliver
from mansard.errors import UsageError


@click.command("learn", short_help="Lessons with live figures, and exercises that are checked.")
@click.argument("lesson", required=False)
@click.argument("path", metavar="[FILE]", required=False, type=click.Path())
@click.option("--answers", is_flag=True, help="Show how each exercise is solved.")
@options.output_options
def command(*, lesson: str | None, path: str | None, answers: bool, out: options.Output) -> int:
    """Eight lessons, from two clocks to mixtures: on a terminal they ask and check. `check` grades your own functions.

    \b
    mansard learn
    mansard learn clocks
    mansard learn check my_roofline.py

    `check` runs FILE in a process of its own and exits with 1 if a case fails.
    """  # noqa: D301  # click's mark: do not wrap
    if lesson == "check":
        if path is None:
            raise UsageError("check needs a file", hint="mansard learn check FILE.py")
        return deliver(_checked(path), out)
    if path is not None:
        raise UsageError(f"{path[:60]!r} is one word too many", hint="mansard learn check FILE.py")
    if lesson is None:
        return deliver(_listed(), out)
    is_plain = out == options.Output() and not answers
    if is_plain and _is_dialogue():
        return _taught(lesson)
    return deliver(_shown(lesson, answers), out)


def _is_dialogue() -> bool:
    """Whether somebody is there to answer."""
    return sys.stdin.isatty() and sys.stdout.isatty()


def _listed() -> Answer:
    from mansard.records import package_version
    from mansard.views.report import Column, Report, Table
    from mansard.views.teaching import lesson_list

    rows = lesson_list()

    def report(*, quiet: bool = False) -> Report:
        del quiet  # there are no notes
        cells = tuple((str(row["place"]), row["name"], row["title"]) for row in rows)
        columns = (Column("", right=True), Column("name"), Column("lesson"))
        return Report(
            headline="Eight lessons: mansard learn NAME", blocks=(Table(title="", columns=columns, rows=cells),)
        )

    return Answer(
        document=lambda: {"schema": "mansard.lessons/1", "version": package_version(), "lessons": rows},
        rows=lambda: rows,
        report=report,
    )


def _shown(name: str, answers: bool) -> Answer:
    from mansard.records import package_version
    from mansard.views.report import Report
    from mansard.views.teaching import lesson_document, lesson_report

    document = lesson_document(name)

    def report(*, quiet: bool = False) -> Report:
        del quiet  # there are no notes
        return lesson_report(name, answers=answers)

    return Answer(
        document=lambda: {"schema": "mansard.lesson/1", "version": package_version(), **document},
        rows=lambda: document["exercises"],
        report=report,
    )


def _checked(file: str) -> Answer:
    from mansard.records import package_version, plain
    from mansard.views.grading import grade
    from mansard.views.report import Column, Report, Table, Text

    grades = grade(file)
    failed = [one for one in grades if one.fault]

    def report(*, quiet: bool = False) -> Report:
        del quiet  # there are no notes
        first = f"{len(grades) - len(failed)} of {len(grades)} functions pass every case."
        rows = tuple((one.function, f"{one.passed} of {one.cases}", "" if one.fault else "passes") for one in grades)
        table = Table(title="", columns=(Column("function"), Column("cases", right=True), Column("")), rows=rows)
        faults = tuple(f"- {one.function}: {one.fault}" if one.is_missing else f"- {one.fault}" for one in failed)
        return Report(headline=first, blocks=(table, *((Text(title="What fails", lines=faults),) if faults else ())))

    return Answer(
        document=lambda: {"schema": "mansard.grades/1", "version": package_version(), "grades": plain(grades)},
        rows=lambda: plain(grades),
        report=report,
        status=1 if failed else 0,
    )


def _taught(name: str) -> int:
    """A lesson in dialogue: the prediction first, then the text, then each exercise until it is right or given up."""
    from mansard.views.plain import to_plain
    from mansard.views.report import Report, Text
    from mansard.views.teaching import judge, load_lesson

    one = load_lesson(name)
    click.secho(f"Lesson {one.place}: {one.title}\n", bold=True)
    click.echo(to_plain(Report(headline=one.prediction.question)))
    for place, option in enumerate(one.prediction.options):
        click.echo(f"  {place + 1}  {option}")
    guess = click.prompt("Your guess", type=click.IntRange(1, len(one.prediction.options)))
    click.echo(("Right. " if guess - 1 == one.prediction.right else "No. ") + one.prediction.why + "\n")
    blocks = (Text(title="What happens", lines=one.text), Text(title="Worked example", lines=one.worked, literal=True))
    click.echo(to_plain(Report(headline="", blocks=blocks)))
    for place, exercise in enumerate(one.exercises):
        click.echo(to_plain(Report(headline=f"Exercise {place + 1}: {exercise.question}")))
        for tries in (1, 2):
            judgement = judge(name, place, click.prompt(f"Answer [{exercise.unit}]"), tries)
            click.echo(judgement.says + "\n")
            if judgement.is_right:
                break
    return 0
