"""The options that commands share, in the words of the interface."""

from collections.abc import Callable
from functools import wraps
from typing import Any, NamedTuple, TypeVar

import click

from mansard.errors import UsageError

Command = TypeVar("Command", bound=Callable[..., Any])

FORMATS = ("table", "json", "jsonl", "csv", "md", "html")


class Quantity(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases only
    """A number that may carry a unit: `4k` tokens, `500ms`."""

    def __init__(self, unit: str, *, whole: bool = False) -> None:
        self.unit, self.whole = unit, whole
        self.name = "count" if whole else "quantity"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """The value in the base unit.

        Raises:
            BadParameter: if it cannot be read, or must be whole and is not.
        """
        if not isinstance(value, str):
            return value
        from mansard.errors import MansardError
        from mansard.units import parse_quantity

        if self.whole and (plain := _plain_integer(value)) is not None:
            return plain
        try:
            number = parse_quantity(value, self.unit)
        except MansardError as bad:
            self.fail(str(bad), param, ctx)
        if self.whole and not isinstance(number, int):
            self.fail(f"{value[:60]!r} is not a whole number", param, ctx)
        return number


class Named(click.ParamType):  # type: ignore[type-arg]  # generic in newer releases only
    """A name of a catalogue: completed in the shell, checked by what reads it."""

    def __init__(self, name: str, kind: str) -> None:
        self.name, self.kind = name, kind

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[Any]:
        """The names that begin so; files too, since a model or a device may be one."""
        del ctx, param
        from click.shell_completion import CompletionItem

        from mansard.answers._names import names_of

        found = [CompletionItem(name) for name in names_of(self.kind) if name.startswith(incomplete)]
        return found or [CompletionItem(incomplete, type="file")]


def _plain_integer(value: str) -> int | None:
    digits = value.strip()
    return int(digits) if digits.isascii() and digits.isdigit() and len(digits) < 19 else None


def _all(*options: Callable[[Any], Any]) -> Callable[[Command], Command]:
    def decorate(command: Command) -> Command:
        for option in reversed(options):
            command = option(command)
        return command

    return decorate


model_argument = click.argument("model", type=Named("model", "models"))
on_option = click.option(
    "--on", "device", type=Named("device", "devices"), required=True, help="The device it runs on."
)

_TOKENS = Quantity("token", whole=True)
batch = click.option("--batch", type=_TOKENS, help="Sequences at once (1).")
prompt = click.option("--prompt", type=_TOKENS, help="Tokens of the prompt (1024).")
output = click.option("--output", type=_TOKENS, help="Tokens to make (256).")
cached = click.option("--cached", type=_TOKENS, help="Tokens of the prompt that are in the cache already (0).")
context = click.option(
    "--context", type=_TOKENS, help="Tokens that the decode step attends to (prompt and half the output)."
)
media_options = _all(
    click.option(
        "--images", type=_TOKENS, help="Images or videos in each request (none; 1 for what reads nothing else)."
    ),
    click.option("--resolution", metavar="WxH", help="Their size in pixels, such as 1920x1080 (1024x1024)."),
    click.option("--frames", type=_TOKENS, help="Frames of each video (1)."),
    click.option("--seconds", type=Quantity("s"), help="Seconds of sound in each request (none; 30 for speech)."),
)
workload_options = _all(batch, prompt, output, cached, context, media_options)

deployment_options = _all(
    click.option("--weights", metavar="FORMAT", help="How weights are stored: fp8, int8, int4 … (the model's own)."),
    click.option("--activations", metavar="DTYPE", help="What is multiplied: bf16, fp16, fp8 … (the model's own)."),
    click.option("--kv", metavar="DTYPE", help="How the cache is stored: bf16, fp8 … (as the activations)."),
    click.option("--state", metavar="DTYPE", help="How recurrent layers keep their state: fp32, bf16 … (the model's)."),
    click.option("--attention", metavar="HOW", help="auto, fused or standard; absorbed or expanded for MLA (auto)."),
    click.option("--engine", type=Named("engine", "engines"), help="What the engine fuses (ideal)."),
    click.option("--mtp", is_flag=True, help="Layers that draft tokens are loaded: their weights and cache count."),
)
routing_option = click.option("--routing", metavar="HOW", help="Tokens over experts: even, or least touched (even).")
online_option = click.option("--online", is_flag=True, help="Look a hub id up on the network.")

chart_options = _all(
    click.option(
        "--chart",
        "charts",
        multiple=True,
        metavar="[KIND:]FILE",
        help="Draw a chart into FILE.svg, .png, .pdf, .html or .json; KIND is one of `mansard list charts`.",
    ),
    click.option("--theme", type=click.Choice(("light", "dark")), default="light", help="How charts look (light)."),
)
_OUTPUT = _all(
    click.option("--format", "shape", type=click.Choice(FORMATS), default=None, help="How it is written (table)."),
    click.option("--json", "as_json", is_flag=True, help="The same as --format json."),
    click.option(
        "-o",
        "--output-file",
        "file",
        type=click.Path(dir_okay=False),
        help="Write into a file, not to standard output.",
    ),
    click.option("--quiet", is_flag=True, help="No notes."),
)


LOOPBACK = ("127.0.0.1", "localhost", "::1")
server_options = _all(
    click.option("--port", type=click.IntRange(0, 65535), default=8642, show_default=True, help="0 takes a free one."),
    click.option("--host", default="127.0.0.1", show_default=True, help="Anything but loopback needs --token."),
    click.option("--token", envvar="MANSARD_TOKEN", help="What every request must show; also MANSARD_TOKEN."),
)


def require_token(host: str, token: str | None) -> None:
    """Off loopback others can reach a server, so that it must ask for a token.

    Raises:
        UsageError: if there is none.
    """
    if host not in LOOPBACK and not token:
        raise UsageError(
            f"--host {host} lets others in, so that --token is needed",
            hint="for example --host 0.0.0.0 --token $(openssl rand -hex 16)",
        )


class Output(NamedTuple):
    """How an answer is handed over; see the options."""

    shape: str | None = None
    as_json: bool = False
    file: str | None = None
    quiet: bool = False
    charts: tuple[str, ...] = ()
    theme: str = "light"


def output_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options of every command's output, gathered into its argument `out`."""

    @wraps(command)
    def gathered(**given: Any) -> Any:
        out = Output(**{name: given.pop(name) for name in Output._fields if name in given})
        return command(out=out, **given)

    return _OUTPUT(gathered)
