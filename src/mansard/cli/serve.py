"""`mansard serve`."""

import click

from mansard.cli import _options as options
from mansard.errors import UnavailableError


@click.command("serve", short_help="The page with sliders, and REST, on this machine.")
@options.server_options
@click.option("--no-open", is_flag=True, help="Do not open the page in a browser.")
def command(*, port: int, host: str, token: str | None, no_open: bool) -> int:
    """Opens a page that answers while a slider moves; the same answers as JSON at /api, described at /docs.

    \b
    mansard serve
    mansard serve --port 0 --no-open
    """  # noqa: D301  # click's mark: do not wrap
    options.require_token(host, token)
    try:
        from mansard.server.run import serve
    except ImportError as missing:
        raise UnavailableError(
            f"the page needs the extra web: {missing.name} is not installed", hint="pip install 'mansard[web]'"
        ) from missing
    return serve(host=host, port=port, token=token, opens=not no_open)
