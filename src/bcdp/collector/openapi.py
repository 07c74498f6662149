"""The service described for machines: what `POST /v1/reports` takes, and what each answer looks like."""

from __future__ import annotations

import math
from typing import Any

from bcdp.collector.settings import Settings
from bcdp.collector.upload import ID_PATTERN

_DETAIL = {
    "type": "object",
    "properties": {"detail": {"type": "string"}},
    "required": ["detail"],
    "additionalProperties": False,
}
_MEANINGS = {
    400: "The body ended early.",
    401: "The operator's token is missing or wrong.",
    404: "There is no such page.",
    408: "The body came too slowly.",
    409: "The reports are for another plan.",
    413: "The body is too large.",
    415: "The body is not application/json.",
    422: "The body is malformed, or not possible under the plan.",
    429: "Too many reports from this address.",
    503: "The store cannot be used now; nothing was stored.",
}


def refusals(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The answers with these statuses: one sentence each."""
    return {
        status: {"description": _MEANINGS[status], "content": {"application/json": {"schema": _DETAIL}}}
        for status in statuses
    }


def content(description: str, media_type: str, schema: dict[str, Any]) -> dict[int | str, dict[str, Any]]:
    """The answer 200 with this content."""
    return {200: {"description": description, "content": {media_type: {"schema": schema}}}}


def upload_body(settings: Settings) -> dict[str, Any]:
    """The request body of `POST /v1/reports`."""
    sizes = [math.prod(digits) for digits in settings.plan.symbols]
    report = {
        "type": "object",
        "properties": {
            "id": {"type": "string", "pattern": ID_PATTERN},
            "menu": {"type": "integer", "minimum": 0, "maximum": len(sizes) - 1},
            "answer": {"type": "integer", "minimum": 0, "maximum": max(sizes) - 1},
        },
        "required": ["id", "menu", "answer"],
        "additionalProperties": False,
    }
    schema = {
        "type": "object",
        "properties": {
            "plan": {"type": "string", "enum": [settings.plan.id]},
            "reports": {"type": "array", "items": report, "minItems": 1, "maxItems": settings.limits.reports},
        },
        "required": ["plan", "reports"],
        "additionalProperties": False,
    }
    return {"requestBody": {"required": True, "content": {"application/json": {"schema": schema}}}}


RECEIVED = {
    "type": "object",
    "properties": {name: {"type": "integer", "minimum": 0} for name in ("accepted", "duplicate")},
    "required": ["accepted", "duplicate"],
    "additionalProperties": False,
}
RESULTS = {
    "type": "object",
    "properties": {
        "plan": {"type": "string"},
        "people": {"type": "integer", "minimum": 0},
        "estimates": {"type": "object"},
        "menus": {"type": "array", "items": {"type": "object"}},
        "epsilon": {"type": "number"},
        "certificate": {"type": "object"},
        "features": {"type": "object"},
    },
    "required": ["plan", "people", "estimates", "menus", "epsilon", "certificate", "features"],
}
STATUS = {"type": "object", "properties": {"status": {"type": "string"}}, "required": ["status"]}
