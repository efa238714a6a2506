"""What stands before every request: its size, its host, its origin, its token; plain ASGI, so that nothing is kept.

A page of another site can send requests to a server on this machine. It can forge neither `Host`, which a rebinding
name would show, nor `Origin`: both are checked, and a server off loopback asks for a token.
"""

import json
from collections.abc import Iterable
from hmac import compare_digest
from typing import Any
from urllib.parse import urlsplit

from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send

MOST_BYTES = 1 << 20
_TOO_LARGE = f"the body is larger than {MOST_BYTES:,} bytes"
LOOPBACK = ("127.0.0.1", "localhost", "::1")
# Vega compiles its expressions, which needs eval; nothing but this server is ever asked for anything.
_POLICY = (
    b"default-src 'self'; script-src 'self' 'unsafe-eval'; style-src 'self' 'unsafe-inline'; "
    b"img-src 'self' data: blob:; object-src 'none'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = (
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"content-security-policy", _POLICY),
)


class Guard:
    """Refuses a request that is too large, from elsewhere, or without the token; adds headers to every answer."""

    def __init__(self, app: ASGIApp, *, hosts: Iterable[str], token: str | None) -> None:
        self.app = app
        self.hosts = frozenset(host.lower().strip("[]") for host in hosts)
        self.token = token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Lets a request through, or answers it with 400, 401, 403 or 413."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in scope["headers"]}
        refusal = self._refusal(headers, scope)
        if refusal is not None:
            await _refuse(send, *refusal)
            return
        await self.app(scope, _Limited(receive), _with_headers(send))

    def _refusal(self, headers: dict[str, str], scope: Scope) -> tuple[int, str] | None:
        host = _hostname(headers.get("host", ""))
        if host not in self.hosts:
            return 400, f"this server does not answer for the host {host[:60]!r}"
        origin = headers.get("origin")
        if origin is not None and not _is_same(origin, headers.get("host", "")):
            return 403, "requests from other sites are refused"
        if headers.get("sec-fetch-site", "none") not in ("none", "same-origin") and scope["method"] != "GET":
            return 403, "requests from other sites are refused"
        length = headers.get("content-length", "0")
        if not length.isdigit() or int(length) > MOST_BYTES:
            return 413, _TOO_LARGE
        if self.token is not None and not self._has_token(headers, scope):
            return 401, "a token is needed: Authorization: Bearer TOKEN, or ?token=TOKEN for the page"
        return None

    def _has_token(self, headers: dict[str, str], scope: Scope) -> bool:
        given = headers.get("authorization", "").removeprefix("Bearer ").strip()
        query = dict(part.partition("=")[::2] for part in scope["query_string"].decode("latin-1").split("&"))
        cookies = dict(part.strip().partition("=")[::2] for part in headers.get("cookie", "").split(";"))
        shown = (given, query.get("token", ""), cookies.get("mansard_token", ""))
        return any(compare_digest(one.encode(), (self.token or "").encode()) for one in shown if one)


class _Limited:
    """Counts what comes in, since a length may be missing or a lie."""

    def __init__(self, receive: Receive) -> None:
        self.receive = receive
        self.got = 0

    async def __call__(self) -> Message:
        message = await self.receive()
        self.got += len(message.get("body", b""))
        if self.got > MOST_BYTES:
            raise HTTPException(413, _TOO_LARGE)  # which the application words as it words every other
        return message


def _hostname(host: str) -> str:
    """The name without the port."""
    try:
        return (urlsplit(f"//{host}").hostname or "").lower()
    except ValueError:
        return ""


def _is_same(origin: str, host: str) -> bool:
    return urlsplit(origin).netloc.lower() == host.lower()


def _with_headers(send: Send) -> Send:
    async def sent(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [*message.get("headers", ()), *_HEADERS]}
        await send(message)

    return sent


async def _refuse(send: Send, status: int, message: str) -> None:
    body = json.dumps(error_document(message)).encode()
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode()), *_HEADERS]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def error_document(message: str, hint: str = "", faults: Iterable[dict[str, Any]] = ()) -> dict[str, Any]:
    """What every error looks like: `{"error": {message, hint, faults}}`."""
    return {"error": {"message": message, "hint": hint, "faults": list(faults)}}
