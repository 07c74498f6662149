"""A collector that cannot store reports says so: at `/healthz`, in its log, and to devices that had better stop."""

from __future__ import annotations

import secrets
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from bcdp import Plan
from support.collector_fixtures import TOKEN, Server, serving, stored, upload
from support.helpers import small_disk
from support.local_http import local

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]


def send(server: Server, plan: Plan, reports: int = 500) -> httpx.Response:
    names = [(secrets.token_hex(16), 0, 0) for _ in range(reports)]
    return local.post(f"{server.url}/v1/reports", json=upload(plan, names), timeout=30)


def healthy(server: Server) -> bool:
    answer = local.get(f"{server.url}/healthz", timeout=30)
    assert answer.status_code in (200, 503), answer.text
    return answer.status_code == 200


def metric(server: Server, name: str) -> float:
    text = local.get(f"{server.url}/metrics", headers={"authorization": f"Bearer {TOKEN}"}, timeout=30).text
    (line,) = [line for line in text.splitlines() if line.startswith(f"{name} ")]
    return float(line.split()[1])


@pytest.mark.parametrize("workers", [1, 2])
def test_a_full_disk_is_unhealthy_until_there_is_room(collection: Collection, tmp_path: Path, workers: int) -> None:
    """Also at a worker that has not tried itself, and again healthy without a report: nobody may be sending any."""
    plan, path = collection
    with small_disk(tmp_path / "disk", "40m") as disk:
        store, filler = str(disk / "reports.db"), disk / "filler"
        with serving(tmp_path, path, store, "--rate", "0", "--workers", str(workers)) as server:
            assert send(server, plan).is_success
            assert healthy(server)
            filler.write_bytes(bytes(39 * 2**20))
            answers = [send(server, plan) for _ in range(200)]
            assert {answer.status_code for answer in answers} <= {200, 503}
            assert answers[-1].status_code == 503
            assert answers[-1].json() == {"detail": "nothing was stored: the store is full"}
            assert answers[-1].headers["retry-after"] == "5"
            assert not any(healthy(server) for _ in range(10))
            assert metric(server, "bcdp_store_writable") == 0
            assert metric(server, "bcdp_commits_failed_total") > 0
            assert '(SQLITE_FULL)"' in server.log.read_text()
            filler.unlink()
            assert healthy(server)
            assert send(server, plan).is_success
            assert metric(server, "bcdp_store_writable") == 1
            acknowledged = 500 * (2 + sum(answer.is_success for answer in answers))
        assert len(stored(store).marks) == acknowledged


def test_a_damaged_store_is_unhealthy_and_devices_stop(collection: Collection, tmp_path: Path) -> None:
    """Sending again cannot help, so it is not asked for; that the file can still be written does not make it well."""
    plan, path = collection
    store = tmp_path / "reports.db"
    with serving(tmp_path, path, str(store), "--rate", "0") as server:
        assert send(server, plan, 5000).is_success
        assert server.stop() in (0, -15)
    with closing(sqlite3.connect(store)) as connection:
        (page,) = connection.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'answered'").fetchone()
    with store.open("r+b") as file:
        file.seek(4096 * (page - 1))
        file.write(b"\xff" * 4096)
    with serving(tmp_path, path, str(store), "--rate", "0") as server:
        refused = send(server, plan)
        assert refused.status_code == 500
        assert refused.json() == {"detail": "nothing was stored: the store is damaged; sending it again does not help"}
        assert "retry-after" not in refused.headers
        assert not any(healthy(server) for _ in range(3))
        assert "(SQLITE_CORRUPT)" in server.log.read_text()
        assert metric(server, "bcdp_store_writable") == 0
