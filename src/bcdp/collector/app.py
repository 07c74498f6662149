"""The HTTP service: a FastAPI application around a writer, a store and one plan."""

from __future__ import annotations

import asyncio
import hmac
import multiprocessing
import signal
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Annotated

from fastapi import FastAPI, Request, Security
from fastapi.responses import Response
from fastapi.security import HTTPAuthorizationCredentials, HTTPBearer
from starlette.types import ASGIApp, Receive, Scope, Send

from bcdp.collector import openapi
from bcdp.collector.guard import Guard
from bcdp.collector.limits import Rates, read_body
from bcdp.collector.pages import Page, load_pages
from bcdp.collector.refusal import RefusalError, answer_refusal
from bcdp.collector.results import Results
from bcdp.collector.settings import Settings
from bcdp.collector.store import open_store
from bcdp.collector.upload import Reader
from bcdp.collector.writer import Writer

REPORTS = "/v1/reports"
_HEALTH_SECONDS = 5.0
_bearer = HTTPBearer(auto_error=False, description="The operator's token.")
Credentials = Annotated[HTTPAuthorizationCredentials | None, Security(_bearer)]


class Collector:
    """One worker's part of a collection; each public method answers one kind of request."""

    def __init__(self, settings: Settings) -> None:
        plan, limits = settings.plan, settings.limits
        self._limits, self._counters = limits, settings.counters
        self._token = settings.token.encode()
        self._plan_page = Page(plan.text.encode(), "application/json", f'"{plan.id}"')
        self._reader = Reader(settings)
        self._rates = Rates(limits.rate)
        self._writer = Writer(open_store(settings.store, plan.id), settings.counters, limits.waiting)
        self._results = Results(plan, open_store(settings.store, plan.id), limits.results_seconds)
        self._health = open_store(settings.store, plan.id)
        self._checking: asyncio.Future[None] | None = None

    @asynccontextmanager
    async def running(self, app: FastAPI) -> AsyncIterator[None]:
        """While the worker runs, its writer does; at the end every request has been answered."""
        parent = multiprocessing.parent_process()
        if parent is not None:  # a worker must not outlive the process that supervises it
            asyncio.get_running_loop().add_reader(parent.sentinel, signal.raise_signal, signal.SIGTERM)
        self._counters.claim()
        writing = asyncio.create_task(self._writer.run())
        try:
            yield
        finally:
            writing.cancel()
            with suppress(asyncio.CancelledError):
                await writing
            self._writer.close()
            self._results.close()
            self._health.close()

    async def plan(self, request: Request) -> Response:
        """The plan in its canonical form; the SHA-256 of this text is the plan's id."""
        return await self._plan_page.answer(request)

    async def receive(self, request: Request) -> Response:
        """Stores reports, all or none, and answers when they are on disk; a report sent again counts once."""
        address = request.client.host if request.client else ""
        self._rates.admit(address, time.monotonic())
        media_type = request.headers.get("content-type", "").partition(";")[0].strip().lower()
        if media_type != "application/json":  # what other sites may send without asking the browser first
            raise RefusalError(415, "accepted: a body of type application/json", {"connection": "close"})
        body = await read_body(request, self._limits.body_bytes, self._limits.body_seconds)
        upload = self._reader.read(body)
        self._rates.charge(address, len(upload.reports) - 1, time.monotonic())
        accepted = await self._writer.add(upload.reports)
        content = b'{"accepted":%d,"duplicate":%d}' % (accepted, len(upload.reports) - accepted)
        return Response(content, media_type="application/json")

    async def estimates(self, request: Request, credentials: Credentials) -> Response:
        """Estimates with intervals, menus expected and counted, and the certificate; for the operator."""
        self._rates.admit(request.client.host if request.client else "", time.monotonic())
        given = credentials.credentials if credentials else ""
        if not hmac.compare_digest(given.encode(), self._token):
            raise RefusalError(401, "the operator's token is needed", {"www-authenticate": "Bearer"})
        return Response(await self._results.document(), media_type="application/json")

    async def healthz(self) -> Response:
        """Whether this worker can use its store."""
        if self._checking is None or self._checking.done():  # one at a time, however many ask
            self._checking = asyncio.ensure_future(asyncio.to_thread(self._health.check))
        check = self._checking
        await asyncio.wait({check}, timeout=_HEALTH_SECONDS)
        if not check.done() or check.exception() is not None:
            raise RefusalError(503, "the store cannot be used now", {"retry-after": "5"})
        return Response(b'{"status":"ok"}', media_type="application/json")

    async def metrics(self) -> Response:
        """Totals over all workers, in the text format of Prometheus."""
        return Response(self._counters.text(), media_type="text/plain; version=0.0.4")


def create_app(settings: Settings) -> ASGIApp:
    """The ASGI application that serves one collection."""
    collector = Collector(settings)
    app = FastAPI(
        title="bcdp collector",
        version="1",
        docs_url=None,  # their scripts would come from other sites
        redoc_url=None,
        redirect_slashes=False,
        lifespan=collector.running,
        exception_handlers={RefusalError: answer_refusal},
    )
    json, refusals, content = "application/json", openapi.refusals, openapi.content
    app.add_api_route(
        REPORTS,
        collector.receive,
        methods=["POST"],
        response_class=Response,
        openapi_extra=openapi.upload_body(settings),
        responses=content("Stored.", json, openapi.RECEIVED) | refusals(400, 408, 409, 413, 415, 422, 429, 503),
    )
    app.add_api_route(
        "/v1/plan",
        collector.plan,
        response_class=Response,
        responses=content("The plan.", json, {"type": "object"}) | {304: {"description": "Not changed."}},
    )
    app.add_api_route(
        "/v1/estimates",
        collector.estimates,
        response_class=Response,
        responses=content("The estimates.", json, openapi.RESULTS) | refusals(401, 429, 503),
    )
    app.add_api_route(
        "/healthz",
        collector.healthz,
        response_class=Response,
        responses=content("The store can be used.", json, openapi.STATUS) | refusals(503),
    )
    app.add_api_route(
        "/metrics",
        collector.metrics,
        response_class=Response,
        responses=content("Totals.", "text/plain", {"type": "string"}),
    )
    for name, page in load_pages().items():
        app.add_route(f"/{name}", page.answer, methods=["GET"], include_in_schema=False)
    known = {path for route in app.routes if (path := getattr(route, "path", None))}
    return Guard(_Entrance(app, collector), settings.counters, known)


class _Entrance:
    """Leads reports straight to their handler, past the framework's layers; everything else through them.

    The layers cost more than reading and storing a report does. The application lists the same handler for its
    description and for what it says to other methods.
    """

    def __init__(self, app: ASGIApp, collector: Collector) -> None:
        self._app, self._collector = app, collector

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["path"] != REPORTS or scope["method"] != "POST":
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        try:
            response = await self._collector.receive(request)
        except RefusalError as refusal:
            response = await answer_refusal(request, refusal)
        await response(scope, receive, send)
