"""The command `mansard`: finds its commands in this folder when they are asked for, and words every error."""

import os
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from mansard import __version__
from mansard.answers import SAYS
from mansard.errors import MansardError, did_you_mean
from mansard.registry import module, names

_PACKAGE = "mansard.cli"
# The order in which a newcomer would read them; what is not named here follows by name.
_ORDER = (
    "analyze", "explain", "advise", "saturate", "operator", "request", "list", "show", "cite", "schema", "learn",
    "serve", "mcp",
)  # fmt: skip
# What each command does, so that the list of them need not import them all; a test compares.
SUMMARIES = {
    **SAYS,
    "learn": "Lessons with live figures, and exercises that are checked.",
    "serve": "The page with sliders, and REST, on this machine.",
    "mcp": "The same verbs as tools for agents.",
}


class Mansard(click.Group):
    """A group that loads one file for the command that is run, and none for `--help` or `--version`."""

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.params.append(
            click.Option(
                ["--version"], is_flag=True, expose_value=False, is_eager=True, callback=_say_version,
                help="Show the version and exit.",
            )
        )  # fmt: skip

    def list_commands(self, ctx: click.Context | None = None) -> list[str]:
        """The modules of this folder."""
        del ctx  # the same wherever it is asked
        found = names(_PACKAGE)
        return sorted(found, key=lambda name: (_ORDER.index(name) if name in _ORDER else len(_ORDER), name))

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The module's `command`."""
        del ctx
        if cmd_name not in names(_PACKAGE):
            return None
        found: click.Command = module(_PACKAGE, cmd_name).command
        return found

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command, or an error with near matches."""
        name = args[0]
        if name not in names(_PACKAGE) and not name.startswith("-"):
            near = did_you_mean(name, self.list_commands(ctx))
            ctx.fail(f"no command is called {name[:60]!r}\nhint: {near or 'mansard --help lists the commands'}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The list of commands in the help, from the summaries: no command is imported for it."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, SUMMARIES.get(name, "")) for name in self.list_commands(ctx)])

    def main(  # type: ignore[override]
        self, args: Sequence[str] | None = None, prog_name: str | None = None, **extra: Any
    ) -> int:
        """Runs a command and gives its exit status; no error of a user ends in a traceback."""
        for stream in (sys.stdout, sys.stderr):  # a letter that a terminal lacks is no reason to fail
            if hasattr(stream, "reconfigure"):
                stream.reconfigure(errors="replace")
        standalone = extra.pop("standalone_mode", True)
        status = guarded(
            lambda: super(Mansard, self).main(args, prog_name or "mansard", standalone_mode=False, **extra)
        )
        if standalone:
            sys.exit(status)
        return status


def guarded(run: Callable[[], Any]) -> int:
    """The exit status of what runs; errors are worded on standard error."""
    try:
        status = run()
    except click.exceptions.NoArgsIsHelpError as shown:
        click.echo(shown.format_message(), err=True)
        return 2
    except click.ClickException as bad:
        return _say(bad.format_message(), _where_to_look(bad), bad.exit_code)
    except (KeyboardInterrupt, click.Abort):
        return _say("interrupted", "", 130)
    except MansardError as known:
        return _say(str(known), "", known.exit_code)
    except BrokenPipeError:
        _close_pipe()
        return 0
    except OSError as bad:  # what a command asked for itself it words itself: this is the help, on a disk that is full
        return _say(f"cannot write: {bad.strerror}", "", 2)
    except Exception as bug:  # the last resort: one line, and the traceback only if asked for
        if os.environ.get("MANSARD_DEBUG"):
            raise
        shown_bug = " ".join(str(bug).split())[:200]
        return _say(f"{type(bug).__name__}: {shown_bug}", "this is a bug; set MANSARD_DEBUG=1 for the traceback", 70)
    return status if isinstance(status, int) else 0


def _where_to_look(bad: click.ClickException) -> str:
    if "hint:" in bad.format_message():
        return ""
    context = getattr(bad, "ctx", None)
    return f"{context.command_path} --help" if context is not None else ""


def _say(message: str, hint: str, status: int) -> int:
    try:
        click.echo(f"error: {message}" + (f"\nhint: {hint}" if hint else ""), err=True)
    except BrokenPipeError:
        _close_pipe()
    except OSError:  # nobody can be told
        pass
    return status


def _close_pipe() -> None:
    """Whoever read has gone: what is still buffered goes nowhere, without a word."""
    quiet = os.open(os.devnull, os.O_WRONLY)
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (BrokenPipeError, ValueError):
            os.dup2(quiet, stream.fileno())


def _say_version(ctx: click.Context, _option: click.Parameter, asked: bool) -> None:
    if asked and not ctx.resilient_parsing:
        click.echo(f"mansard {__version__}")
        ctx.exit()
