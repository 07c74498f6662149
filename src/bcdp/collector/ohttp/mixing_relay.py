"""A relay that mixes: keeps sealed messages, and delivers them to the collector in shuffled batches.

A message is on disk before it is acknowledged (202). A batch is drawn once, in one transaction, and then delivered as
it is, again and again, until the collector answers with its receipt; the collector counts each report's id once. So
every acknowledged message is delivered and counted once, or is in one of the totals `refused` and `deleted`.
"""

from __future__ import annotations

import asyncio
import hmac
import logging
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field

import httpx
import msgspec
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import ASGIApp

from bcdp.collector.http.cors import Anyone
from bcdp.collector.http.errors import RETRY, RefusalError
from bcdp.collector.http.middleware import Guard, ThrottledLog, log
from bcdp.collector.http.routing import Routes, Service
from bcdp.collector.metrics import Counters, build_info, metric
from bcdp.collector.ohttp.mixing import BATCH, BATCH_TYPE, MESSAGE_BYTES, Mixing, shuffled_parts
from bcdp.collector.ohttp.relay import RELAY_QUOTAS, Entrance, check_address, client_to_collector
from bcdp.collector.settings import Quotas, check_token
from bcdp.collector.storage.group_commit import Writer
from bcdp.collector.storage.health import Health
from bcdp.collector.storage.messages import MessageStore, Receipt, mark_of, open_messages
from bcdp.collector.storage.report_marks import Marked
from bcdp.collector.storage.store import StoreError
from bcdp.errors import refuse

_KEPT = b'{"kept":1}'  # the same for a message that is there already: nobody can ask whether one is
_DELIVERY_SECONDS = 600.0
_TICK_SECONDS, _RETRY_SECONDS = 0.5, 5.0
_MEANINGS = {
    "waiting": ("gauge", "Messages that wait for the next batch."),
    "drawn": ("gauge", "Messages in batches that the collector has not confirmed."),
    "accepted": ("counter", "Delivered messages whose reports the collector counted."),
    "duplicate": ("counter", "Delivered messages whose reports the collector had counted before."),
    "refused": ("counter", "Delivered messages that the collector refused."),
    "deleted": ("counter", "Messages deleted at the end, because there were too few for a batch."),
}


@dataclass(frozen=True)
class MixingSettings:
    """Where batches go, by which rule, and where messages wait; the operator's token opens the metrics, if any."""

    collector: str
    mixing: Mixing
    store: str
    token: str | None = None
    quotas: Quotas = RELAY_QUOTAS
    counters: Counters = field(default_factory=Counters)
    clock: Callable[[], float] = time.time

    def __post_init__(self) -> None:
        accepted = f"a collector's batches, https://HOST{BATCH}"
        check_address(self.collector, accepted)
        if not self.collector.endswith(BATCH):  # such as the gateway for single messages
            raise refuse("to", self.collector, f"the address of {accepted}")
        if self.token is not None:
            check_token(self.token)

    def open_store(self) -> MessageStore:
        """A connection to the messages."""
        return open_messages(self.store, self.collector, self.mixing.least, self.mixing.due(self.clock()))


class MixingRelay:
    """The one worker of a mixing relay: handlers that keep messages, and a task that delivers them."""

    def __init__(self, settings: MixingSettings) -> None:
        self._settings, self._mixing = settings, settings.mixing
        self._entrance = Entrance(settings.quotas)
        self.admit = self._entrance.admit
        self._writer: Writer[bytes] = Writer(settings.open_store(), settings.counters, settings.quotas.waiting)
        self._messages, self._read = settings.open_store(), settings.open_store()  # of the task, and of the handlers
        self._health = Health(settings.open_store(), settings.counters)
        self._reading = asyncio.Lock()
        self._receiving = 0
        self._client = client_to_collector(_DELIVERY_SECONDS)
        self._seldom = ThrottledLog()

    @asynccontextmanager
    async def running(self, app: Router) -> AsyncIterator[None]:
        """While the worker runs, messages are written and delivered; nothing is sent because it stops."""
        self._settings.counters.claim()
        async with self._client:
            tasks = [asyncio.create_task(work()) for work in (self._writer.run, self._deliver)]
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                    with suppress(asyncio.CancelledError):
                        await task
                self._messages.close()
                self._read.close()
                self._health.close()
                self._writer.close()

    async def keep(self, request: Request) -> Response:
        """Acknowledges a message when it is on disk; one sent again is acknowledged and kept once."""
        if self._mixing.ended(self._settings.clock()):
            raise RefusalError(410, "the collection has ended")
        self._receiving += 1
        try:
            sealed = await self._entrance.sealed(request)
            if len(sealed) != MESSAGE_BYTES:  # a length of its own would make a message known again
                raise RefusalError(422, f"accepted: one sealed report, {MESSAGE_BYTES} bytes")
            await self._writer.add(Marked([mark_of(sealed)], [sealed]))
        finally:
            self._receiving -= 1
        return Response(_KEPT, 202, media_type="application/json")

    async def _deliver(self) -> None:
        """Draws batches when they are due, and delivers each until the collector has it, until cancelled."""
        while True:
            pause = _TICK_SECONDS
            try:
                batch = await asyncio.to_thread(self._messages.batch)
                if batch is not None:
                    pause = 0.0 if await self._sent(*batch) else _RETRY_SECONDS
                elif await self._draw():
                    pause = 0.0
            except Exception as error:  # whatever it is, the next attempt may fare better
                cause = str(error) if isinstance(error, StoreError) else type(error).__name__
                self._seldom.log(logging.ERROR, "not delivered", {"cause": cause})
                pause = _RETRY_SECONDS
            await asyncio.sleep(pause)

    async def _draw(self) -> bool:
        """Whether batches were drawn from what waits, as they are if that is due; too few may be deleted at the end."""
        now = self._settings.clock()
        ended = self._mixing.ended(now) and self._receiving == 0
        due = self._mixing.due(now)
        if not ended and due <= await asyncio.to_thread(self._messages.due):
            return False
        marks = await asyncio.to_thread(self._messages.waiting)
        parts = shuffled_parts(marks, self._mixing.least)
        if parts or not ended:
            await asyncio.to_thread(self._messages.draw, due, parts)
        elif marks and self._mixing.at_end == "delete":
            await asyncio.to_thread(self._messages.delete_waiting, marks)
            await self._settle()
            log.warning("deleted", extra={"fields": {"messages": len(marks), "needed": self._mixing.least}})
        return bool(parts)

    async def _sent(self, part: int, body: bytes) -> bool:
        """Whether the collector has the batch now."""
        messages = len(body) // MESSAGE_BYTES
        try:
            answer = await self._client.post(
                self._settings.collector, content=body, headers={"content-type": BATCH_TYPE}
            )
            receipt = _receipt(answer, messages)
        except (httpx.HTTPError, ValueError) as error:
            what: dict[str, object] = {"cause": str(error) if isinstance(error, ValueError) else type(error).__name__}
            self._seldom.log(logging.ERROR, "not delivered", what)
            return False
        await asyncio.to_thread(self._messages.delivered, part, receipt)
        await self._settle()
        log.info("delivered", extra={"fields": {"messages": messages, **msgspec.structs.asdict(receipt)}})
        return True

    async def _settle(self) -> None:
        """Writes the store again at once: what was delivered or deleted leaves the disk, also if no message follows."""
        with suppress(StoreError):  # while a backup runs; the writer settles it later
            await asyncio.to_thread(self._messages.settle)

    async def healthz(self, request: Request) -> Response:
        """Whether messages can be kept: the store can be read, and the last message could be written."""
        await self._health.check()
        return Response(b'{"status":"ok"}', media_type="application/json")

    async def metrics(self, request: Request) -> Response:
        """Totals in the text format of Prometheus; for the operator, as they tell when messages come."""
        given = request.headers.get("authorization", "").encode("latin-1")
        if not hmac.compare_digest(given, f"Bearer {self._settings.token}".encode()):
            raise RefusalError(401, "the operator's token is needed", {"www-authenticate": "Bearer"})
        try:
            async with self._reading:
                totals = await asyncio.to_thread(self._read.totals)
        except StoreError as error:
            raise RefusalError(503, str(error), RETRY) from None
        lines = build_info()
        for total, (kind, meaning) in _MEANINGS.items():
            name = f"bcdp_relay_{total}{'_total' if kind == 'counter' else ''}"
            lines += metric(name, kind, meaning, {"": str(getattr(totals, total))})
        text = "\n".join([*lines, *self._settings.counters.states(), *self._settings.counters.statuses()]) + "\n"
        return Response(text, media_type="text/plain; version=0.0.4")


def _receipt(answer: httpx.Response, messages: int) -> Receipt:
    """The collector's receipt for a batch; anything that does not account for every message is none."""
    if answer.status_code != 200:
        raise ValueError(f"the collector answered {answer.status_code}")
    try:
        receipt = msgspec.json.decode(answer.content, type=Receipt)
    except msgspec.DecodeError:
        raise ValueError("what answered is not the collector") from None
    counts = msgspec.structs.astuple(receipt)
    if min(counts) < 0 or sum(counts) != messages:
        raise ValueError("the collector's answer does not account for every message")
    return receipt


def create_mixing_relay(settings: MixingSettings) -> ASGIApp:
    """The ASGI application that mixes."""
    relay = MixingRelay(settings)
    routes: Routes = {"/": {"POST": relay.keep}, "/healthz": {"GET": relay.healthz}}
    if settings.token is not None:
        routes = {**routes, "/metrics": {"GET": relay.metrics}}
    service = Service(routes, Router(lifespan=relay.running), Anyone())
    return Guard(service, settings.counters, routes.keys(), relay.admit, Anyone())
