"""Clients that press a collector: one that remembers what was acknowledged, and one that means harm."""

from __future__ import annotations

import http.client
import itertools
import json
import random
import re
import secrets
import socket
import threading
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

from bcdp import Plan
from bcdp.collector.storage.report_marks import Marker
from support.collector_fixtures import HEADERS, serving, stored, upload

KNOWN = "a-report-of-somebody"


class Pressure:
    """Threads that send single reports without pause, and again with the same id where no answer came."""

    def __init__(self, plan: Plan, threads: int = 4) -> None:
        self._plan = plan
        self.url = ""  # where to send; empty while there is nobody
        self.sent: set[str] = set()
        self.acknowledged: list[str] = []
        self.refused: dict[int, int] = {}
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._press) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def _press(self) -> None:
        name = secrets.token_hex(12)
        while not self._ends.is_set():
            if not self.url:
                time.sleep(0.01)
                continue
            with closing(http.client.HTTPConnection(urlsplit(self.url).netloc, timeout=20)) as connection:
                try:
                    while not self._ends.is_set():
                        if self._send(connection, name):
                            name = secrets.token_hex(12)
                except (OSError, http.client.HTTPException):
                    time.sleep(0.01)

    def _send(self, connection: http.client.HTTPConnection, name: str) -> bool:
        """Whether the report was acknowledged."""
        self.sent.add(name)
        connection.request("POST", "/v1/reports", json.dumps(upload(self._plan, [(name, 0, 0)])), HEADERS)
        with connection.getresponse() as answer:
            answer.read()
        if answer.status == 200:
            self.acknowledged.append(name)
            return True
        self.refused[answer.status] = self.refused.get(answer.status, 0) + 1
        time.sleep(0.02)
        return False

    def end(self) -> None:
        self._ends.set()
        for thread in self._threads:
            thread.join()


def kill_under_load(folder: Path, plan: Plan, path: Path, store: str, kills: int, first: str = "") -> tuple[int, int]:
    """How many reports were acknowledged, and how many of these are lost, after this many `kill -9` under load.

    Also checks that each report is stored and counted once, and that nothing is stored that was not sent.
    """
    pressure = Pressure(plan)
    try:
        for number in range(kills):
            with serving(folder, path, store, "--rate", "0", first=first) as server:
                before = len(pressure.acknowledged)
                pressure.url = server.url
                for _ in range(500):
                    if len(pressure.acknowledged) > before + 20:
                        break
                    time.sleep(0.01)
                time.sleep(0.01 * (number % 7))  # at another moment of the commit each time
                server.kill()
                pressure.url = ""
    finally:
        pressure.end()
    kept = stored(store)
    with serving(folder, path, store, "--rate", "0") as server:
        assert server.people() == len(kept.marks)
    mark = Marker(plan.id, None)
    assert kept.marks <= set(map(mark, pressure.sent))
    assert len(set(pressure.acknowledged)) == len(pressure.acknowledged)
    return len(pressure.acknowledged), len(set(map(mark, pressure.acknowledged)) - kept.marks)


def hostile_requests(plan: Plan, seed: int) -> Iterator[bytes]:
    """An endless stream of whole HTTP requests, none of which may store anything; KNOWN is stored already."""
    rng = random.Random(seed)

    def post(body: bytes, more: str = "", path: str = "/v1/reports", kind: str = "application/json") -> bytes:
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{more}\r\n"
        return head.encode("latin-1") + body

    def report(**changes: object) -> bytes:
        row = {"id": secrets.token_hex(8), "menu": 0, "answer": 0} | changes
        return json.dumps({"plan": plan.id, "reports": [row]}).encode()

    numbers = [-1, 2**31, 2**32, 2**63, 2**64, 10**400, 1.5, 0.0, 1e308, True, None, "0", [], {}, [0], "", "\0"]
    good = report()
    start = b"POST /v1/reports HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\n"

    def odd() -> object:
        return rng.choice(numbers)

    kinds = [
        lambda: post(report(menu=odd())),
        lambda: post(report(answer=odd())),
        lambda: post(report(menu=rng.randrange(len(plan.menus), 2**33))),
        lambda: post(report(answer=rng.randrange(10**6, 2**33))),
        lambda: post(
            report(id=rng.choice([0, None, [], "", "\0", "x" * 65, "é", "a\nb", "'; DROP TABLE reports; --", "\ud800"]))
        ),
        lambda: post(report(id=KNOWN, menu=0, answer=rng.randrange(2))),  # a replay, counted once
        lambda: post(json.dumps({"plan": secrets.token_hex(32), "reports": []}).encode()),
        lambda: post(json.dumps({"plan": odd(), "reports": odd()}).encode()),
        lambda: post(json.dumps(odd()).encode()),
        lambda: post(good[: rng.randrange(len(good))]),
        lambda: post(_flipped(good, rng)),
        lambda: post(rng.randbytes(rng.randrange(300))),
        lambda: post(b"[" * rng.randrange(1, 50_000)),
        lambda: post(b'{"plan":' * rng.randrange(1, 5000)),
        lambda: post(b"9" * rng.randrange(1, 20_000)),
        lambda: post(good, kind=rng.choice(["text/plain", "", "application/x-www-form-urlencoded", "a/b;"])),
        lambda: post(good, path=rng.choice(["/v1/reports/", "//v1/reports", "/v1/plan", "/v1/estimates", "/%00"])),
        lambda: start + b"content-length: 99999999999\r\n\r\n" + good,
        lambda: start + b"content-length: -1\r\n\r\n" + good,
        lambda: start + b"transfer-encoding: chunked\r\n\r\nzz\r\n" + good,
        lambda: b"GET /" + rng.randbytes(20).hex().encode() + b"?" + rng.randbytes(9) + b" HTTP/1.1\r\nhost: x\r\n\r\n",
        lambda: b"GET /v1/estimates HTTP/1.1\r\nhost: x\r\nauthorization: Bearer " + rng.randbytes(9) + b"\r\n\r\n",
        lambda: b"DELETE /v1/reports HTTP/1.1\r\nhost: x\r\n\r\n",
        lambda: b"GET /../../etc/passwd HTTP/1.1\r\nhost: x\r\n\r\n",
        lambda: rng.randbytes(rng.randrange(1, 400)) + b"\r\n\r\n",
    ]
    while True:
        yield rng.choice(kinds)()


def _flipped(body: bytes, rng: random.Random) -> bytes:
    """The body with one byte of its frame changed into one that no JSON has there."""
    place = rng.choice([0, 1, len(body) - 1, len(body) - 2, len(body) - 3])
    return body[:place] + bytes([rng.choice([0, 1, 0x7F, 0xFF, ord("#")])]) + body[place + 1 :]


def attack(url: str, plan: Plan, count: int, seed: int) -> Counter[int]:
    """How often each status was answered to this many hostile requests; 0 stands for a closed connection."""
    return statuses_of(url, itertools.islice(hostile_requests(plan, seed), count))


def statuses_of(url: str, requests: Iterable[bytes]) -> Counter[int]:
    """How often each status was answered to these requests, one after the other."""
    parts = urlsplit(url)
    statuses: Counter[int] = Counter()
    connection = None
    for request in requests:
        connection = connection or socket.create_connection((parts.hostname, parts.port), timeout=20)
        status, keep = 0, False
        try:
            connection.sendall(request)
            status, keep = _answer(connection)
        except ConnectionError:
            pass
        statuses[status] += 1
        if not keep:
            connection.close()
            connection = None
    if connection is not None:
        connection.close()
    return statuses


def _answer(connection: socket.socket) -> tuple[int, bool]:
    """The status of the answer, and whether the connection can be used again."""
    data = b""
    while b"\r\n\r\n" not in data:
        part = connection.recv(65536)
        if not part:
            return 0, False
        data += part
    head, _, body = data.partition(b"\r\n\r\n")
    status = int(head[9:12])
    length = re.search(rb"content-length: (\d+)", head)
    while length and len(body) < int(length[1]):
        body += connection.recv(65536)
    return status, status < 400 or (status not in (400, 408, 413, 415) and b"connection: close" not in head)
