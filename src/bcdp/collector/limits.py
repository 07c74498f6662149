"""How much an address may send, and how much of a body is read; addresses stay in memory and are soon forgotten."""

from __future__ import annotations

import asyncio
import ipaddress
import math
from collections import OrderedDict

from starlette.requests import ClientDisconnect, Request

from bcdp.collector.refusal import RefusalError

_ADDRESSES = 100_000
_BURST_SECONDS = 10.0


class Rates:
    """A budget for every address that refills with time; a request may overdraw it once, and is then made to wait."""

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
            raise RefusalError(429, "too many reports from this address", {"retry-after": str(wait)})
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


def network_of(address: str) -> str:
    """What one subscriber has: an IPv4 address, or the first 64 bits of an IPv6 address."""
    if ":" not in address:
        return address
    try:
        return str(ipaddress.IPv6Network((address, 64), strict=False))
    except ValueError:
        return address


async def read_body(request: Request, most_bytes: int, seconds: float) -> bytes:
    """The body of a request, unless it is too large or too slow; never more than `most_bytes` are kept."""
    stated = request.headers.get("content-length", "0")
    if not stated.isdecimal() or int(stated[:20]) > most_bytes:
        raise _too_large(most_bytes)
    body = bytearray()
    try:
        async with asyncio.timeout(seconds):
            async for chunk in request.stream():
                body += chunk
                if len(body) > most_bytes:
                    raise _too_large(most_bytes)
    except TimeoutError:
        raise RefusalError(408, f"the body took longer than {seconds:g} seconds", {"connection": "close"}) from None
    except ClientDisconnect:
        raise RefusalError(400, "the body ended early", {"connection": "close"}) from None
    return bytes(body)


def _too_large(most_bytes: int) -> RefusalError:
    return RefusalError(413, f"the body is larger than {most_bytes} bytes", {"connection": "close"})
