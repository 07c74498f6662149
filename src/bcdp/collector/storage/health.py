"""Whether reports can be stored now: read from the store, or written to it after a commit has failed."""

from __future__ import annotations

import asyncio

from bcdp.collector.http.errors import RETRY, RefusalError
from bcdp.collector.metrics import DAMAGED, WELL, WRITABLE, Counters
from bcdp.collector.storage.store import DamagedStoreError, Database, StoreError

_SECONDS = 5.0


class Health:
    """One worker's look at the store, through a connection of its own.

    After a failed commit of any worker something has to be written before the store counts as well again. It is tried
    whenever somebody asks: a load balancer sends no reports to a collector that is not well, so none may ever come. A
    damaged store needs a commit of reports, or a new start.
    """

    def __init__(self, store: Database, counters: Counters) -> None:
        self._store, self._counters = store, counters
        self._looking: asyncio.Future[None] | None = None

    async def check(self) -> None:
        """Refuses with 503 if reports cannot be stored."""
        if self._looking is None or self._looking.done():  # one at a time, however many ask
            self._looking = asyncio.ensure_future(asyncio.to_thread(self._look))
        looking = self._looking
        await asyncio.wait({looking}, timeout=_SECONDS)
        error = looking.exception() if looking.done() else StoreError("the store does not answer")
        if error is not None:
            reason = str(error) if isinstance(error, StoreError) else "the store cannot be used now"
            raise RefusalError(503, reason, RETRY)

    def _look(self) -> None:
        seen = self._counters.state(WRITABLE)
        if seen == DAMAGED:
            raise DamagedStoreError("the store is damaged")
        if seen == WELL:
            self._store.check()
        else:
            self._store.probe()
            self._counters.note(WRITABLE, WELL)

    def close(self) -> None:
        """Gives the connection back."""
        self._store.close()
