"""`mansard mcp`."""

import click

from mansard.cli import _options as options
from mansard.errors import UnavailableError


@click.command("mcp", short_help="The same verbs as tools for agents.")
@click.option("--http", is_flag=True, help="Over HTTP at /mcp, not over standard input and output.")
@options.server_options
def command(*, http: bool, port: int, host: str, token: str | None) -> int:
    """Serves the verbs as tools of the Model Context Protocol, over standard input and output or HTTP.

    \b
    mansard mcp
    mansard mcp --http --port 8643
    """  # noqa: D301  # click's mark: do not wrap
    try:
        from mansard.server.agents import run_stdio
        from mansard.server.run import serve_agents
    except ImportError as missing:
        raise UnavailableError(
            f"agents need the extra web: {missing.name} is not installed", hint="pip install 'mansard[web]'"
        ) from missing
    if not http:
        run_stdio()
        return 0
    options.require_token(host, token)
    return serve_agents(host=host, port=port, token=token)
