"""Runs the server until it is interrupted, and says where the page is."""

import socket
import sys
import threading
import webbrowser
from typing import Any

import uvicorn

from mansard.errors import UsageError
from mansard.server.agents import create_server
from mansard.server.app import create_app
from mansard.server.guards import LOOPBACK, Guard


def serve(*, host: str, port: int, token: str | None, opens: bool) -> int:
    """Serves until an interrupt; 0 as the port takes a free one.

    Raises:
        UsageError: if the address cannot be listened on.
    """
    app = create_app(hosts=_hosts(host), token=token)
    return _run(app, host, port, "" if token is None else f"?token={token}", opens=opens)


def serve_agents(*, host: str, port: int, token: str | None) -> int:
    """The tools for agents over HTTP at /mcp, behind the same guard.

    Raises:
        UsageError: if the address cannot be listened on.
    """
    app = create_server().streamable_http_app(stateless_http=True, json_response=True, host=host)
    return _run(Guard(app, hosts=_hosts(host), token=token), host, port, "mcp", opens=False)


def _hosts(host: str) -> tuple[str, ...]:
    return LOOPBACK if host in LOOPBACK else (*LOOPBACK, host, socket.gethostname())


def _run(app: Any, host: str, port: int, path: str, *, opens: bool) -> int:
    listening = _listening(host, port)
    shown = f"[{host}]" if ":" in host else host
    address = f"http://{shown}:{listening.getsockname()[1]}/{path}"
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, server_header=False))
    sys.stderr.write(f"mansard is at {address} (interrupt to stop)\n")
    sys.stderr.flush()
    if opens:
        threading.Timer(0.3, webbrowser.open, (address,)).start()
    server.run(sockets=[listening])
    return 0


def _listening(host: str, port: int) -> socket.socket:
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # Said to be TCP, or asyncio leaves Nagle's algorithm on, and an answer waits 40 ms for an acknowledgement.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, port))
    except OSError as bad:
        found.close()
        raise UsageError(f"cannot listen on {host}:{port}: {bad.strerror}", hint="--port 0 takes a free one") from bad
    return found
