"""The collector as a gateway of Oblivious HTTP (RFC 9458): sealed requests are opened, served, and answered sealed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable

import msgspec
from starlette.requests import Request
from starlette.responses import Response

from bcdp.collector.quotas import Bodies, media_type
from bcdp.collector.refusal import RefusalError
from bcdp.sealing import (
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
            content, status, headers = await self._serve(self._reports(message)), 200, {}
        except RefusalError as refusal:
            content, status = msgspec.json.encode({"detail": refusal.sentence}), refusal.status
            headers = {name: value for name, value in (refusal.headers or {}).items() if name == "retry-after"}
        answer = HttpResponse(status, {"content-type": "application/json", **headers}, content)
        return Response(seal_answer(write_response(answer)), media_type=RESPONSE_TYPE)

    def _reports(self, message: bytes) -> bytes:
        """The body of the request in a message; whatever host it names, it is for this collector."""
        try:
            request = read_request(message)
        except MalformedError as error:
            raise RefusalError(400, str(error)) from None
        if (request.path, request.scheme) != (self._path, "https"):
            raise RefusalError(404, f"accepted: https and the path {self._path}")
        if request.method != "POST":
            raise RefusalError(405, "accepted: POST")
        if request.fields.get("content-type") != "application/json":
            raise RefusalError(415, "accepted: a body of type application/json")
        return request.content
