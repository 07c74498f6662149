"""What senders may not do: malformed heads, pipelines, tiny chunks, unfinished bodies, too much from one address."""

from __future__ import annotations

import asyncio
import json
import logging
import os
import socket
import stat
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import psycopg
import pytest

from bcdp import Plan
from bcdp.collector import open_store
from bcdp.collector.http.errors import RefusalError
from bcdp.collector.http.middleware import SAFE_HEADERS, ThrottledLog
from bcdp.collector.limits.rates import Bodies
from bcdp.collector.settings import Quotas
from support.collector_fixtures import TOKEN, Postgres, Server, new_database, serving, upload
from support.local_http import http_client, local

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]
OPERATOR = {"authorization": f"Bearer {TOKEN}"}


@pytest.fixture(scope="module")
def server(collection: Collection, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server without limits for an address."""
    folder = tmp_path_factory.mktemp("limits")
    with serving(folder, collection[1], str(folder / "reports.db"), "--rate", "0") as running:
        yield running


def told(server: Server, data: bytes, source: str = "127.0.0.1") -> bytes:
    """Everything that is answered until the server closes, or nothing more comes for a second."""
    parts = urlsplit(server.url)
    heard = b""
    with closing(socket.create_connection((parts.hostname, parts.port), timeout=1, source_address=(source, 0))) as line:
        try:
            line.sendall(data)
            while part := line.recv(65536):
                heard += part
        except (TimeoutError, ConnectionError):
            pass
    return heard


def post(body: bytes, *headers: str) -> bytes:
    lines = ["POST /v1/reports HTTP/1.1", "content-type: application/json", *headers]
    return "\r\n".join([*lines, "", ""]).encode() + body


@pytest.mark.parametrize(
    "headers",
    [
        [],
        ["host: x", "host: x"],
        ["host: x", "transfer-encoding: gzip, chunked"],
        ["host: x", "transfer-encoding: chunked, chunked"],
        ["host: x", "transfer-encoding: gzip", "transfer-encoding: chunked"],
        ["host: x", "transfer-encoding: chunked", "content-length: 5"],
        ["host: x", "a b: c"],
        ["host: x", "content-length: 5", "content-length: 6"],
    ],
    ids=" ".join,
)
def test_a_malformed_head_is_refused_like_everything_else(server: Server, headers: list[str]) -> None:
    """In the same form and with the same headers as any answer; and the connection ends."""
    head, _, body = told(server, post(b"0\r\n\r\n", *headers)).partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 400 ")
    assert list(json.loads(body)) == ["detail"]
    lines = head.lower().split(b"\r\n")
    assert {b"%s: %s" % header for header in SAFE_HEADERS} | {b"connection: close", b"cache-control: no-store"} <= {
        *lines
    }


def test_a_well_formed_head_is_not(server: Server) -> None:
    assert told(server, b"GET /healthz HTTP/1.0\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    assert told(server, b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n").startswith(b"HTTP/1.1 200 ")
    assert told(server, post(b"0\r\n\r\n", "host: x", "Transfer-Encoding: Chunked")).startswith(b"HTTP/1.1 422 ")


def test_a_key_stands_once(server: Server, collection: Collection) -> None:
    """Whichever key is repeated, and however it is written, the body is refused; nothing of it is stored."""
    plan = collection[0]
    before = server.people()
    good = json.dumps(upload(plan, [("twice", 0, 0)]))
    for key, value in {"plan": f'"{plan.id}"', "reports": "[]", "id": '"b"', "menu": "0", "answer": "1"}.items():
        for name in (key, f"\\u{ord(key[0]):04x}{key[1:]}"):
            start = '{"' if key in ("plan", "reports") else '{"id'
            body = good.replace(start, f'{{"{name}": {value}, {start[1:]}', 1)
            assert json.loads(body) == json.loads(good)  # the last one counts for most readers
            answer = local.post(f"{server.url}/v1/reports", content=body, headers={"content-type": "application/json"})
            assert answer.status_code == 422, body
    assert server.people() == before


def test_few_requests_may_wait_for_one_before_them(server: Server, collection: Collection) -> None:
    """Two at once are both answered. Of a hundred the first few are, in order, and then the connection ends."""
    ask = b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n"
    assert told(server, 2 * ask).count(b"HTTP/1.1 200 ") == 2
    answers = told(server, 100 * ask)
    assert 1 <= answers.count(b"HTTP/1.1 ") == answers.count(b"HTTP/1.1 200 ") <= 6
    body = (
        json.dumps(upload(collection[0], [("first in line", 0, 0)]))
        .replace(" in ", "-in-")
        .replace("-in-line", "")
        .encode()
    )
    first = post(body, "host: x", f"content-length: {len(body)}")
    assert told(server, first + b"no request\r\n\r\n").startswith(b"HTTP/1.1 200 ")  # what came whole is answered


def test_a_body_may_not_come_in_tiny_chunks(server: Server, collection: Collection) -> None:
    """A few may be small; a body of bytes one by one is refused, and one in chunks of some size is not."""
    body = json.dumps(upload(collection[0], [(f"chunked-{n}", 0, 0) for n in range(1000)])).encode()
    for size, status in ((len(body), b"200"), (len(body) // 60, b"200"), (256, b"200"), (255, b"400"), (1, b"400")):
        parts = [body[start : start + size] for start in range(0, len(body), size)]
        chunks = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in [*parts, b""])
        assert told(server, post(chunks, "host: x", "transfer-encoding: chunked"))[9:12] == status


def test_many_mistakes_of_one_address_are_answered_late(collection: Collection, tmp_path: Path) -> None:
    """The first ones at once; then none within a second, while others are still told what is wrong at once."""
    with serving(tmp_path, collection[1], str(tmp_path / "reports.db"), "--rate", "1") as server:
        late = [told(server, b"no request\r\n\r\n", "127.0.0.6") == b"" for _ in range(4)]
        assert late == [False, False, True, True] or late == [False, True, True, True]
        assert told(server, b"no request\r\n\r\n", "127.0.0.7").startswith(b"HTTP/1.1 400 ")


class Sender:
    """A request whose body comes when the test says so."""

    def __init__(self) -> None:
        self.headers: dict[str, str] = {}
        self.parts: asyncio.Queue[bytes] = asyncio.Queue()

    async def receive(self) -> dict[str, Any]:
        part = await self.parts.get()
        return {"type": "http.request", "body": part, "more_body": part != b""}


def test_unfinished_bodies_share_what_room_there_is() -> None:
    """Large ones that do not fit are told to come back; small ones are read all the same; the room is given back."""

    async def run() -> None:
        bodies = Bodies(Quotas(body_bytes=10**6, bodies_bytes=10**6, body_seconds=20))

        def sending(size: int) -> tuple[Sender, asyncio.Task[bytes]]:
            sender: Any = Sender()
            sender.parts.put_nowait(bytes(size))
            return sender, asyncio.create_task(bodies.read(sender))

        for _ in range(3):  # whatever is given back is not given back twice
            (one, large), (_, too_much), (two, small) = sending(900_000), sending(200_000), sending(10_000)
            with pytest.raises(RefusalError) as refused:
                await too_much
            assert refused.value.status == 503
            for sender in (one, two):
                sender.parts.put_nowait(b"")
            assert (len(await large), len(await small)) == (900_000, 10_000)
        sender, whole = sending(10**6)
        sender.parts.put_nowait(b"")
        assert len(await whole) == 10**6
        gone = sending(10**6)[1]
        await asyncio.sleep(0)
        await asyncio.sleep(0)
        gone.cancel()
        await asyncio.gather(gone, return_exceptions=True)
        assert bodies._room == 10**6

    asyncio.run(run())


def test_an_address_has_so_many_connections(collection: Collection, tmp_path: Path) -> None:
    """The fifty-first is closed at once; others are served, and so is the address when one of its own has ended."""
    with serving(tmp_path, collection[1], str(tmp_path / "reports.db")) as server, ExitStack() as stack:
        parts = urlsplit(server.url)

        def connect() -> socket.socket:
            target, source = (parts.hostname, parts.port), ("127.0.0.5", 0)
            line = stack.enter_context(socket.create_connection(target, timeout=5, source_address=source))
            line.sendall(b"GET /healthz HTTP/1.1\r\nhost: x\r\n\r\n")
            return line

        def answered(line: socket.socket) -> bool:
            try:
                return line.recv(12) == b"HTTP/1.1 200"
            except ConnectionError:
                return False

        held = [connect() for _ in range(50)]
        assert all(map(answered, held))
        assert not answered(connect())
        assert local.get(f"{server.url}/healthz").is_success
        held[0].close()
        assert any(answered(connect()) for _ in range(20))


def test_every_route_has_a_rate_and_the_operator_none(collection: Collection, tmp_path: Path) -> None:
    """Reports and other requests have budgets of their own; who has the token is not limited by either."""
    plan, path = collection
    with (
        serving(tmp_path, path, str(tmp_path / "reports.db"), "--rate", "0.02") as server,
        http_client("127.0.0.9", timeout=20) as client,  # not the one that waited for the server's start
    ):
        body = upload(plan, [(str(n), 0, 0) for n in range(100)])
        assert client.post(f"{server.url}/v1/reports", json=body).is_success
        assert client.post(f"{server.url}/v1/reports", json=body).status_code == 429
        routes = ("/", "/v1/plan", "/nothing", "/v1/estimates", "/v1/plan")
        found = [client.get(f"{server.url}{route}").status_code for route in routes]
        assert found[0] == 200
        assert found[2:] == [429] * 3
        refused = client.get(f"{server.url}/healthz")
        assert refused.status_code == 429
        assert int(refused.headers["retry-after"]) >= 1
        assert refused.headers["x-content-type-options"] == "nosniff"
        for route in ("/v1/estimates", "/metrics", "/v1/plan"):
            assert all(client.get(f"{server.url}{route}", headers=OPERATOR).is_success for _ in range(10))


def test_totals_are_for_the_operator(server: Server) -> None:
    for headers in ({}, {"authorization": "Bearer wrong"}):
        answer = local.get(f"{server.url}/metrics", headers=headers)
        assert answer.status_code == 401
        assert "bcdp_" not in answer.text
    assert "bcdp_reports_accepted_total" in local.get(f"{server.url}/metrics", headers=OPERATOR).text


def test_what_happens_again_and_again_is_logged_once_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = [0.0]
    monkeypatch.setattr("bcdp.collector.http.middleware.time.monotonic", lambda: now[0])
    seldom = ThrottledLog()
    with caplog.at_level(logging.INFO, "bcdp.collector"):
        for second in range(0, 100):
            now[0] = float(second)
            seldom.log(logging.ERROR, "commit failed", {"cause": "full"})
        seldom.log(logging.ERROR, "commit failed", {"cause": "another"})
    fields = [getattr(record, "fields", None) for record in caplog.records]
    assert fields == [{"cause": "full"}, {"cause": "full", "unsaid": 59}, {"cause": "another"}]


def test_hostile_requests_do_not_fill_the_log(collection: Collection, tmp_path: Path) -> None:
    with (
        serving(tmp_path, collection[1], str(tmp_path / "reports.db"), "--rate", "0") as server,
        http_client() as client,
    ):
        for number in range(300):
            assert client.get(f"{server.url}/{number}").status_code == 404
            assert told(server, b"no request\r\n\r\n").startswith(b"HTTP/1.1 400 ")
        assert len(server.log.read_text().splitlines()) < 20


def test_an_error_of_the_server_is_answered_like_everything_else(collection: Collection, tmp_path: Path) -> None:
    broken = "from bcdp.collector.http.report_body import Reader; Reader.read = lambda self, body: body.nothing"
    with serving(tmp_path, collection[1], str(tmp_path / "reports.db"), first=broken) as server:
        answer = local.post(f"{server.url}/v1/reports", json=upload(collection[0], [("a", 0, 0)]))
        assert answer.status_code == 500
        assert answer.json() == {"detail": "the server failed"}
        assert answer.headers["x-content-type-options"] == "nosniff"
        for _ in range(100):  # it is logged after it is answered
            if "AttributeError" in server.log.read_text():
                return
            time.sleep(0.1)
        raise AssertionError(server.log.read_text())


def test_the_sqlite_store_waits_for_the_disk_and_is_its_owners(tmp_path: Path) -> None:
    """A power cut loses nothing that was acknowledged, and nobody else may read the files, whatever the umask."""
    before = os.umask(0)
    try:
        store = open_store(str(tmp_path / "reports.db"), "plan")
        store.add({bytes(16): (0, 0)})
        modes = {path.name: stat.S_IMODE(path.stat().st_mode) for path in tmp_path.iterdir()}
    finally:
        os.umask(before)
    assert modes == dict.fromkeys(("reports.db", "reports.db-wal", "reports.db-shm", "reports.db.lock"), 0o600)
    assert store._connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert store._connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    store.close()


def test_the_postgres_store_waits_for_the_disk(postgres: Postgres) -> None:
    url = new_database(postgres)
    with psycopg.connect(url, autocommit=True) as connection:
        name = connection.info.dbname
        connection.execute(f"ALTER DATABASE {name} SET synchronous_commit = off")
    store = open_store(url, "plan")
    store.check()
    assert store._connection.execute("SHOW synchronous_commit").fetchone() == ("on",)
    store.close()
