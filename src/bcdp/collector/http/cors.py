"""Pages of other origins that may read the plan and send reports: those that the operator lists, and no others."""

from __future__ import annotations

from collections.abc import Iterable

from starlette.responses import Response
from starlette.types import Scope

from bcdp.errors import refuse

_OPEN = frozenset({"/v1/plan", "/v1/reports", "/bcdp.js", "/hashes.json"})
_SHOWN = b"bcdp-tickets, retry-after"


class Origins:
    """The listed origins, such as https://example.org; what they may use needs no cookie and no token."""

    def __init__(self, allowed: Iterable[str] = ()) -> None:
        self.allowed = frozenset(allowed)
        for origin in self.allowed:
            scheme, _, rest = origin.partition("://")
            if scheme not in ("http", "https") or not rest or not rest.isascii() or set(rest) & set("/*?#@ ,"):
                raise refuse("origin", origin, "a scheme, a host and perhaps a port, such as https://example.org")

    def opens(self, scope: Scope) -> bool:
        """Whether what a request asks for is open to listed origins."""
        return bool(self.allowed) and scope["path"] in _OPEN

    def admits(self, scope: Scope) -> bytes | None:
        """The origin of a request, if it is listed and asks for what is open to others."""
        stated = [value for name, value in scope["headers"] if name == b"origin"]
        listed = len(stated) == 1 and stated[0].decode("latin-1") in self.allowed
        return stated[0] if listed and self.opens(scope) else None

    def headers(self, scope: Scope) -> list[tuple[bytes, bytes]]:
        """What tells a browser that a page of this origin may read the answer; nothing for any other."""
        if not self.opens(scope):
            return []
        origin = self.admits(scope)
        allowed = (
            [(b"access-control-allow-origin", origin), (b"access-control-expose-headers", _SHOWN)] if origin else []
        )
        return [*allowed, (b"vary", b"origin"), (b"cross-origin-resource-policy", b"cross-origin")]

    def preflight(self, scope: Scope) -> Response | None:
        """The answer to a browser that asks whether such a page may send reports; None if it may not."""
        if scope["method"] != "OPTIONS" or self.admits(scope) is None:
            return None
        allowed = {"access-control-allow-methods": "GET, POST", "access-control-allow-headers": "content-type"}
        return Response(status_code=204, headers=allowed | {"access-control-max-age": "600"})


class Anyone(Origins):
    """A relay's: pages of any origin may send it sealed messages."""

    def opens(self, scope: Scope) -> bool:
        """Everything is open."""
        return True

    def admits(self, scope: Scope) -> bytes | None:
        """Every origin."""
        return b"*"
