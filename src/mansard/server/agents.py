"""The verbs as tools for agents (Model Context Protocol): the same words, the same documents as structured output."""

from typing import Any

import anyio
from mcp.server import Server
from mcp.server.stdio import stdio_server
from mcp.types import CallToolRequestParams, CallToolResult, ListToolsResult, TextContent, Tool, ToolAnnotations
from pydantic import ValidationError

from mansard.answers import SAYS
from mansard.answers._schemas import json_schema
from mansard.errors import MansardError, did_you_mean
from mansard.records import package_version
from mansard.server import verbs, words

SECONDS = 10.0
_INSTRUCTIONS = (
    "Tells whether an AI-inference workload is limited by compute or by memory bandwidth, how fast it can be at best, "
    "whether it fits, and which change would help most. Times are the best that the stated rates allow. "
    "`list` names models and devices; `analyze` is the main tool. Numbers are SI base units."
)
# The schema of what each verb answers; `schema` answers with any schema.
_SCHEMAS = {
    "analyze": "analysis", "explain": "explanation", "advise": "advice", "saturate": "saturation",
    "operator": "operator", "request": "request", "list": "list", "cite": "sources",
}  # fmt: skip


def create_server() -> Server[Any]:
    """The server with its tools, for any transport."""
    kept = verbs.Kept()

    async def listed(*_: Any) -> ListToolsResult:
        return ListToolsResult(tools=[_tool(verb) for verb in words.VERBS])

    async def called(_: Any, asked: CallToolRequestParams) -> CallToolResult:
        with anyio.move_on_after(SECONDS):
            return await anyio.to_thread.run_sync(lambda: _answered(asked, kept), abandon_on_cancel=True)
        return _refused(f"it took longer than {SECONDS:g} s; ask for less")

    return Server(
        "mansard", version=package_version(), instructions=_INSTRUCTIONS, on_list_tools=listed, on_call_tool=called
    )


def _tool(verb: str) -> Tool:
    schema = _SCHEMAS.get(verb)
    return Tool(
        name=verb,
        description=SAYS[verb],
        input_schema=words.VERBS[verb].model_json_schema(),
        output_schema=json_schema(schema) if schema else None,
        annotations=ToolAnnotations(read_only_hint=True, idempotent_hint=True, open_world_hint=False),
    )


def _answered(asked: CallToolRequestParams, kept: verbs.Kept) -> CallToolResult:
    taken = words.VERBS.get(asked.name)
    if taken is None:
        return _refused(f"no tool is called {asked.name[:60]!r}", did_you_mean(asked.name, tuple(words.VERBS)))
    try:
        answer = verbs.answered(asked.name, taken.model_validate(asked.arguments or {}), kept)
        document = answer.to_dict()
        text = str(answer)
    except MansardError as bad:
        return _refused(str(bad))
    except ValidationError as bad:
        return _refused("\n".join(_said(error, taken) for error in bad.errors()[:20]))
    return CallToolResult(content=[TextContent(text=text)], structured_content=document)


def _said(error: Any, taken: type[words.Words]) -> str:
    where = ".".join(map(str, error["loc"]))
    if error["type"] == "extra_forbidden":
        return f"{where}: is not known here. {did_you_mean(str(error['loc'][-1]), tuple(taken.model_fields))}".strip()
    return f"{where}: {error['msg'][0].lower()}{error['msg'][1:]}"


def _refused(message: str, hint: str = "") -> CallToolResult:
    text = f"{message}\n{hint}" if hint else message
    return CallToolResult(content=[TextContent(text=text)], is_error=True)


def run_stdio() -> None:
    """Serves one agent over standard input and output, until it hangs up."""

    async def serve() -> None:
        server = create_server()
        async with stdio_server() as (read, write):
            await server.run(read, write, server.create_initialization_options())

    anyio.run(serve)
