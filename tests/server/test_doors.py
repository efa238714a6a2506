"""The doors themselves: processes that are started, reached over their transports, and stopped."""

import re
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from click.testing import CliRunner

from asking_agents import call
from mansard.cli import root

mcp = pytest.importorskip("mcp", reason="the extra web is not installed")
httpx = pytest.importorskip("httpx", reason="httpx is not installed")
pytestmark = pytest.mark.slow
COMMAND = [sys.executable, "-m", "mansard"]


@contextmanager
def running(*words: str) -> Iterator[str]:
    """A server on a free port, and where it is."""
    process = subprocess.Popen([*COMMAND, *words, "--port", "0"], stderr=subprocess.PIPE, text=True)
    assert process.stderr is not None
    try:
        found = re.search(r"http://\S+", process.stderr.readline())
        assert found is not None
        yield found[0]
    finally:
        process.terminate()
        process.wait(timeout=10)
        process.stderr.close()


def asked(where: Any) -> Any:
    return call(where, "request", {"ttft": 0.2, "itl": 0.05, "output": 5})


def test_agents_over_http() -> None:
    with running("mcp", "--http") as address:
        assert asked(address).structured_content["e2e_s"] == 0.2 + 4 * 0.05
        assert httpx.post(address, headers={"origin": "http://evil.example"}, json={}).status_code == 403


def test_agents_over_standard_input_and_output() -> None:
    where = mcp.StdioServerParameters(command=COMMAND[0], args=[*COMMAND[1:], "mcp"])
    assert asked(where).structured_content["e2e_s"] == 0.2 + 4 * 0.05


def test_the_server_listens_on_loopback_and_serves_the_bundle(monkeypatch: pytest.MonkeyPatch, tmp_path: Any) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with running("serve", "--no-open") as address:
        assert address.startswith("http://127.0.0.1:")
        script = httpx.get(f"{address}vega.js", timeout=30)
        assert script.status_code == 200
        assert "vegaEmbed" in script.text
        assert next(place.name for place in (tmp_path / "mansard").iterdir()).startswith("vega-")
        assert httpx.get(f"{address}vega.js").content == script.content


def test_a_port_that_is_taken_is_said() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        found = CliRunner().invoke(root, ["serve", "--no-open", "--port", str(taken.getsockname()[1])])
    assert found.exit_code == 2
    assert "cannot listen" in found.output
