"""The collector as a gateway of Oblivious HTTP (RFC 9458): sealed requests are opened, served, and answered sealed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import replace

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from bcdp.collector.http.errors import RefusalError
from bcdp.collector.http.report_body import Reports
from bcdp.collector.limits.rates import Bodies, media_type
from bcdp.collector.ohttp.mixing import BATCH_TYPE, MESSAGE_BYTES, MOST_MESSAGES
from bcdp.collector.settings import Quotas
from bcdp_device.sealing import (
    KEYS_TYPE,
    REQUEST_TYPE,
    RESPONSE_TYPE,
    GatewayKey,
    HttpResponse,
    MalformedError,
    SealError,
    UnknownKeyError,
    read_request,
    write_response,
)

GATEWAY = "/.well-known/ohttp-gateway"  # the path of RFC 9540, at which the keys are found too
_KEY_PROBLEM = {
    "type": "https://iana.org/assignments/http-problem-types#ohttp-key",
    "title": "sealed for another key; accepted: the one that the plan states",
}
_AT_ONCE = 256  # messages that are opened before others have a turn
_BATCH_SECONDS = 300.0  # for the body of a batch


class Gateway:
    """Opens sealed requests; `serve` answers the body of the one kind that there is, a POST of reports to `path`."""

    def __init__(self, key: GatewayKey, path: str, bodies: Bodies, serve: Callable[[bytes], Awaitable[bytes]]) -> None:
        self._key, self._path, self._bodies, self._serve = key, path, bodies, serve

    async def keys(self, request: Request) -> Response:
        """The key for which devices seal, as the plan states it too."""
        return Response(self._key.published, media_type=KEYS_TYPE)

    async def answer(self, request: Request) -> Response:
        """Opens a request and seals its answer, also a refusal; what cannot be opened is refused openly."""
        if media_type(request) != REQUEST_TYPE:
            raise RefusalError(415, f"accepted: a body of type {REQUEST_TYPE}", {"connection": "close"})
        try:
            message, seal_answer = self._key.open(await self._bodies.read(request))
        except UnknownKeyError:
            return Response(msgspec.json.encode(_KEY_PROBLEM), 400, media_type="application/problem+json")
        except SealError as error:
            raise RefusalError(400, f"malformed: {error}") from None
        try:
            content, status, headers = await self._serve(_reports_in(message, self._path)), 200, {}
        except RefusalError as refusal:
            content, status = msgspec.json.encode({"detail": refusal.sentence}), refusal.status
            headers = {name: value for name, value in (refusal.headers or {}).items() if name == "retry-after"}
        answer = HttpResponse(status, {"content-type": "application/json", **headers}, content)
        return Response(seal_answer(write_response(answer)), media_type=RESPONSE_TYPE)


class BatchGateway:
    """Opens batches: messages of one length, one after the other, with one report each.

    A batch of fewer than `least` messages is refused, so that a relay set up by mistake passes no single report.
    """

    def __init__(
        self, key: GatewayKey, path: str, least: int, read: Callable[[bytes], Reports], quotas: Quotas
    ) -> None:
        self._key, self._path, self._least, self._read = key, path, least, read
        most = MOST_MESSAGES * MESSAGE_BYTES
        self._bodies = Bodies(replace(quotas, body_bytes=most, body_seconds=_BATCH_SECONDS, bodies_bytes=2 * most))

    async def reports(self, request: Request) -> tuple[Reports, int]:
        """The reports of a batch, and how many of its messages are refused; no message is looked at alone."""
        if media_type(request) != BATCH_TYPE:
            raise RefusalError(415, f"accepted: a body of type {BATCH_TYPE}", {"connection": "close"})
        body = await self._bodies.read(request)
        messages, rest = divmod(len(body), MESSAGE_BYTES)
        if rest or messages < self._least:
            accepted = f"at least {self._least} sealed messages of {MESSAGE_BYTES} bytes each"
            raise RefusalError(422, f"a batch of {len(body)} bytes; accepted: {accepted}")
        step = _AT_ONCE * MESSAGE_BYTES
        marks, answers = list[bytes](), list[tuple[int, int]]()
        for start in range(0, len(body), step):
            for reports in await asyncio.to_thread(self._open, body[start : start + step]):
                marks += reports.marks
                answers += reports.values
        return Reports(marks, answers), messages - len(marks)

    def _open(self, body: bytes) -> list[Reports]:
        opened = (self._report(body[start : start + MESSAGE_BYTES]) for start in range(0, len(body), MESSAGE_BYTES))
        return [reports for reports in opened if reports is not None]

    def _report(self, sealed: bytes) -> Reports | None:
        """The one report in a message; None if there is another number, or if it is refused."""
        try:
            reports = self._read(_reports_in(self._key.open(sealed)[0], self._path))
        except (SealError, RefusalError):
            return None
        return reports if len(reports) == 1 else None


def _reports_in(message: bytes, path: str) -> bytes:
    """The body of the request in a message, a POST to `path`; whatever host it names, it is for this collector."""
    try:
        request = read_request(message)
    except MalformedError as error:
        raise RefusalError(400, str(error)) from None
    if (request.path, request.scheme) != (path, "https"):
        raise RefusalError(404, f"accepted: https and the path {path}")
    if request.method != "POST":
        raise RefusalError(405, "accepted: POST")
    if request.fields.get("content-type") != "application/json":
        raise RefusalError(415, "accepted: a body of type application/json")
    return request.content
