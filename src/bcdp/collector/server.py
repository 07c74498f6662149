"""The processes: one worker in this process, or several that share its listening socket under a supervisor."""

from __future__ import annotations

import asyncio
import functools
import logging
import sys
from collections.abc import Callable

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from bcdp.collector.app import create_app
from bcdp.collector.guard import JsonLines, log
from bcdp.collector.settings import Settings

_HEAD_SECONDS, _HEAD_BYTES = 10.0, 2**16
_STOP_SECONDS = 30


def serve(
    settings: Settings,
    host: str,
    port: int,
    workers: int,
    proxies: str | None,
    tell: Callable[[str, int], None] = lambda host, port: None,
) -> None:
    """Serves until told to stop (SIGTERM or SIGINT); requests under way are then answered first.

    `proxies` lists the addresses whose `X-Forwarded-For` is believed, separated by commas. `tell` is called with the
    address and the port when they are taken.
    """
    config = uvicorn.Config(
        functools.partial(_worker, settings),
        factory=True,
        host=host,
        port=port,
        workers=workers,
        loop="uvloop",
        http=Protocol,
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # it would tell addresses
        server_header=False,
        proxy_headers=proxies is not None,
        forwarded_allow_ips=proxies,
        timeout_graceful_shutdown=_STOP_SECONDS,
        timeout_worker_healthcheck=_STOP_SECONDS,  # a busy machine is no reason to end a worker
    )
    log_as_json()
    listening = config.bind_socket()
    address = listening.getsockname()
    tell(address[0], address[1])
    log.info("serving", extra={"fields": {"host": address[0], "port": address[1], "plan": settings.plan.id}})
    if workers == 1:
        uvicorn.Server(config).run([listening])
    else:
        Multiprocess(config, [listening]).run()


def _worker(settings: Settings) -> ASGIApp:
    log_as_json()
    return create_app(settings)


def log_as_json() -> None:
    """Sends every log record to stderr as a line of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)


class Protocol(HttpToolsProtocol):
    """The HTTP protocol with a limit on how long, and how large, the head of a request may be."""

    _deadline: asyncio.TimerHandle | None = None
    _in_head, _head_bytes = False, 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._await_head()

    def data_received(self, data: bytes) -> None:
        if self.cycle is None or self.cycle.response_complete:  # also empty lines, which begin no request
            self._await_head()
        super().data_received(data)
        self._head_bytes += len(data) if self._in_head else 0
        if self._head_bytes > _HEAD_BYTES:
            self.transport.close()

    def on_message_begin(self) -> None:
        super().on_message_begin()
        self._await_head()
        self._in_head = True

    def on_headers_complete(self) -> None:
        self._head_arrived()
        super().on_headers_complete()

    def connection_lost(self, exc: Exception | None) -> None:
        self._head_arrived()
        super().connection_lost(exc)

    def _await_head(self) -> None:
        if self._deadline is None:
            self._deadline = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _head_arrived(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
        self._deadline, self._in_head, self._head_bytes = None, False, 0
