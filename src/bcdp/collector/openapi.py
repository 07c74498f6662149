"""The service described for machines: what each route takes and answers, as the code itself declares it."""

from __future__ import annotations

import math
from typing import Annotated, Any

import msgspec

from bcdp.collector.http.report_body import ID_PATTERN, OpenUpload, Upload
from bcdp.collector.settings import Settings

_JSON = "application/json"
_NAMES = "#/components/schemas/{name}"
_MEANINGS = {
    400: "The body ended early.",
    401: "The operator's token is missing or wrong.",
    403: "Reports come sealed, and from the relay only.",
    408: "The body came too slowly.",
    409: "The reports are for another plan, or of a wave that is not open.",
    413: "The body is too large.",
    415: "The body is of another type.",
    422: "The body is malformed, or not possible under the plan.",
    429: "Too many requests from this address.",
    500: "The store is damaged; nothing was stored, and sending it again does not help.",
    503: "The store cannot be used now; nothing was stored.",
}
_Count = Annotated[int, msgspec.Meta(ge=0)]


class Received(msgspec.Struct, forbid_unknown_fields=True):
    """How many reports of a request were new, and how many had been stored before."""

    accepted: _Count
    duplicate: _Count


class ReceivedBatch(Received, forbid_unknown_fields=True):
    """How many messages of a batch were new, had been counted before, and were refused."""

    refused: _Count


class Status(msgspec.Struct, forbid_unknown_fields=True):
    """That the store can be used."""

    status: str


class Refusal(msgspec.Struct, forbid_unknown_fields=True):
    """Why a request was not served."""

    detail: str


class Results(msgspec.Struct):
    """What the operator sees."""

    plan: str
    title: str | None
    people: _Count
    planned: _Count | None
    waiting: bool
    refresh: _Count
    estimates: dict[str, Any]
    note: str | None
    sections: list[dict[str, Any]]
    menus: list[dict[str, Any]]
    epsilon: float
    certificate: dict[str, Any]
    promises: list[dict[str, Any]]
    operator_says: str
    features: dict[str, Any]


def description(settings: Settings) -> dict[str, Any]:
    """The OpenAPI document of one collection."""
    body = {"requestBody": {"required": True, "content": {_JSON: {"schema": _named(_upload(settings))}}}}
    operator: dict[str, Any] = {"security": [{"operator": []}]}
    plan = _answers("The plan.", dict, 429)
    plan["responses"]["304"] = {"description": "Not changed."}
    totals = _answers("Totals.", str, 401, 429)
    totals["responses"]["200"]["content"] = {"text/plain": {"schema": _named(str)}}
    return {
        "openapi": "3.1.0",
        "info": {"title": "bcdp collector", "version": "1"},
        "paths": {
            "/v1/reports": _post(
                "Stores reports, all or none, and answers when they are on disk; a report sent again counts once.",
                body | _answers("Stored.", Received, 400, 403, 408, 409, 413, 415, 422, 429, 500, 503),
            ),
            **(_gateway(settings.batch_at_least) if settings.gateway_key else {}),
            "/v1/plan": _get("The plan in its canonical form; the SHA-256 of this text is the plan's id.", plan),
            "/v1/estimates": _get(
                "Estimates with intervals, menus expected and counted, and the certificate; for the operator.",
                operator | _answers("The estimates.", Results, 401, 429, 503),
            ),
            "/healthz": _get("Whether reports can be stored.", _answers("They can be stored.", Status, 429, 503)),
            "/metrics": _get(
                "Totals over all workers, in the text format of Prometheus; for the operator.", operator | totals
            ),
        },
        "components": {
            "schemas": _schemas(settings),
            "securitySchemes": {
                "operator": {"type": "http", "scheme": "bearer", "description": "The operator's token."}
            },
        },
    }


def _gateway(batch_at_least: int | None) -> dict[str, Any]:
    """The routes of sealed reports: one by one, where 200 says only that the request was opened, or in batches."""
    from bcdp.collector.ohttp.gateway import GATEWAY  # what seals is needed by nobody else
    from bcdp.collector.ohttp.mixing import BATCH, BATCH_TYPE
    from bcdp_device.sealing import KEYS_TYPE, REQUEST_TYPE, RESPONSE_TYPE

    sealed = _answers("The sealed answer to POST /v1/reports.", bytes, 400, 403, 408, 413, 415, 429, 503)
    sealed["responses"]["200"]["content"] = {RESPONSE_TYPE: {}}
    sealed["responses"]["400"]["description"] = "It cannot be opened, or is sealed for another key."
    sealed["responses"]["400"]["content"]["application/problem+json"] = {"schema": _named(dict)}
    keys = _answers("The key, in the form of RFC 9458.", bytes, 429)
    keys["responses"]["200"]["content"] = {KEYS_TYPE: {}}
    key = _get("The key for which devices seal, as the plan states it too.", keys)
    if batch_at_least is not None:
        batch = {"requestBody": {"required": True, "content": {BATCH_TYPE: {}}}}
        counted = _answers("Counted.", ReceivedBatch, 400, 403, 408, 413, 415, 422, 503)
        summary = f"Opens and counts a batch of at least {batch_at_least} sealed messages, for the relay."
        return {BATCH: _post(summary, batch | counted), GATEWAY: key}
    body = {"requestBody": {"required": True, "content": {REQUEST_TYPE: {}}}}
    return {GATEWAY: _post("Opens a sealed request, for the relay (Oblivious HTTP, RFC 9458).", body | sealed) | key}


def _upload(settings: Settings) -> type[Upload] | type[OpenUpload]:
    """What a request holds: with open features every report has a group."""
    return OpenUpload if settings.plan.policy.open else Upload


def _get(summary: str, more: dict[str, Any]) -> dict[str, Any]:
    return {"get": {"summary": summary, **more}}


def _post(summary: str, more: dict[str, Any]) -> dict[str, Any]:
    return {"post": {"summary": summary, **more}}


def _named(kind: type) -> dict[str, Any]:
    """A reference to the schema of a type."""
    ((schema,), _) = msgspec.json.schema_components([kind], ref_template=_NAMES)
    return schema


def _answers(meaning: str, kind: type, *refusals: int) -> dict[str, Any]:
    """The answer 200 with content of this type, and the statuses with which a request may be refused."""
    refused = {str(status): _content(_MEANINGS[status], Refusal) for status in refusals}
    return {"responses": {"200": _content(meaning, kind), **refused}}


def _content(meaning: str, kind: type) -> dict[str, Any]:
    return {"description": meaning, "content": {_JSON: {"schema": _named(kind)}}}


def _schemas(settings: Settings) -> dict[str, Any]:
    """The types by their names, with the limits of this collection's plan."""
    kind = _upload(settings)
    _, schemas = msgspec.json.schema_components(
        [kind, Received, ReceivedBatch, Status, Refusal, Results], ref_template=_NAMES
    )
    sizes = [math.prod(digits) for digits in settings.plan.symbols]
    report, upload = (schemas[kind.__name__.replace("Upload", part)]["properties"] for part in ("Report", "Upload"))
    if settings.plan.policy.open:
        report["group"] = {"type": "integer", "minimum": 0, "maximum": len(settings.plan.policy.groups) - 1}
    report["id"]["pattern"] = ID_PATTERN
    report["menu"] = {"type": "integer", "minimum": 0, "maximum": len(sizes) - 1}
    report["answer"] = {"type": "integer", "minimum": 0, "maximum": max(sizes) - 1}
    upload["plan"]["enum"] = [settings.plan.id]
    upload["reports"] |= {"minItems": 1, "maxItems": settings.quotas.reports}
    return schemas
