"""Around every answer: secure headers, a count by status, and a line in the log that reveals nothing about people."""

from __future__ import annotations

import asyncio
import json
import logging
import math
import random
import time
from collections.abc import Callable, Collection
from contextlib import AbstractAsyncContextManager

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bcdp.collector.http.cors import Origins
from bcdp.collector.http.errors import RefusalError, answer_refusal
from bcdp.collector.metrics import Counters

Headers = list[tuple[bytes, bytes]]


def safe_headers(*relays: str) -> Headers:
    """What goes with every answer; pages may send to the collector, and to the origins of these relays."""
    reached = " ".join(["'self'", *relays])
    policy = (
        f"default-src 'none'; script-src 'self'; style-src 'self'; connect-src {reached}; "
        "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )
    return [
        (b"content-security-policy", policy.encode()),
        (b"x-content-type-options", b"nosniff"),
        (b"referrer-policy", b"no-referrer"),
        (b"cross-origin-opener-policy", b"same-origin"),
        (b"cross-origin-resource-policy", b"same-origin"),
    ]


SAFE_HEADERS = safe_headers()
NOT_KEPT = (b"cache-control", b"no-store")
TOO_OFTEN_SECONDS = 1.0, 3.0  # who asks too often waits so long to hear it, on a connection that does nothing else
_SELDOM_SECONDS = 60.0
_MOST_LINES = 1000  # of libraries, that are remembered

log = logging.getLogger("bcdp.collector")


class ConnectionLostError(Exception):
    """The server could not send an answer, because whoever asked has left."""


class Guard:
    """The application, with answers that are safe, counted and logged.

    `admit` may refuse a request, or give the place in which it has to wait for its turn.
    """

    def __init__(
        self,
        app: ASGIApp,
        counters: Counters,
        paths: Collection[str],
        admit: Callable[[Scope], AbstractAsyncContextManager[None]],
        origins: Origins,
        safe: Headers = SAFE_HEADERS,
    ) -> None:
        self._app, self._counters, self._paths, self._admit = app, counters, paths, admit
        self._origins, self._safe = origins, safe
        self._seldom = ThrottledLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = self._safely(scope, message["headers"])
                self._counters.add(message["status"])
                seconds = time.perf_counter() - began
                if scope["method"] == "POST" and message["status"] < 400:
                    self._counters.took(seconds)
                self._log(scope, message["status"], seconds)
            try:
                await send(message)
            except (OSError, RuntimeError) as error:  # such as that of a pipelined request after a reset
                raise ConnectionLostError from error

        try:
            await self._answer(scope, receive, send_safely)
        except ConnectionLostError as error:
            self._seldom.log(logging.INFO, "not sent", {"cause": type(error.__cause__).__name__})

    async def _answer(self, scope: Scope, receive: Receive, send: Send) -> None:
        try:
            turn = self._admit(scope)
        except RefusalError as refusal:
            await asyncio.sleep(random.uniform(*TOO_OFTEN_SECONDS))  # not all of them at the same moment
            await answer_refusal(refusal)(scope, receive, send)
            return
        try:
            async with turn:
                await self._app(scope, receive, send)
        except ConnectionLostError:
            raise
        except Exception:
            await answer_refusal(RefusalError(500, "the server failed"))(scope, receive, send)
            raise  # to be logged

    def _safely(self, scope: Scope, headers: Headers) -> Headers:
        cached = any(name == b"cache-control" for name, _ in headers)
        opened = self._origins.headers(scope)
        named = {name for name, _ in opened}
        safe = [header for header in self._safe if header[0] not in named] if opened else self._safe
        return [*headers, *safe, *opened] if cached else [*headers, *safe, *opened, NOT_KEPT]

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        if status < 400:
            return
        path = scope["path"] if scope["path"] in self._paths else "other"  # an unknown one may tell about somebody
        what = {"method": scope["method"], "path": path, "status": status}
        severity = logging.ERROR if status >= 500 else logging.INFO
        self._seldom.log(severity, "request", what, {"milliseconds": round(seconds * 1e3, 1)})


class ThrottledLog:
    """Logs what happens again and again once a minute, with how often it happened since the last time."""

    def __init__(self) -> None:
        self._last: dict[tuple[object, ...], tuple[float, int]] = {}

    def log(self, severity: int, event: str, what: dict[str, object], more: dict[str, object] | None = None) -> None:
        """Logs the event unless the same `what` was logged within a minute."""
        key, now = (event, *what.values()), time.monotonic()
        last, silent = self._last.get(key, (-_SELDOM_SECONDS, 0))
        if now - last < _SELDOM_SECONDS:
            self._last[key] = last, silent + 1
            return
        self._last[key] = now, 0
        log.log(severity, event, extra={"fields": what | (more or {}) | ({"unsaid": silent} if silent else {})})


class ThrottledLibraries(logging.Filter):
    """Lets the same line of a library through once a minute: what one sender can cause must not fill the disk."""

    def __init__(self) -> None:
        super().__init__()
        self._last: dict[tuple[object, ...], tuple[float, int]] = {}

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to log it; lines of the collector itself are throttled where they are written."""
        if record.name.startswith("bcdp"):
            return True
        trace = record.exc_info[2] if record.exc_info else None
        while trace is not None and trace.tb_next is not None:
            trace = trace.tb_next
        place = () if trace is None else (trace.tb_frame.f_code.co_filename, trace.tb_lineno)
        key = (record.name, str(record.msg)[:80], *place)
        last, silent = self._last.get(key, (-math.inf, 0))
        if record.created - last < _SELDOM_SECONDS:
            self._last[key] = last, silent + 1
            return False
        if len(self._last) >= _MOST_LINES:  # texts that differ each time
            self._last.clear()
        self._last[key] = record.created, 0
        record.fields = {"unsaid": silent} if silent else {}
        return True


class JsonLines(logging.Formatter):
    """Log records as one JSON object in a line."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {"time": f"{moment}Z", "level": record.levelname.lower(), "event": record.getMessage()}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line | getattr(record, "fields", {}))
