"""The web server of the app: pages at once, answers as they come; what is asked is in the address alone."""

from __future__ import annotations

import asyncio
import json
from base64 import b64decode
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.middleware import Middleware
from starlette.responses import HTMLResponse, RedirectResponse, Response, StreamingResponse
from starlette.routing import Route

from podsim.errors import InputError, PodsimError
from podsim.files.contents import bytes_of
from podsim.report import error_json
from podsim.report.answer_file import SUFFIXES
from podsim.report.doc import NOT_MLPERF
from podsim.report.version import version
from podsim.studies.app import fields, html, views
from podsim.studies.app.guard import Guard
from podsim.studies.app.lane import Lane

if TYPE_CHECKING:
    from collections.abc import AsyncGenerator, AsyncIterator

    from starlette.requests import Request

    from podsim.studies.app.pair import Pair
    from podsim.studies.app.query import Query

STATIC: Final = Path(__file__).with_name("static")
TYPES: Final = {
    ".css": "text/css",
    ".js": "text/javascript",
    ".html": "text/html",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".pdf": "application/pdf",
    ".csv": "text/csv",
    ".json": "application/json",
    ".docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
    ".pptx": "application/vnd.openxmlformats-officedocument.presentationml.presentation",
}
ASSETS: Final = ("app.css", "app.js", "timeline.js")
LINES: Final = "application/x-ndjson"
QUICK, SLOW = "quick", "slow"


def application(port: int) -> Starlette:
    """The app for one port of this machine; processes that answer start and end with it."""
    lanes = {QUICK: Lane(), SLOW: Lane()}
    return Starlette(
        routes=[
            Route("/", _start),
            Route("/static/{name}", _asset),
            Route("/{view}.json", _json),
            Route("/{view}", _page),
            Route("/{view}/answer", _answer),
            Route("/{view}/details", _details),
            Route("/{view}/spans", _spans),
            Route("/{view}/file/{name}", _file),
        ],
        middleware=[Middleware(Guard, port=port)],
        lifespan=_lifespan(lanes),
        exception_handlers={404: _not_found},
    )


def _lifespan(lanes: dict[str, Lane]) -> Any:  # noqa: ANN401  (as Starlette takes it)
    @asynccontextmanager
    async def lifespan(app: Starlette) -> AsyncIterator[None]:
        app.state.lanes = lanes
        warming = [asyncio.create_task(_warm(lane, views.warm_up(long=name == SLOW))) for name, lane in lanes.items()]
        try:
            yield
        finally:
            for task in warming:
                task.cancel()
            for lane in lanes.values():
                await lane.stop()

    return lifespan


async def _warm(lane: Lane, questions: list[tuple[str, str]]) -> None:
    """Answer what is likely to be asked first, while nothing is asked."""
    for view, query in questions:
        await lane.run_idle("warm", view, query)


async def _start(_: Request) -> Response:
    view = views.VIEWS[0]
    return RedirectResponse(f"/{view.name}?{view.example}", 307)


async def _asset(request: Request) -> Response:
    name = request.path_params["name"]
    if name not in ASSETS:
        raise HTTPException(404)
    return Response(bytes_of(STATIC / name, "bad-input"), media_type=TYPES[Path(name).suffix])


async def _page(request: Request) -> Response:
    """The page of a view: its form with the values of the address, ready for the answer."""
    view = _view(request)
    if not request.url.query:
        return RedirectResponse(f"/{view.name}?{view.example}", 307)
    query = _query(view, request)
    text = html.render(
        "page.html.j2",
        view=view,
        views=views.VIEWS,
        links=_links(query),
        parts=fields.parts(view, query),
        question=_question(view, query),
        errors=query.errors,
        version=version(),
        remark=NOT_MLPERF,
    )
    return HTMLResponse(text)


async def _answer(request: Request) -> Response:
    """Lines of JSON: what the address says in its shortest form, then progress, then the answer or an error."""
    view = _view(request)
    query = _query(view, request)

    async def lines() -> AsyncIterator[str]:
        head = {"query": query.text, "question": _question(view, query), "links": _links(query), "errors": query.errors}
        yield json.dumps(head) + "\n"
        if query.errors:
            return
        async with aclosing(_events(request, view, "answer", query)) as events:
            async for event in events:
                yield json.dumps(_with_field(view, event)) + "\n"

    return StreamingResponse(lines(), media_type=LINES)


def _with_field(view: views.View, event: dict[str, Any]) -> dict[str, Any]:
    """An event; one with an error says in which field it is, and how it looks."""
    if "error" not in event:
        return event
    error = event["error"]
    return {**event, "field": fields.at_fault(view, error), "html": html.render("error.html.j2", error=error)}


async def _details(request: Request) -> Response:
    view = _view(request)
    result = await _result(request, view, "details")
    return HTMLResponse(result["html"])


async def _json(request: Request) -> Response:
    result = await _result(request, _view(request), "json")
    return Response(result["text"], media_type=TYPES[".json"])


async def _spans(request: Request) -> Response:
    view = _view(request)
    if view.verb != "trace":
        raise HTTPException(404)
    result = await _result(request, view, "spans")
    return Response(result["text"], media_type=TYPES[".json"])


async def _file(request: Request) -> Response:
    """What `-o` writes, to be saved."""
    view, name = _view(request), request.path_params["name"]
    suffix = Path(name).suffix
    if suffix not in SUFFIXES or name != f"{view.name}{suffix}":
        raise HTTPException(404)
    result = await _result(request, view, f"file{suffix}")
    headers = {"content-disposition": f'attachment; filename="podsim-{name}"'}
    return Response(b64decode(result["base64"]), media_type=TYPES[suffix], headers=headers)


def _view(request: Request) -> views.View:
    view = views.BY_NAME.get(request.path_params["view"])
    if view is None:
        raise HTTPException(404)
    return view


def _query(view: views.View, request: Request) -> Query | Pair:
    return views.question(view, parse_qsl(request.url.query, keep_blank_values=True))


def _question(view: views.View, query: Query | Pair) -> str:
    """The same question as a command line and as Python, and the files that the answer can be saved as."""
    return html.render(
        "question.html.j2",
        command=query.line,
        call=query.call,
        files=[(suffix[1:], f"/{view.name}/file/{view.name}{suffix}?{query.text}") for suffix in SUFFIXES],
        json=f"/{view.name}.json?{query.text}",
    )


def _links(query: Query | Pair) -> dict[str, str]:
    """The address of each view for as much of the question as it takes."""
    return {view.name: f"/{view.name}?{views.carry_over(view, query).text}" for view in views.VIEWS}


async def _events(
    request: Request, view: views.View, task: str, query: Query | Pair
) -> AsyncGenerator[dict[str, Any], None]:
    lane: Lane = request.app.state.lanes[SLOW if view.long else QUICK]
    async with aclosing(lane.run(task, view.name, query.text)) as events:
        async for event in events:
            yield event


async def _result(request: Request, view: views.View, task: str) -> dict[str, Any]:
    """The result of a task; an error is a JSON document as those of the command line."""
    query = _query(view, request)
    if query.errors:
        lines = [f"{name} {text}".strip() for name, text in query.errors.items()]
        raise _http_error(InputError(lines[0], code="bad-value", context=lines[1:]))
    event = [event async for event in _events(request, view, task, query)][-1]
    if "error" in event:
        error = event["error"]
        raise _http_error(
            PodsimError(error["message"], code=error["code"], context=error["context"], hint=error["hint"])
        )
    if "done" not in event:
        raise HTTPException(500, event.get("bug", "cancelled"))
    result: dict[str, Any] = event["done"]
    return result


def _http_error(error: PodsimError) -> HTTPException:
    return HTTPException(422, error_json.document(error), {"content-type": TYPES[".json"]})


async def _not_found(_: Request, __: Exception) -> Response:
    return HTMLResponse(html.render("missing.html.j2", views=views.VIEWS), 404)
