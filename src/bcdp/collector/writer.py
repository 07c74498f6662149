"""Group commit: requests that arrive while a transaction runs share the next one, and are answered after it.

A commit waits for the disk; one for each request would allow a few hundred reports a second, one for all that wait
allows as many as the rest of the service can take.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections import deque
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor

from bcdp.collector.counters import ACCEPTED, COMMIT_MICROSECONDS, COMMITS, DUPLICATE, Counters
from bcdp.collector.refusal import RefusalError
from bcdp.collector.store import Store, StoreError
from bcdp.collector.upload import Report, pack

log = logging.getLogger("bcdp.collector")

_GROUP = 20_000  # reports in one transaction, at most (and one request more)


class Writer:
    """The one task of a worker that writes; `add` returns when the reports are on disk."""

    def __init__(self, store: Store, counters: Counters, most_waiting: int) -> None:
        self._store, self._counters, self._most_waiting = store, counters, most_waiting
        self._waiting: deque[tuple[Sequence[Report], asyncio.Future[int]]] = deque()
        self._size = 0
        self._arrived = asyncio.Event()
        self._thread = ThreadPoolExecutor(1, "writer")

    async def add(self, reports: Sequence[Report]) -> int:
        """How many of the reports were new, once all of them are stored durably; refuses if the store cannot."""
        if self._size + len(reports) > self._most_waiting:
            raise RefusalError(503, "too many reports are waiting; send them again later", {"retry-after": "5"})
        stored: asyncio.Future[int] = asyncio.get_running_loop().create_future()
        self._waiting.append((reports, stored))
        self._size += len(reports)
        self._arrived.set()
        new = await stored
        self._counters.add(ACCEPTED, new)
        self._counters.add(DUPLICATE, len(reports) - new)
        return new

    async def run(self) -> None:
        """Writes what arrives, group after group, until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            await self._arrived.wait()
            group, answers, owners = self._next_group()
            began = time.perf_counter()
            try:
                known = await loop.run_in_executor(self._thread, self._store.add, answers)
            except Exception as error:  # whatever it is, nobody may wait for ever, and the next group may fare better
                log.error("commit failed", extra={"fields": {"cause": _without_values(error.__cause__ or error)}})
                told = RefusalError(503, f"nothing was stored: {error}", {"retry-after": "5"})
                for _, stored in group:
                    _finish(stored, told if isinstance(error, StoreError) else error)
                continue
            self._counters.add(COMMITS)
            self._counters.add(COMMIT_MICROSECONDS, round((time.perf_counter() - began) * 1e6))
            new = [0] * len(group)
            for identity, owner in owners.items():
                new[owner] += identity not in known
            for (_, stored), count in zip(group, new, strict=True):
                _finish(stored, count)

    def _next_group(
        self,
    ) -> tuple[list[tuple[Sequence[Report], asyncio.Future[int]]], Mapping[str, int], Mapping[str, int]]:
        """The requests of the next transaction, the answer of each id, and the request that brought it first."""
        group: list[tuple[Sequence[Report], asyncio.Future[int]]] = []
        answers: dict[str, int] = {}
        owners: dict[str, int] = {}
        while self._waiting and len(answers) < _GROUP:
            reports, stored = self._waiting.popleft()
            self._size -= len(reports)
            for report in reports:
                if report.id not in answers:
                    answers[report.id], owners[report.id] = pack(report), len(group)
            group.append((reports, stored))
        if not self._waiting:
            self._arrived.clear()
        return group, answers, owners

    def close(self) -> None:
        """Waits for the transaction that runs, if any, and closes the store."""
        self._thread.shutdown()
        self._store.close()


def _finish(stored: asyncio.Future[int], result: int | Exception) -> None:
    if stored.done():  # whoever asked has left
        return
    if isinstance(result, Exception):
        stored.set_exception(result)
    else:
        stored.set_result(result)


def _without_values(error: BaseException) -> str:
    """What the log may hold of an error: its kind, and its text only where that is never about a report."""
    kind = type(error).__name__
    return f"{kind}: {' '.join(str(error).split())[:200]}" if kind in ("OperationalError", "OSError") else kind
