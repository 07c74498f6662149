"""What a sender can write into the log: a few lines a minute, whatever they do."""

from __future__ import annotations

import json
import logging
import socket
import struct
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from bcdp import Plan
from bcdp.collector.http.middleware import ThrottledLibraries
from support.collector_fixtures import Server, serving, stored, upload

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]
FAILS = """
from bcdp.collector.app import Collector
async def plan(self, request):
    raise ZeroDivisionError("a defect")
Collector.plan = plan
"""


def reset_after(server: Server, requests: bytes, pause: float) -> None:
    """Sends requests and resets the connection instead of reading the answers."""
    parts = urlsplit(server.url)
    with socket.create_connection((parts.hostname, parts.port), timeout=20) as connection:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        connection.sendall(requests)
        time.sleep(pause)


def post(plan: Plan, identity: str) -> bytes:
    body = json.dumps(upload(plan, [(identity, 0, 0)])).encode()
    head = b"POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: "
    return b"%s%d\r\n\r\n%s" % (head, len(body), body)


@pytest.mark.parametrize("loop", ["", "import sys; sys.modules['uvloop'] = None"], ids=["uvloop", "asyncio"])
def test_pipelined_requests_and_a_reset_write_nothing_more(collection: Collection, tmp_path: Path, loop: str) -> None:
    plan, path = collection
    with serving(tmp_path, path, str(tmp_path / "reports.db"), "--rate", "0", first=loop) as server:
        before = server.log.stat().st_size
        for number in range(60):
            requests = b"".join(post(plan, f"{number}-{part}") for part in range(1 + number % 4))
            reset_after(server, requests, 0.001 * (number % 3))
        time.sleep(0.5)
        text = server.log.read_text()
        assert "Traceback" not in text
        assert len(text) - before < 2000
        assert server.stop() in (0, -15)
    assert stored(str(tmp_path / "reports.db")).counts.keys() <= {(0, 0)}


def test_a_defect_is_logged_with_its_traceback_once_a_minute(collection: Collection, tmp_path: Path) -> None:
    _, path = collection
    ask = b"GET /v1/plan HTTP/1.1\r\nhost: x\r\n\r\n"
    with serving(tmp_path, path, str(tmp_path / "reports.db"), "--rate", "0", first=FAILS) as server:
        for _ in range(50):
            reset_after(server, ask, 0.01)
        assert server.log.read_text().count("ZeroDivisionError: a defect") == 1


def test_libraries_are_throttled_by_place_and_text(monkeypatch: pytest.MonkeyPatch) -> None:
    throttled = ThrottledLibraries()

    def passes(name: str, text: str, moment: float) -> bool:
        record = logging.LogRecord(name, logging.ERROR, "", 0, text, (), None)
        record.created = moment
        return throttled.filter(record)

    assert [passes("uvicorn.error", "a", moment) for moment in (0, 1, 59, 60, 61)] == [True, False, False, True, False]
    assert passes("uvicorn.error", "b", 61)
    assert passes("asyncio", "a", 61)
    assert all(passes("bcdp.collector", "a", 61) for _ in range(3))
    assert sum(passes("other", str(number), 62) for number in range(3000)) == 3000
    assert len(throttled._last) <= 1000
