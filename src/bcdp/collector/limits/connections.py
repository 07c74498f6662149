"""What an address may do before its requests are looked at: open connections, be read from, make mistakes."""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, deque
from collections.abc import Callable, Collection

from bcdp.collector.http.errors import RefusalError
from bcdp.collector.http.middleware import TOO_OFTEN_SECONDS
from bcdp.collector.limits.rates import Rates
from bcdp.collector.metrics import Counters
from bcdp.collector.settings import Quotas

_READS = 16  # from connections, before whatever else there is to do
_MISTAKES = 100  # an address may send one malformed request for so many reports


class ConnectionLimits:
    """The addresses at one process; a rate of 0 lifts the quotas, and so does a proxy, at which all are one address.

    Relays have none either: each speaks for many.
    """

    def __init__(
        self, quotas: Quotas, counters: Counters, behind_proxy: bool, relays: Collection[str] = frozenset()
    ) -> None:
        self.counters = counters
        self._limited, self._relays = quotas.rate > 0 and not behind_proxy, frozenset(relays)
        self._most = quotas.connections
        self._open = Counter[str]()
        self._mistakes = Rates(quotas.rate / _MISTAKES)
        self._reads, self._goes_on = _READS, False
        self._waiting: dict[str, deque[Callable[[], None]]] = {}

    def enter(self, address: str) -> bool:
        """Whether the address may have one more connection; it has it in any case, until it leaves."""
        self._open[address] += 1
        return not self._limited or self._open[address] <= self._most or address in self._relays

    def leave(self, address: str) -> None:
        """Gives a connection back."""
        self._open[address] -= 1
        if not self._open[address]:
            del self._open[address]

    def patience(self, address: str) -> float:
        """For how many seconds a mistake is left without an answer: none at first, so that floods of them end."""
        try:
            self._mistakes.admit(address, time.monotonic())
        except RefusalError:
            return random.uniform(*TOO_OFTEN_SECONDS)
        return 0.0

    def may_read(self, address: str, later: Callable[[], None]) -> bool:
        """Whether data of this address may be looked at now; else `later` is called when it is the address's turn.

        Addresses take turns, so that those that send much wait for each other and not others for them.
        """
        if not self._limited or address in self._relays:
            return True
        if not self._goes_on:
            self._goes_on = True
            asyncio.get_running_loop().call_soon(self._go_on)
        if self._reads > 0 and not self._waiting:
            self._reads -= 1
            return True
        self._waiting.setdefault(address, deque()).append(later)
        return False

    def _go_on(self) -> None:
        loop = asyncio.get_running_loop()
        self._reads = _READS
        while self._waiting and self._reads > 0:
            self._reads -= 1
            address = next(iter(self._waiting))
            turns = self._waiting.pop(address)
            loop.call_soon(turns.popleft())
            if turns:
                self._waiting[address] = turns  # behind the others
        self._goes_on = bool(self._waiting)
        if self._goes_on:
            loop.call_soon(self._go_on)
