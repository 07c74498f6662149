"""Group commit: requests that arrive while a transaction runs share the next one, and are answered after it.

A commit waits for the disk; one for each request would allow a few hundred reports a second, one for all that wait
allows as many as the rest of the service can take. The writer also settles the store, at most a thousandth of the time.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cached_property
from typing import Generic, Protocol, TypeVar

from bcdp.collector.http.errors import RETRY, RefusalError
from bcdp.collector.http.middleware import ThrottledLog
from bcdp.collector.metrics import (
    ACCEPTED,
    COMMIT_MICROSECONDS,
    COMMITS,
    DAMAGED,
    DUPLICATE,
    FAILED_COMMITS,
    FAILING,
    SETTLED,
    WELL,
    WRITABLE,
    Counters,
)
from bcdp.collector.storage.report_marks import Marked
from bcdp.collector.storage.store import DamagedStoreError, StoreError

_GROUP = 20_000  # reports in one transaction, at most (and one request more)
_UNSETTLED_SECONDS = 10.0  # a store waits so long to be settled, or a thousand times as long as that takes
_SHARE = 1000
V = TypeVar("V", contravariant=True)


class Keeper(Protocol[V]):
    """A store of values under marks."""

    def add(self, values: Mapping[bytes, V], /) -> set[bytes]:
        """The marks that were not there yet; now they are, durably."""

    def settle(self) -> None:
        """Writes the store again, so that it does not tell what came first."""

    def close(self) -> None:
        """Gives the connection back."""


class Writer(Generic[V]):
    """The one task of a worker that writes; `add` returns when the reports are on disk."""

    def __init__(self, store: Keeper[V], counters: Counters, most_waiting: int) -> None:
        self._store, self._counters, self._most_waiting = store, counters, most_waiting
        self._waiting: deque[tuple[Marked[V], asyncio.Future[int]]] = deque()
        self._size = 0
        self._arrived = asyncio.Event()
        self._settle_at: float | None = None
        self._rest = _UNSETTLED_SECONDS
        self._thread = ThreadPoolExecutor(1, "writer")
        self._seldom = ThrottledLog()

    @cached_property
    def _loop(self) -> asyncio.AbstractEventLoop:  # once: finding it is a call of the system
        return asyncio.get_running_loop()

    async def add(self, reports: Marked[V]) -> int:
        """How many of the reports were new, once all of them are stored durably; refuses if the store cannot."""
        if not len(reports):  # a batch of which every message was refused
            return 0
        if self._size + len(reports) > self._most_waiting:
            raise RefusalError(503, "too many reports are waiting; send them again later", RETRY)
        stored: asyncio.Future[int] = self._loop.create_future()
        self._waiting.append((reports, stored))
        self._size += len(reports)
        self._counters.wait(self._size)
        self._arrived.set()
        new = await stored
        self._counters.add(ACCEPTED, new)
        self._counters.add(DUPLICATE, len(reports) - new)
        return new

    async def run(self) -> None:
        """Writes what arrives, group after group, and settles the store in between, until cancelled."""
        await self._settle("start")  # what a killed worker left behind
        while True:
            patience = None if self._settle_at is None else max(0.0, self._settle_at - time.monotonic())
            with suppress(TimeoutError):
                async with asyncio.timeout(patience):
                    await self._arrived.wait()
            if self._waiting:
                await self._commit()
            if self._settle_at is not None and time.monotonic() >= self._settle_at:
                await self._settle("later")

    async def _commit(self) -> None:
        group = self._next_group()
        values: dict[bytes, V] = {}
        for reports, _ in reversed(group):  # and backwards in each: the first answer under a mark is counted
            values.update(zip(reversed(reports.marks), reversed(reports.values), strict=True))
        began = time.perf_counter()
        try:
            new = await self._loop.run_in_executor(self._thread, self._store.add, values)
        except Exception as error:  # whatever it is, nobody may wait for ever, and the next group may fare better
            self._seldom.log(logging.ERROR, "commit failed", {}, {"cause": _without_values(error.__cause__ or error)})
            self._counters.add(FAILED_COMMITS)
            self._counters.note(WRITABLE, DAMAGED if isinstance(error, DamagedStoreError) else FAILING)
            for _, stored in group:
                _finish(stored, _refusal(error))
            return
        self._counters.note(WRITABLE, WELL)
        if self._settle_at is None:
            self._settle_at = time.monotonic() + self._rest
        self._counters.add(COMMITS)
        self._counters.add(COMMIT_MICROSECONDS, round((time.perf_counter() - began) * 1e6))
        for reports, stored in group:
            mine = new.intersection(reports.marks)
            new -= mine  # a mark is new only to the request that brought it first
            _finish(stored, len(mine))

    def _next_group(self) -> list[tuple[Marked[V], asyncio.Future[int]]]:
        """The requests of the next transaction."""
        group: list[tuple[Marked[V], asyncio.Future[int]]] = []
        size = 0
        while self._waiting and size < _GROUP:
            reports, stored = self._waiting.popleft()
            size += len(reports)
            group.append((reports, stored))
        self._size -= size
        self._counters.wait(self._size)
        if not self._waiting:
            self._arrived.clear()
        return group

    async def _settle(self, when: str) -> None:
        began = time.monotonic()
        settled = await self._loop.run_in_executor(self._thread, self._settled, when)
        ended = time.monotonic()
        self._rest = max(_UNSETTLED_SECONDS, _SHARE * (ended - began))
        self._settle_at = None if settled else ended + self._rest

    def _settled(self, when: str) -> bool:
        """Whether the store could be settled; if not, the log and the metrics say so, and reports are still taken."""
        try:
            self._store.settle()
        except Exception as error:
            cause = _without_values(error.__cause__ or error)
            self._seldom.log(logging.ERROR, "not settled", {"when": when}, {"cause": cause})
            self._counters.note(SETTLED, FAILING)
            return False
        self._counters.note(SETTLED, WELL)
        return True

    def close(self) -> None:
        """Waits for the transaction that runs, if any, settles the store and closes it."""
        self._thread.shutdown()
        self._settled("exit")
        self._store.close()


def _refusal(error: Exception) -> Exception:
    """What those are answered whose reports could not be stored."""
    if isinstance(error, DamagedStoreError):
        return RefusalError(500, f"nothing was stored: {error}; sending it again does not help")
    return RefusalError(503, f"nothing was stored: {error}", RETRY) if isinstance(error, StoreError) else error


def _finish(stored: asyncio.Future[int], result: int | Exception) -> None:
    if stored.done():  # anybody who asked has left
        return
    if isinstance(result, Exception):
        stored.set_exception(result)
    else:
        stored.set_result(result)


def _without_values(error: BaseException) -> str:
    """What the log may hold of an error: its kind, and its text only where that is never about a report."""
    kind = type(error).__name__
    name = getattr(error, "sqlite_errorname", None)  # such as SQLITE_IOERR_WRITE, which the text does not tell apart
    known = ("OperationalError", "OSError", "StoreError", "DatabaseError")
    text = f"{kind}: {' '.join(str(error).split())[:200]}" if kind in known else kind
    return text if name is None else f"{text} ({name})"
