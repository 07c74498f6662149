"""Requests that mean harm: no server error, nothing stored, others served."""

from __future__ import annotations

from pathlib import Path

import pytest
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from schemathesis import GenerationMode
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    negative_data_rejection,
    response_schema_conformance,
    status_code_conformance,
)

from bcdp import Plan
from support.collector_clients import KNOWN, attack
from support.collector_fixtures import serving, stored, upload
from support.local_http import local

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]


def test_hostile_requests(collection: Collection, store_url: str, tmp_path: Path) -> None:
    plan, path = collection
    with serving(tmp_path, path, store_url, "--rate", "0") as server:
        assert local.post(f"{server.url}/v1/reports", json=upload(plan, [(KNOWN, 0, 1)])).is_success
        statuses = attack(server.url, plan, 2000, seed=1)
        assert not [status for status in statuses if status >= 500], statuses
        assert {400, 401, 404, 405, 409, 413, 415, 422} <= statuses.keys()
        assert stored(store_url).counts == {(0, 1): 1}
        assert server.people() == 1
        assert local.post(f"{server.url}/v1/reports", json=upload(plan, [("b", 0, 0)])).json()["accepted"] == 1


def test_answers_are_as_described(collection: Collection, tmp_path: Path) -> None:
    """Requests made from the OpenAPI document, allowed and not: every answer is as described, none a server error.

    What the document forbids is refused and not stored.
    """
    with serving(tmp_path, collection[1], str(tmp_path / "reports.db"), "--rate", "0") as server:
        schema = schemathesis.openapi.from_url(f"{server.url}/openapi.json")
        operations = {operation.ok().label: operation.ok() for operation in schema.get_all_operations()}
        assert operations.keys() == {
            "POST /v1/reports",
            "GET /v1/plan",
            "GET /v1/estimates",
            "GET /healthz",
            "GET /metrics",
        }
        for label, operation in operations.items():
            for mode in GenerationMode if label.startswith("POST") else [GenerationMode.POSITIVE]:
                _fuzz(operation, mode, 25 if label.startswith("POST") else 3)


def _fuzz(operation: schemathesis.APIOperation, mode: GenerationMode, examples: int) -> None:
    checks = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]
    if mode == GenerationMode.NEGATIVE:
        checks.append(negative_data_rejection)

    @settings(
        max_examples=examples,
        phases=[Phase.generate],
        derandomize=True,
        database=None,
        deadline=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def run(case: schemathesis.Case) -> None:
        case.validate_response(case.call(), checks=checks)

    run()
