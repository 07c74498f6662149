"""Around every answer: secure headers, a count by status, and a line in the log that tells nothing about people."""

from __future__ import annotations

import json
import logging
import time
from collections.abc import Set

from starlette.types import ASGIApp, Message, Receive, Scope, Send

from bcdp.collector.counters import Counters

_CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _CONTENT_POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
]
_NOT_KEPT = (b"cache-control", b"no-store")

log = logging.getLogger("bcdp.collector")


class Guard:
    """The application with its answers made safe, counted and logged."""

    def __init__(self, app: ASGIApp, counters: Counters, paths: Set[str]) -> None:
        self._app, self._counters, self._paths = app, counters, paths

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = time.perf_counter()

        async def send_safely(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = message["headers"]
                cached = any(name == b"cache-control" for name, _ in headers)
                message["headers"] = [*headers, *_HEADERS] if cached else [*headers, *_HEADERS, _NOT_KEPT]
                self._counters.add(message["status"])
                self._log(scope, message["status"], time.perf_counter() - began)
            await send(message)

        await self._app(scope, receive, send_safely)

    def _log(self, scope: Scope, status: int, seconds: float) -> None:
        level = logging.DEBUG if status < 400 else logging.ERROR if status >= 500 else logging.INFO
        if not log.isEnabledFor(level):
            return
        path = scope["path"] if scope["path"] in self._paths else "other"  # an unknown one may tell about somebody
        fields = {"method": scope["method"], "path": path, "status": status, "milliseconds": round(seconds * 1e3, 1)}
        log.log(level, "request", extra={"fields": fields})


class JsonLines(logging.Formatter):
    """Log records as one JSON object in a line."""

    def format(self, record: logging.LogRecord) -> str:
        moment = time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(record.created))
        line = {"time": f"{moment}Z", "level": record.levelname.lower(), "event": record.getMessage()}
        if record.exc_info:
            line["error"] = self.formatException(record.exc_info)
        return json.dumps(line | getattr(record, "fields", {}))
