"""How much an address may send, and how much of a body is read; addresses stay in memory and are soon forgotten."""

from __future__ import annotations

import asyncio
import ipaddress
import math
from collections import OrderedDict
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from starlette.requests import Request
from starlette.types import Message, Scope

from bcdp.collector.http.errors import RefusalError
from bcdp.collector.settings import Quotas

_ADDRESSES = 100_000
_BURST_SECONDS = 10.0
_AT_ONCE = 4
_SMALL = 2**14
_CLOSE = {"connection": "close"}
_RETRY = {"retry-after": "5", "connection": "close"}


class Rates:
    """A budget for every address that refills with time; a request may overdraw it once, and must then wait."""

    def __init__(self, rate: float) -> None:
        self._rate = rate
        self._budgets: OrderedDict[str, tuple[float, float]] = OrderedDict()  # what is left, and when

    def admit(self, address: str, now: float) -> None:
        """Takes 1 from the address's budget at the time `now` (seconds); refuses if nothing is left."""
        if self._rate == 0:
            return
        left = self._left(network_of(address), now)
        if left <= 0:
            wait = math.ceil(1 - left / self._rate)
            raise RefusalError(429, "too many requests from this address", {"retry-after": str(wait)})
        self.charge(address, 1, now)

    def charge(self, address: str, amount: int, now: float) -> None:
        """Takes `amount` from the address's budget, below 0 if need be."""
        if self._rate == 0 or amount == 0:
            return
        network = network_of(address)
        self._budgets[network] = (self._left(network, now) - amount, now)
        self._budgets.move_to_end(network)
        if len(self._budgets) > _ADDRESSES:
            self._budgets.popitem(last=False)

    def _left(self, network: str, now: float) -> float:
        most = self._rate * _BURST_SECONDS
        left, before = self._budgets.get(network, (most, now))
        return min(most, left + (now - before) * self._rate)


class Turns:
    """So many requests of one address are served at once; its others wait behind their own, and hold up nobody else."""

    def __init__(self) -> None:
        self._places: dict[str, tuple[asyncio.Semaphore, int]] = {}  # of each address, and by how many it is used

    @asynccontextmanager
    async def of(self, address: str) -> AsyncIterator[None]:
        """A turn for one request."""
        network = network_of(address)
        semaphore, users = self._places.get(network) or (asyncio.Semaphore(_AT_ONCE), 0)
        self._places[network] = semaphore, users + 1
        try:
            async with semaphore:
                yield
        finally:
            users = self._places[network][1] - 1
            self._places[network] = semaphore, users
            if not users:
                del self._places[network]


def address_of(scope: Scope) -> str:
    """Where a request comes from."""
    client = scope["client"]
    return str(client[0]) if client else ""


def media_type(request: Request) -> str:
    """What a request says that its body is, without parameters."""
    return request.headers.get("content-type", "").partition(";")[0].strip().lower()


def network_of(address: str) -> str:
    """What one subscriber has: an IPv4 address, or the first 64 bits of an IPv6 address."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.IPv6Network((address, 64), strict=False))
    except ValueError:
        return address


class Bodies:
    """Reads bodies that are neither too large nor too slow; large ones share what room there is, small ones need none.

    So a sender that leaves large bodies unfinished takes no more memory than the room, and stops no single report.
    """

    def __init__(self, quotas: Quotas) -> None:
        self._most, self._seconds, self._room = quotas.body_bytes, quotas.body_seconds, quotas.bodies_bytes

    async def read(self, request: Request) -> bytes:
        """The body of a request."""
        stated = request.headers.get("content-length", "0")
        if not stated.isdecimal() or int(stated[:20]) > self._most:
            raise self._too_large()
        part = await request.receive()  # which the server gives its time; a single report has no other part
        if part["type"] == "http.request" and not part["more_body"] and len(part["body"]) <= min(_SMALL, self._most):
            return bytes(part["body"])
        return await self._rest(request, part)

    async def _rest(self, request: Request, part: Message) -> bytes:
        body, taken = bytearray(), 0
        try:
            async with asyncio.timeout(self._seconds):
                while part["type"] == "http.request":
                    body += part["body"]
                    if len(body) > self._most:
                        raise self._too_large()
                    if len(body) > _SMALL:
                        more, taken = len(body) - taken, len(body)
                        self._room -= more
                        if self._room < 0:
                            raise RefusalError(503, "too many large bodies at once", _RETRY)
                    if not part["more_body"]:
                        return bytes(body)
                    part = await request.receive()
                raise RefusalError(400, "the body ended early", _CLOSE)
        except TimeoutError:
            raise RefusalError(408, f"the body took longer than {self._seconds:g} seconds", _CLOSE) from None
        finally:
            self._room += taken

    def _too_large(self) -> RefusalError:
        return RefusalError(413, f"the body is larger than {self._most} bytes", _CLOSE)
