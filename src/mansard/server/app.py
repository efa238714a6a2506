"""The application: every verb as POST /api/VERB, the page, its scripts, and OpenAPI with a page of its own."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import anyio
from anyio.lowlevel import RunVar
from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, JSONResponse, PlainTextResponse, Response
from starlette.exceptions import HTTPException

from mansard.answers import SAYS
from mansard.answers._answer import Answer
from mansard.errors import Fault, InputError, MansardError, UnavailableError, UsageError, did_you_mean, shortened
from mansard.records import package_version
from mansard.server import verbs, words
from mansard.server.bundle import vega_bundle
from mansard.server.guards import LOOPBACK, Guard, error_document
from mansard.server.reference import reference_page
from mansard.views import teaching

PAGE = Path(__file__).parent / "page"
SECONDS = 10.0
_THREADS = 4
_TYPES = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}


def create_app(*, hosts: tuple[str, ...] = LOOPBACK, token: str | None = None) -> FastAPI:
    """The application. hosts: names that it answers for. token: what every request must show, if there is one."""
    app = FastAPI(
        title="mansard", version=package_version(), docs_url=None, redoc_url=None, openapi_url="/openapi.json",
        description="What limits an AI-inference workload. The same words and the same JSON as the command line.",
    )  # fmt: skip
    kept = verbs.Kept()
    for verb, asked in words.VERBS.items():
        app.post(f"/api/{verb}", summary=SAYS[verb], name=verb, responses=_ERRORS)(_verb(verb, asked, kept))
    _charts(app, kept)
    _lessons(app)
    _pages(app, token)
    _errors(app)
    app.add_middleware(Guard, hosts=hosts, token=token)
    return app


_ERRORS: dict[int | str, dict[str, Any]] = {
    status: {"description": said} for status, said in (
        (400, "The body is no JSON, or the host is not this server's."), (403, "The request came from another site."),
        (413, "The body is too large."), (422, "Words that cannot be understood, or a bad configuration: every fault."),
        (503, "It took too long, or an extra is not installed."),
    )
}  # fmt: skip


def _verb(verb: str, asked: type[words.Words], kept: verbs.Kept) -> Callable[..., Any]:
    async def endpoint(body: Any, form: str = "json") -> Response:
        return await _timed(lambda: _formed(verbs.answered(verb, body, kept), form))

    async def operation(body: Any, format: str = "json") -> Response:  # noqa: A002  # the word of the interface
        return await endpoint(body, format)

    operation.__name__ = verb
    operation.__doc__ = SAYS[verb]
    operation.__annotations__ = {"body": asked, "format": words.Format, "return": Response}
    return operation


def _formed(answer: Answer, form: str) -> Response:
    if form == "json":
        return Response(answer.to_json(indent=None), media_type="application/json")
    from mansard.views import markup, plain, rows

    if form in ("jsonl", "csv"):
        made = (rows.to_jsonl if form == "jsonl" else rows.to_csv)(answer.rows())
        return PlainTextResponse(made, media_type="text/csv" if form == "csv" else "application/jsonl")
    if form == "html":
        return HTMLResponse(markup.to_html(answer.report()))
    drawn = markup.to_markdown(answer.report()) if form == "md" else plain.to_plain(answer.report())
    return PlainTextResponse(drawn, media_type="text/markdown" if form == "md" else "text/plain")


async def _timed(work: Callable[[], Response]) -> Response:
    """Runs in a thread, so that a slow question holds no other up; gives up after a while."""
    with anyio.move_on_after(SECONDS):
        return await anyio.to_thread.run_sync(work, abandon_on_cancel=True, limiter=_threads())
    return JSONResponse(error_document(f"it took longer than {SECONDS:g} s", "ask for less"), status_code=503)


_LIMITER: RunVar[anyio.CapacityLimiter] = RunVar("mansard-threads")


def _threads() -> anyio.CapacityLimiter:
    """Few at once, for each event loop: answers are arithmetic, and more threads than that only wait for each other."""
    limiter = _LIMITER.get(None)
    if limiter is None:
        limiter = anyio.CapacityLimiter(_THREADS)
        _LIMITER.set(limiter)
    return limiter


def _charts(app: FastAPI, kept: verbs.Kept) -> None:
    @app.post("/api/chart", summary="A chart as a Vega-Lite description.", responses=_ERRORS)
    async def chart(body: words.Drawn) -> Response:
        return await _timed(lambda: JSONResponse(verbs.chart_of(body, kept)))

    @app.post("/api/page", summary="What the page shows at once: answers and a chart.", responses=_ERRORS)
    async def page(body: words.Page) -> Response:
        return await _timed(lambda: JSONResponse(verbs.page_of(body, kept)))

    @app.post("/api/report", summary="The explanation of an analysis, as titled blocks.", responses=_ERRORS)
    async def report(body: words.Scenario) -> Response:
        def work() -> Response:
            made = verbs.answered("explain", body, kept).report()
            return JSONResponse({"headline": made.headline, "blocks": verbs.blocks(made)})

        return await _timed(work)

    @app.post("/api/algebra", summary="The roofline of one weight matrix at a batch.", responses=_ERRORS)
    async def algebra(body: words.Algebra) -> Response:
        return await _timed(lambda: JSONResponse(verbs.algebra_of(body)))


def _lessons(app: FastAPI) -> None:
    @app.get("/api/lessons", summary="The lessons in their order.")
    async def lessons() -> Response:
        return await _timed(lambda: JSONResponse({"lessons": teaching.lesson_list()}))

    @app.post("/api/lesson", summary="A lesson, without its answers.", responses=_ERRORS)
    async def lesson(body: words.Lesson) -> Response:
        return await _timed(lambda: JSONResponse(teaching.lesson_document(body.name)))

    @app.post(
        "/api/grade", summary="Whether an answer to an exercise is right, and what to say to it.", responses=_ERRORS
    )
    async def attempt(body: words.Attempt) -> Response:
        def work() -> Response:
            found = teaching.judge(body.lesson, body.exercise, body.answer, body.tries)
            return JSONResponse(found._asdict())

        return await _timed(work)


def _pages(app: FastAPI, token: str | None) -> None:
    @app.get("/", include_in_schema=False)
    async def page(request: Request) -> Response:
        made = HTMLResponse((PAGE / "index.html").read_text(encoding="utf-8"))
        if token is not None and request.query_params.get("token") == token:
            made.set_cookie("mansard_token", token, httponly=True, samesite="strict")
        return made

    @app.get("/page/{name}", include_in_schema=False)
    async def part(name: str) -> Response:
        place = PAGE / name
        if place.parent != PAGE or place.suffix not in _TYPES or not place.is_file():
            raise HTTPException(404, f"there is no {name[:60]}")
        return Response(place.read_bytes(), media_type=_TYPES[place.suffix], headers={"cache-control": "no-cache"})

    @app.get("/vega.js", include_in_schema=False)
    async def vega() -> Response:
        made = await anyio.to_thread.run_sync(vega_bundle)
        return Response(made, media_type=_TYPES[".js"], headers={"cache-control": "max-age=86400"})

    @app.get("/docs", include_in_schema=False)
    async def reference() -> Response:
        return HTMLResponse(reference_page(app.openapi()))


def _errors(app: FastAPI) -> None:
    @app.exception_handler(MansardError)
    async def known(_: Request, bad: MansardError) -> Response:
        status = 503 if isinstance(bad, UnavailableError) else 422
        faults = bad.faults if isinstance(bad, (UsageError, InputError)) else ()
        message = str(bad).removesuffix(f"\nhint: {bad.hint}") if bad.hint else str(bad)
        return JSONResponse(error_document(message, bad.hint, map(_fault, faults)), status_code=status)

    @app.exception_handler(RequestValidationError)
    async def refused(request: Request, bad: RequestValidationError) -> Response:
        faults = [_refused(error, request.url.path) for error in bad.errors()[:50]]
        message = "; ".join(": ".join(filter(None, (fault["key"], fault["problem"]))) for fault in faults)
        is_json = not any(error["type"] == "json_invalid" for error in bad.errors())
        return JSONResponse(error_document(message, "", faults), status_code=422 if is_json else 400)

    @app.exception_handler(HTTPException)
    async def missing(_: Request, bad: HTTPException) -> Response:
        return JSONResponse(error_document(str(bad.detail)), status_code=bad.status_code, headers=bad.headers)


def _fault(fault: Fault) -> dict[str, Any]:
    value = None if fault.value is None else shortened(fault.value)
    return {"key": fault.key, "problem": fault.problem, "value": value, "hint": fault.hint}


def _refused(error: Any, path: str) -> dict[str, Any]:
    """One of pydantic's errors in our words, an unknown key with its near match."""
    where = [str(part) for part in error["loc"] if part != "body"]
    key, hint = ".".join(where), ""
    problem = error["msg"][0].lower() + error["msg"][1:]
    if error["type"] == "extra_forbidden":
        asked = words.VERBS.get(path.rsplit("/", 1)[-1])
        hint = did_you_mean(where[-1], tuple(asked.model_fields)) if asked else ""
        problem = "is not known here"
    if error["type"] == "json_invalid":
        key, problem = "", f"the body is no JSON: {error['ctx']['error']}"
    return {"key": key, "problem": problem, "value": shortened(error.get("input")), "hint": hint}
