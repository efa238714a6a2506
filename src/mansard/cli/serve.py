"""`mansard serve`."""

import click

from mansard.errors import UnavailableError, UsageError

_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@click.command("serve", short_help="The page with sliders, and REST, on this machine.")
@click.option("--port", type=click.IntRange(0, 65535), default=8642, show_default=True, help="0 takes a free one.")
@click.option("--host", default="127.0.0.1", show_default=True, help="Anything but loopback needs --token.")
@click.option("--token", envvar="MANSARD_TOKEN", help="What every request must show; also MANSARD_TOKEN.")
@click.option("--no-open", is_flag=True, help="Do not open the page in a browser.")
def command(*, port: int, host: str, token: str | None, no_open: bool) -> int:
    """Opens a page that answers while a slider moves; the same answers as JSON at /api, described at /docs.

    \b
    mansard serve
    mansard serve --port 0 --no-open
    """  # noqa: D301  # click's mark: do not wrap
    if host not in _LOOPBACK and not token:
        raise UsageError(
            f"--host {host} lets others in, so that --token is needed",
            hint="mansard serve --host 0.0.0.0 --token $(openssl rand -hex 16)",
        )
    try:
        from mansard.server.run import serve
    except ImportError as missing:
        raise UnavailableError(
            f"the page needs the extra web: {missing.name} is not installed", hint="pip install 'mansard[web]'"
        ) from missing
    return serve(host=host, port=port, token=token, opens=not no_open)
