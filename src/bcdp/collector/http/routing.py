"""An ASGI application of exact paths; refusals raised anywhere become answers."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Router
from starlette.types import Receive, Scope, Send

from bcdp.collector.http.cors import Origins
from bcdp.collector.http.errors import RefusalError, answer_refusal

Handler = Callable[[Request], Awaitable[Response]]
Routes = Mapping[str, Mapping[str, Handler]]


class Service:
    """Exact paths, each with handlers by their methods; nothing else is looked at."""

    def __init__(self, routes: Routes, lifespan: Router, origins: Origins) -> None:
        self._routes, self._lifespan, self._origins = routes, lifespan, origins

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self._lifespan(scope, receive, send)
            return
        try:
            preflight = self._origins.preflight(scope)
            response = preflight or await self._handler(scope)(Request(scope, receive))
        except RefusalError as refusal:
            response = answer_refusal(refusal)
        await response(scope, receive, send)

    def _handler(self, scope: Scope) -> Handler:
        handlers = self._routes.get(scope["path"])
        if handlers is None:
            raise RefusalError(404, "Not Found")
        method = "GET" if scope["method"] == "HEAD" else scope["method"]
        if method not in handlers:
            raise RefusalError(405, "Method Not Allowed", {"allow": ", ".join(handlers)})
        return handlers[method]
