"""The processes: one worker in this process, or several that share its listening socket under a supervisor."""

from __future__ import annotations

import asyncio
import functools
import gc
import logging
import socket
import sys
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import uvicorn
from starlette.types import ASGIApp
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol
from uvicorn.supervisors import Multiprocess

from bcdp.collector.app import create_app
from bcdp.collector.http.middleware import NOT_KEPT, SAFE_HEADERS, JsonLines, ThrottledLibraries, log
from bcdp.collector.limits.connections import ConnectionLimits
from bcdp.collector.limits.rates import network_of
from bcdp.collector.settings import Settings

if TYPE_CHECKING:
    from bcdp.collector.ohttp.mixing_relay import MixingSettings
    from bcdp.collector.ohttp.relay import RelaySettings

_HEAD_SECONDS, _HEAD_BYTES = 10.0, 2**16
_UNREAD_BYTES = 2**16  # that the system holds for a connection; what is read at once is no more
_PIPELINED = 4  # requests that may wait for one before them
_SPARE_CHUNKS, _CHUNK_BYTES = 64, 256  # so many chunks of a body may have fewer bytes than this
_STOP_SECONDS = 30


def serve(
    settings: Settings,
    host: str,
    port: int,
    workers: int,
    proxies: str | None,
    tell: Callable[[str, int], None] = lambda host, port: None,
) -> None:
    """Serves a collection until asked to stop (SIGTERM or SIGINT); requests under way are then answered first.

    `proxies` lists the addresses whose `X-Forwarded-For` is believed, separated by commas. `tell` is called with the
    address and the port when they are taken.
    """
    relays = [network_of(address) for address in settings.relays]
    door = ConnectionLimits(settings.quotas, settings.counters, proxies is not None, relays)
    application = functools.partial(_worker, create_app, settings)
    _serve(
        application, door, {"plan": settings.plan.id}, host=host, port=port, workers=workers, proxies=proxies, tell=tell
    )


def serve_relay(
    settings: RelaySettings | MixingSettings,
    host: str,
    port: int,
    proxies: str | None,
    tell: Callable[[str, int], None],
) -> None:
    """Relays until asked to stop, likewise: each message at once, or in batches."""
    from bcdp.collector.ohttp.mixing_relay import MixingSettings, create_mixing_relay
    from bcdp.collector.ohttp.relay import create_relay

    create = create_mixing_relay if isinstance(settings, MixingSettings) else create_relay
    door = ConnectionLimits(settings.quotas, settings.counters, proxies is not None)
    _serve(
        functools.partial(_worker, create, settings),
        door,
        {},
        host=host,
        port=port,
        workers=1,
        proxies=proxies,
        tell=tell,
    )


def _serve(
    application: Callable[[], ASGIApp],
    door: ConnectionLimits,
    logged: dict[str, object],
    host: str,
    port: int,
    workers: int,
    proxies: str | None,
    tell: Callable[[str, int], None],
) -> None:
    config = uvicorn.Config(
        application,
        factory=True,
        host=host,
        port=port,
        workers=workers,
        loop="auto",  # uvloop, where there is one
        http=functools.partial(Protocol, door),  # type: ignore[arg-type]
        ws="none",
        lifespan="on",
        log_config=None,
        access_log=False,  # it would reveal addresses
        server_header=False,
        proxy_headers=proxies is not None,
        forwarded_allow_ips=proxies,
        timeout_graceful_shutdown=_STOP_SECONDS,
        timeout_worker_healthcheck=_STOP_SECONDS,  # a busy machine is no reason to end a worker
    )
    log_as_json()
    listening = config.bind_socket()
    listening.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _UNREAD_BYTES)  # and so has every connection
    address = listening.getsockname()
    tell(address[0], address[1])
    log.info("serving", extra={"fields": {"host": address[0], "port": address[1], **logged}})
    if workers == 1:
        uvicorn.Server(config).run([listening])
    else:
        Multiprocess(config, [listening]).run()


def _worker(create: Callable[[Any], ASGIApp], settings: Any) -> ASGIApp:
    log_as_json()
    app = create(settings)
    gc.collect()
    gc.freeze()  # what is there now stays: going through it again and again would make every sender wait
    return app


def log_as_json() -> None:
    """Sends every log record to stderr as a line of JSON."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(JsonLines())
    handler.addFilter(ThrottledLibraries())
    logging.basicConfig(level=logging.INFO, handlers=[handler], force=True)
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)  # it has a line for every malformed request
    logging.getLogger("httpx").setLevel(logging.WARNING)  # one for every message that a relay hands on


class Protocol(HttpToolsProtocol):
    """The HTTP protocol with limits: on the head of a request, its chunks, and requests sent before an answer."""

    _deadline: asyncio.TimerHandle | None = None
    _in_head, _head_bytes, _spare_chunks = False, 0, 0
    _ends = False  # nothing more is read

    def __init__(self, door: ConnectionLimits, *arguments: Any, **options: Any) -> None:
        super().__init__(*arguments, **options)
        self._door = door

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._address = network_of(self.client[0]) if self.client else ""
        if not self._door.enter(self._address):
            transport.abort()
        self._await_head()

    def data_received(self, data: bytes) -> None:
        if self._ends or not self._door.may_read(self._address, functools.partial(self._read_later, data)):
            self.flow.pause_reading()
        else:
            self._read(data)

    def _read_later(self, data: bytes) -> None:
        if not self._ends and not self.transport.is_closing():
            self.flow.resume_reading()
            self._read(data)

    def _read(self, data: bytes) -> None:
        if self.cycle is None or self.cycle.response_complete:  # also empty lines, which begin no request
            self._await_head()
        super().data_received(data)
        self._head_bytes += len(data) if self._in_head else 0
        if self._head_bytes > _HEAD_BYTES:
            self.transport.close()

    def on_message_begin(self) -> None:
        if len(self.pipeline) >= _PIPELINED:
            raise ValueError("too many requests before the first was answered")
        super().on_message_begin()
        self._await_head()
        self._in_head, self._spare_chunks = True, _SPARE_CHUNKS

    def on_headers_complete(self) -> None:
        self._in_head, self._head_bytes = False, 0
        hosts, encodings = 0, []
        for name, value in self.headers:
            if name == b"host":
                hosts += 1
            elif name == b"transfer-encoding":
                encodings.append(value.lower())
        if hosts != 1 and (hosts or self.parser.get_http_version() != "1.0"):
            raise ValueError("not one host")
        if encodings and encodings != [b"chunked"]:
            raise ValueError("a transfer encoding other than chunked")
        super().on_headers_complete()

    def on_chunk_header(self) -> None:
        """Refuses a body in tiny chunks, each of which costs more than its bytes."""
        self._spare_chunks -= 1
        if self._spare_chunks < 0:
            raise ValueError("too many small chunks")

    def on_body(self, body: bytes) -> None:
        self._body_began()
        self._spare_chunks += len(body) >= _CHUNK_BYTES
        super().on_body(body)

    def on_message_complete(self) -> None:
        self._body_began()
        super().on_message_complete()

    def send_400_response(self, msg: str) -> None:
        """Answers what is no request, after a while if there were many; what came whole before it is answered first."""
        self._ends = True
        self.loop.call_later(self._door.patience(self._address), self._end)

    def _end(self) -> None:
        if self.cycle is not None and not self.cycle.response_complete and (self.pipeline or not self.cycle.more_body):
            self.cycle.keep_alive = False  # it ends the connection when it is answered
            return
        if not self.transport.is_closing():
            self._door.counters.add(400)
            body = b'{"detail":"malformed HTTP"}'
            headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
            headers += [(b"connection", b"close"), *SAFE_HEADERS, NOT_KEPT]
            lines = [b"%s: %s\r\n" % header for header in headers]
            self.transport.write(b"".join([b"HTTP/1.1 400 Bad Request\r\n", *lines, b"\r\n", body]))
        self.transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        self._body_began()
        self._door.leave(self._address)
        super().connection_lost(exc)

    def _await_head(self) -> None:
        """Gives the head and whatever comes first of the body so much time; `quotas.Bodies` waits for the rest."""
        if self._deadline is None:
            self._deadline = self.loop.call_later(_HEAD_SECONDS, self.transport.close)

    def _body_began(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None
