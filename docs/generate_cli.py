"""Writes the reference page of the command line from the commands' own help: `python docs/generate_cli.py --write`."""

import sys
from collections.abc import Iterator
from pathlib import Path

import click

PAGE = Path(__file__).resolve().parent / "reference" / "cli.md"
OPENING = """\
# Command line

<!-- Written by docs/generate_cli.py from the commands' help; a test compares the two. -->

What MODEL and DEVICE may be, how quantities are read and what the exit statuses mean stands in
[Words and formats](words.md).
"""


def root_command() -> click.Group:
    """The command `mansard`: the group that `mansard.cli` defines.

    Raises:
        LookupError: if it defines none, or several.
    """
    from mansard import cli

    groups = {id(value): value for value in vars(cli).values() if isinstance(value, click.Group)}
    if len(groups) != 1:
        raise LookupError(f"mansard.cli defines {len(groups)} click groups: expected one")
    return next(iter(groups.values()))


def commands(command: click.Command, context: click.Context) -> Iterator[tuple[str, click.Command, click.Context]]:
    """(path, command, context) of a command and of everything below it, in the order of its own help."""
    yield context.command_path, command, context
    if isinstance(command, click.Group):
        for name in command.list_commands(context):
            inner = command.get_command(context, name)
            if inner is not None and not inner.hidden:
                yield from commands(inner, click.Context(inner, info_name=name, parent=context))


def render() -> str:
    """The whole page."""
    root = root_command()
    names = root.context_settings.get("help_option_names")
    context = click.Context(
        root, info_name="mansard", terminal_width=100, max_content_width=100, color=False, help_option_names=names
    )
    sections = [OPENING]
    for path, command, place in commands(root, context):
        # click adapts width and theme to the terminal: these make the page the same everywhere.
        place.terminal_width, place.max_content_width, place.color = 100, 100, False
        text = "\n".join(line.rstrip() for line in click.unstyle(command.get_help(place)).splitlines())
        sections.append(f"## {path}\n\n```text\n{text.strip()}\n```\n")
    return "\n".join(sections)


def main() -> int:
    """Compares the page with the help, or with `--write` writes it."""
    page = render()
    if "--write" in sys.argv[1:]:
        PAGE.write_text(page, encoding="utf-8")
        return 0
    current = PAGE.exists() and PAGE.read_text(encoding="utf-8") == page
    print("the page is current" if current else f"out of date: {PAGE.name}; run with --write")
    return 0 if current else 1


if __name__ == "__main__":
    sys.exit(main())
