"""A relay of Oblivious HTTP (RFC 9458): hands sealed messages on to one collector, without whatever tells the sender.

It sees addresses and no message; it keeps neither.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass, field
from http.cookiejar import CookieJar, DefaultCookiePolicy
from urllib.parse import urlsplit

import httpx
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp, Scope

from bcdp.collector.counters import Counters
from bcdp.collector.guard import Guard
from bcdp.collector.origins import Anyone
from bcdp.collector.quotas import Bodies, Rates, Turns, address_of, media_type
from bcdp.collector.refusal import RefusalError
from bcdp.collector.service import Service
from bcdp.collector.settings import Quotas
from bcdp.errors import refuse

REQUEST_TYPE, RESPONSE_TYPE = "message/ohttp-req", "message/ohttp-res"
_HANDED_BACK = (RESPONSE_TYPE, "application/problem+json", "application/json")  # types of the collector's answers
_ANSWER_BYTES = 2**16
_SECONDS, _CONNECTIONS = 30.0, 64
_QUOTAS = Quotas(body_bytes=2**16)
_AWAY = RefusalError(502, "the collector cannot be reached now", {"retry-after": "5"})


@dataclass(frozen=True)
class RelaySettings:
    """Where sealed messages go, and how many an address may send."""

    gateway: str
    quotas: Quotas = _QUOTAS
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        parts = urlsplit(self.gateway)
        if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.fragment:
            raise refuse("to", self.gateway, "the address of a gateway, https://HOST/.well-known/ohttp-gateway")


class Forwarder:
    """One worker of a relay."""

    def __init__(self, settings: RelaySettings) -> None:
        quotas = settings.quotas
        self._gateway, self._counters, self._limited = settings.gateway, settings.counters, quotas.rate > 0
        self._rates, self._turns, self._bodies = Rates(quotas.rate), Turns(), Bodies(quotas)
        self._client = httpx.AsyncClient(
            cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # none is kept
            headers={"user-agent": "bcdp-relay"},
            timeout=_SECONDS,
            limits=httpx.Limits(max_connections=_CONNECTIONS),
            trust_env=False,
        )

    @asynccontextmanager
    async def running(self, app: Router) -> AsyncIterator[None]:
        """While the worker runs, its connections to the collector are kept."""
        self._counters.claim()
        async with self._client:
            yield

    def admit(self, scope: Scope) -> AbstractAsyncContextManager[None]:
        """Takes the request from its address's budget."""
        if not self._limited:
            return nullcontext()
        self._rates.admit(address_of(scope), time.monotonic())
        return self._turns.of(address_of(scope))

    async def forward(self, request: Request) -> Response:
        """Hands the body on with nothing but its type, and the answer back likewise."""
        if media_type(request) != REQUEST_TYPE:
            raise RefusalError(415, f"accepted: a body of type {REQUEST_TYPE}", {"connection": "close"})
        body = await self._bodies.read(request)
        try:
            async with self._client.stream(
                "POST", self._gateway, content=body, headers={"content-type": REQUEST_TYPE, "accept": RESPONSE_TYPE}
            ) as answer:
                content = bytearray()
                async for part in answer.aiter_bytes():
                    content += part
                    if len(content) > _ANSWER_BYTES:
                        raise _AWAY
        except httpx.HTTPError:
            raise _AWAY from None
        kind, wait = answer.headers.get("content-type", ""), answer.headers.get("retry-after", "")
        if kind not in _HANDED_BACK or 300 <= answer.status_code < 400:
            raise _AWAY
        headers = {"retry-after": wait} if wait.isdecimal() else None
        return Response(bytes(content), answer.status_code, headers, kind)

    async def healthz(self, request: Request) -> Response:
        """That the relay runs."""
        return Response(b'{"status":"ok"}', media_type="application/json")


def create_relay(settings: RelaySettings) -> ASGIApp:
    """The ASGI application that relays."""
    relay = Forwarder(settings)
    routes = {"/": {"POST": relay.forward}, "/healthz": {"GET": relay.healthz}}
    service = Service(routes, Router(lifespan=relay.running), Anyone())
    return Guard(service, settings.counters, routes.keys(), relay.admit, Anyone())
