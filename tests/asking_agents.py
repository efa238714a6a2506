"""What an agent does with the MCP server, run to its end in a thread of its own.

A browser's test leaves a running event loop in its worker's main thread, where `asyncio.run` then refuses to start.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from_thread = pytest.importorskip("anyio.from_thread", reason="the extra web is not installed")
mcp = pytest.importorskip("mcp", reason="the extra web is not installed")


def ask(where: Any, question: Callable[[Any], Awaitable[Any]]) -> Any:
    """What `question` finds, given a client of the server `where`: a server object, an address, or a command."""

    async def asked() -> Any:
        async with mcp.Client(where) as agent:
            return await question(agent)

    with from_thread.start_blocking_portal() as portal:
        return portal.call(asked)


def call(where: Any, tool: str, words: dict[str, Any]) -> Any:
    """What a tool answers."""
    return ask(where, lambda agent: agent.call_tool(tool, words))
