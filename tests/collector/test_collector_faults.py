"""What goes wrong around the collector: killed processes, a full disk, a database that stops, senders that are slow."""

from __future__ import annotations

import contextlib
import os
import secrets
import socket
import subprocess
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from bcdp import Plan
from bcdp.collector.storage.report_marks import Marker
from support.collector_clients import Pressure, kill_under_load
from support.collector_fixtures import Postgres, Server, new_database, serving, stored, upload
from support.local_http import http_client, local
from support.system import require

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]
ANSWERS_TOO_EARLY = """
import asyncio
from bcdp.collector.storage.group_commit import Writer
add, tasks = Writer.add, set()
async def early(self, reports):
    tasks.add(asyncio.ensure_future(add(self, reports)))
    return len(reports)
Writer.add = early
"""


def test_kill_loses_nothing_that_was_acknowledged(collection: Collection, store_url: str, tmp_path: Path) -> None:
    acknowledged, lost = kill_under_load(tmp_path, *collection, store_url, kills=5)
    assert acknowledged > 100
    assert lost == 0


def test_kill_finds_a_collector_that_answers_too_early(collection: Collection, tmp_path: Path) -> None:
    """The test above has power: acknowledging before the commit loses reports."""
    _, lost = kill_under_load(tmp_path, *collection, str(tmp_path / "reports.db"), kills=2, first=ANSWERS_TOO_EARLY)
    assert lost > 0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A folder with room for 3 MB."""
    folder = tmp_path / "small"
    folder.mkdir()
    mounted = (
        os.getuid() == 0 and subprocess.run(["mount", "-t", "tmpfs", "-o", "size=3m", "tmpfs", folder]).returncode == 0
    )
    require(mounted, "root, to mount a small disk")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


def test_a_full_disk_is_told_and_loses_nothing(collection: Collection, small_disk: Path, tmp_path: Path) -> None:
    plan, path = collection
    store, filler = str(small_disk / "reports.db"), small_disk / "filler"
    acknowledged: list[str] = []
    with serving(tmp_path, path, store, "--rate", "0") as server, http_client() as client:
        filler.write_bytes(bytes(10**6))

        def send() -> httpx.Response:
            names = [secrets.token_hex(16) for _ in range(500)]
            answer = client.post(f"{server.url}/v1/reports", json=upload(plan, [(name, 0, 0) for name in names]))
            if answer.is_success:
                acknowledged.extend(names)
            return answer

        answer = next(answer for answer in (send() for _ in range(500)) if not answer.is_success)
        assert answer.status_code == 503
        assert {send().status_code for _ in range(20)} <= {503, 200}
        assert server.log.read_text().count("commit failed") == 1  # however often
        assert answer.json() == {"detail": "nothing was stored: the store is full"}
        assert answer.headers["retry-after"] == "5"
        assert client.get(f"{server.url}/v1/plan").is_success
        filler.unlink()
        assert send().is_success
        assert server.people() == len(acknowledged)
    kept = stored(store)
    assert len(kept.marks) == len(acknowledged)
    assert kept.holds(plan, acknowledged)


def test_a_database_that_stops_and_comes_back(collection: Collection, postgres: Postgres, tmp_path: Path) -> None:
    """Stopped at once under load, it is told with 503; when it is back the service goes on, nothing was lost."""
    plan, path = collection
    url = new_database(postgres)
    with serving(tmp_path, path, url, "--rate", "0") as server:
        pressure = Pressure(plan)
        try:
            pressure.url = server.url
            _wait(lambda: len(pressure.acknowledged) > 50)
            postgres.stop()
            try:
                _wait(lambda: pressure.refused.get(503, 0) > 10)
                assert local.get(f"{server.url}/healthz").status_code == 503
                assert local.get(f"{server.url}/v1/plan").is_success
                before = len(pressure.acknowledged)
            finally:
                postgres.start()
            _wait(lambda: len(pressure.acknowledged) > before + 50)
        finally:
            pressure.end()
        assert local.get(f"{server.url}/healthz").is_success
        assert set(pressure.refused) == {503}
        assert '"event": "commit failed"' in server.log.read_text()
        kept = stored(url)
        assert kept.holds(plan, pressure.acknowledged)
        assert kept.marks <= set(map(Marker(plan.id, None), pressure.sent))
        assert server.people() == len(kept.marks)


def _wait(condition: Callable[[], bool]) -> None:
    for _ in range(2000):
        if condition():
            return
        time.sleep(0.01)
    raise AssertionError("it did not happen within 20 seconds")


SHORT = """
import bcdp.collector.server as server, bcdp.collector.settings as settings
server._HEAD_SECONDS = 1.0
settings.Quotas.__init__.__defaults__ = (2**20, 1.0, *settings.Quotas.__init__.__defaults__[2:])
"""


def test_slow_senders_are_cut_and_others_served(collection: Collection, tmp_path: Path) -> None:
    """Connections that send nothing, half a head, no body, one without end or only empty lines are closed in time.

    Meanwhile everybody else is answered. A head without end is cut at once.
    """
    plan, path = collection
    store = str(tmp_path / "reports.db")
    head = b"POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"
    starts = [
        b"",
        head,
        head + b"content-length: 1000\r\n\r\n",
        head + b"content-length: 1000\r\n\r\n{",
        head + b"transfer-encoding: chunked\r\n\r\n1\r\n{\r\n",
    ]
    with serving(tmp_path, path, store, "--rate", "0", first=SHORT) as server, contextlib.ExitStack() as stack:
        slow = [_connected(server, stack) for _ in range(100)]
        for number, connection in enumerate(slow):
            connection.sendall(starts[number % 5])
        for number in range(20):
            assert local.post(f"{server.url}/v1/reports", json=upload(plan, [(str(number), 0, 0)])).is_success
        for number, connection in enumerate(slow):
            told = _rest(connection)  # returns when the server closes
            assert told == b"" if number % 5 < 3 else told.startswith(b"HTTP/1.1 408 ")
        silent = _connected(server, stack)
        silent.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
        assert silent.recv(15) == b"HTTP/1.1 200 OK"
        time.sleep(0.3)
        silent.sendall(b"\r\n")  # begins no request, and must not keep the connection open
        _rest(silent)
        endless = _connected(server, stack)
        with contextlib.suppress(OSError):
            endless.sendall(b"GET / HTTP/1.1\r\nlong: " + b"a" * 10**6)
        assert b" 200 " not in _rest(endless)
    assert len(stored(store).marks) == 20


def _connected(server: Server, stack: contextlib.ExitStack) -> socket.socket:
    parts = urlsplit(server.url)
    return stack.enter_context(socket.create_connection((parts.hostname, parts.port), timeout=20))


def _rest(connection: socket.socket) -> bytes:
    data = b""
    with contextlib.suppress(ConnectionError):
        while part := connection.recv(65536):
            data += part
    return data
