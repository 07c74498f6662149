"""The HTTP service around a writer, a store and one plan."""

from __future__ import annotations

import asyncio
import hmac
import multiprocessing
import signal
import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext, suppress

import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp, Scope

from bcdp.collector.dashboard import OperatorDocument
from bcdp.collector.http.cors import Origins
from bcdp.collector.http.errors import RefusalError
from bcdp.collector.http.middleware import Guard, safe_headers
from bcdp.collector.http.report_body import Reader, Reports
from bcdp.collector.http.routing import Routes, Service
from bcdp.collector.limits.rates import Bodies, Rates, Turns, address_of, media_type
from bcdp.collector.openapi import description
from bcdp.collector.pages import Page, load_pages
from bcdp.collector.settings import Settings
from bcdp.collector.storage.group_commit import Writer
from bcdp.collector.storage.health import Health
from bcdp.collector.storage.store import open_store

REPORTS = "/v1/reports"
_NO_WAIT = nullcontext()


class Collector:
    """One worker's part of a collection; each public method answers one kind of request."""

    def __init__(self, settings: Settings) -> None:
        plan, quotas = settings.plan, settings.quotas
        self._counters, self._refresh, self._limited = settings.counters, settings.refresh, quotas.rate > 0
        self._token = settings.token.encode()
        self._sealed, self._relays = settings.gateway_key, frozenset(settings.relays)
        self._least, self._quotas = settings.batch_at_least, quotas
        by_invitation = {} if settings.tickets_key is None else {"bcdp-tickets": "required"}
        self._plan_page = Page.plan(plan.text, plan.id, by_invitation)
        self._reader = Reader(settings)
        self._reports, self._requests = Rates(quotas.rate), Rates(quotas.rate * quotas.requests_per_report)
        self._bodies, self._turns = Bodies(quotas), Turns()
        self._writer = Writer(open_store(settings.store, plan.id), settings.counters, quotas.waiting)
        self._operator = OperatorDocument(settings, open_store(settings.store, plan.id))
        self._health = Health(open_store(settings.store, plan.id), settings.counters)

    @asynccontextmanager
    async def running(self, app: Router) -> AsyncIterator[None]:
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
            self._operator.close()
            self._health.close()

    def admit(self, scope: Scope) -> AbstractAsyncContextManager[None]:
        """Takes the request from its address's budget: reports have one of their own, and the operator needs none."""
        if not self._limited or self._is_operator(scope):
            return _NO_WAIT
        address = address_of(scope)
        if address in self._relays:  # which has limits of its own for those who send
            return _NO_WAIT
        budget = self._reports if scope["path"] == REPORTS else self._requests
        budget.admit(address, time.monotonic())
        return self._turns.of(address)

    def _is_operator(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        scheme, _, token = b"".join(given).partition(b" ")
        return scheme.lower() == b"bearer" and hmac.compare_digest(token, self._token)

    def _for_operator(self, request: Request) -> None:
        if not self._is_operator(request.scope):
            raise RefusalError(401, "the operator's token is needed", {"www-authenticate": "Bearer"})

    async def plan(self, request: Request) -> Response:
        """The plan in its canonical form; the SHA-256 of this text is the plan's id."""
        return await self._plan_page.answer(request)

    async def receive(self, request: Request) -> Response:
        """Stores reports, all or none, and answers when they are on disk; a report sent again counts once."""
        if self._sealed is not None:  # so that nobody's address comes with a report
            raise RefusalError(403, "accepted: sealed reports, through the relay that the plan names")
        if media_type(request) != "application/json":  # what other sites may send without asking the browser first
            raise RefusalError(415, "accepted: a body of type application/json", {"connection": "close"})
        reports = self._reader.read(await self._bodies.read(request))
        self._reports.charge(address_of(request.scope), len(reports) - 1, time.monotonic())
        return Response(await self._store(reports), media_type="application/json")

    async def _store(self, reports: Reports) -> bytes:
        accepted = await self._writer.add(reports)
        return b'{"accepted":%d,"duplicate":%d}' % (accepted, len(reports) - accepted)

    def gateway(self) -> Routes:
        """The route of sealed reports, if the plan names a relay."""
        if self._sealed is None:
            return {}
        from bcdp.collector.ohttp.gateway import GATEWAY, BatchGateway, Gateway  # what seals is needed by nobody else
        from bcdp.collector.ohttp.mixing import BATCH
        from bcdp_device.sealing import GatewayKey

        async def serve(body: bytes) -> bytes:
            return await self._store(self._reader.read(body))

        key = GatewayKey.from_pem(self._sealed)
        opened = Gateway(key, REPORTS, self._bodies, serve)

        async def answer(request: Request) -> Response:
            self._from_relay(request)
            return await opened.answer(request)

        if self._least is None:
            return {GATEWAY: {"POST": answer, "GET": opened.keys}}
        batches = BatchGateway(key, REPORTS, self._least, self._reader.read, self._quotas)

        async def count(request: Request) -> Response:
            self._from_relay(request)
            reports, refused = await batches.reports(request)
            accepted = await self._writer.add(reports)
            counts = accepted, len(reports) - accepted, refused
            return Response(b'{"accepted":%d,"duplicate":%d,"refused":%d}' % counts, media_type="application/json")

        return {BATCH: {"POST": count}, GATEWAY: {"GET": opened.keys}}

    def _from_relay(self, request: Request) -> None:
        if self._relays and address_of(request.scope) not in self._relays:
            raise RefusalError(403, "accepted: requests of the relay")

    async def estimates(self, request: Request) -> Response:
        """Estimates with intervals, menus expected and counted, and the certificate; for the operator."""
        self._for_operator(request)
        return Response(await self._operator.document(), media_type="application/json")

    async def healthz(self, request: Request) -> Response:
        """Whether reports can be stored."""
        await self._health.check()
        return Response(b'{"status":"ok"}', media_type="application/json")

    async def metrics(self, request: Request) -> Response:
        """Totals over all workers, in the text format of Prometheus; for the operator."""
        self._for_operator(request)
        text = self._counters.text(self._refresh, await self._operator.metrics())
        return Response(text, media_type="text/plain; version=0.0.4")


def create_app(settings: Settings) -> ASGIApp:
    """The ASGI application that serves one collection."""
    collector = Collector(settings)
    described = Page.made(msgspec.json.encode(description(settings)), ".json")
    routes = {
        REPORTS: {"POST": collector.receive},
        "/v1/plan": {"GET": collector.plan},
        "/v1/estimates": {"GET": collector.estimates},
        "/healthz": {"GET": collector.healthz},
        "/metrics": {"GET": collector.metrics},
        "/openapi.json": {"GET": described.answer},
        **collector.gateway(),
        **{f"/{name}": {"GET": page.answer} for name, page in load_pages().items()},
    }
    origins = Origins(settings.origins)
    service = Service(routes, Router(lifespan=collector.running), origins)
    relay = settings.plan.policy.relay
    safe = safe_headers() if relay is None else safe_headers(relay.origin)
    return Guard(service, settings.counters, routes.keys(), collector.admit, origins, safe)
