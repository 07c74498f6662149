"""A relay of Oblivious HTTP (RFC 9458): hands sealed messages on to one collector, without whatever reveals the sender.

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

from bcdp.collector.http.cors import Anyone
from bcdp.collector.http.errors import RefusalError
from bcdp.collector.http.middleware import Guard
from bcdp.collector.http.routing import Service
from bcdp.collector.limits.rates import Bodies, Rates, Turns, address_of, media_type
from bcdp.collector.metrics import Counters
from bcdp.collector.settings import Quotas
from bcdp.errors import refuse

REQUEST_TYPE, RESPONSE_TYPE = "message/ohttp-req", "message/ohttp-res"
_HANDED_BACK = (RESPONSE_TYPE, "application/problem+json", "application/json")  # types of the collector's answers
_ANSWER_BYTES = 2**16
_SECONDS, _CONNECTIONS = 30.0, 64
RELAY_QUOTAS = Quotas(body_bytes=2**16)
_AWAY = RefusalError(502, "the collector cannot be reached now", {"retry-after": "5"})


@dataclass(frozen=True)
class RelaySettings:
    """Where sealed messages go, and how many an address may send."""

    gateway: str
    quotas: Quotas = RELAY_QUOTAS
    counters: Counters = field(default_factory=Counters)

    def __post_init__(self) -> None:
        check_address(self.gateway, "a gateway, https://HOST/.well-known/ohttp-gateway")


def check_address(url: str, accepted: str) -> None:
    """Refuses what is not an address to send messages to."""
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.fragment:
        raise refuse("to", url, f"the address of {accepted}")


class Entrance:
    """What any relay does with a request: its address has a budget, and its body a type and a limit."""

    def __init__(self, quotas: Quotas) -> None:
        self._limited = quotas.rate > 0
        self._rates, self._turns, self._bodies = Rates(quotas.rate), Turns(), Bodies(quotas)

    def admit(self, scope: Scope) -> AbstractAsyncContextManager[None]:
        """Takes the request from its address's budget."""
        if not self._limited:
            return nullcontext()
        self._rates.admit(address_of(scope), time.monotonic())
        return self._turns.of(address_of(scope))

    async def sealed(self, request: Request) -> bytes:
        """The sealed message in a request."""
        if media_type(request) != REQUEST_TYPE:
            raise RefusalError(415, f"accepted: a body of type {REQUEST_TYPE}", {"connection": "close"})
        return await self._bodies.read(request)


def client_to_collector(seconds: float) -> httpx.AsyncClient:
    """A client that sends nothing but what it is given."""
    return httpx.AsyncClient(
        cookies=CookieJar(DefaultCookiePolicy(allowed_domains=[])),  # none is kept
        headers={"user-agent": "bcdp-relay"},
        timeout=seconds,
        limits=httpx.Limits(max_connections=_CONNECTIONS),
        trust_env=False,
    )


class Forwarder:
    """One worker of a relay."""

    def __init__(self, settings: RelaySettings) -> None:
        self._gateway, self._counters = settings.gateway, settings.counters
        self._entrance = Entrance(settings.quotas)
        self.admit = self._entrance.admit
        self._client = client_to_collector(_SECONDS)

    @asynccontextmanager
    async def running(self, app: Router) -> AsyncIterator[None]:
        """While the worker runs, its connections to the collector are kept."""
        self._counters.claim()
        async with self._client:
            yield

    async def forward(self, request: Request) -> Response:
        """Hands the body on with nothing but its type, and the answer back likewise."""
        body = await self._entrance.sealed(request)
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
