"""A request that is not served: a status and one sentence, the same form for every reason."""

from __future__ import annotations

from collections.abc import Mapping

import msgspec
from starlette.responses import Response

RETRY = {"retry-after": "5"}


class RefusalError(Exception):
    """Raised anywhere while a request is handled; becomes `{"detail": sentence}` with this status."""

    def __init__(self, status: int, sentence: str, headers: Mapping[str, str] | None = None) -> None:
        super().__init__(sentence)
        self.status, self.sentence, self.headers = status, sentence, headers


def answer_refusal(refusal: RefusalError) -> Response:
    """The answer to a refused request."""
    body = msgspec.json.encode({"detail": refusal.sentence})
    return Response(body, refusal.status, refusal.headers, "application/json")
