"""A mixing relay and its collector on loopback, devices that seal reports, and clients that press or mean harm."""

from __future__ import annotations

import http.client
import itertools
import json
import os
import random
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx

from bcdp import Plan, Policy, make_plan
from bcdp.collector.ohttp.mixing import MESSAGE_BYTES
from bcdp.collector.storage.messages import mark_of
from bcdp.collector.storage.report_marks import Marker
from bcdp_device.sealing import GatewayKey, HttpRequest, seal, write_request
from support.collector_clients import statuses_of
from support.collector_fixtures import TOKEN, Server, run_sql, serving, stored, upload
from support.local_http import local

SEALED = {"content-type": "message/ohttp-req"}
OPERATOR = {"authorization": f"Bearer {TOKEN}"}
FIELDS = {"content-type": "application/json"}


def free_port() -> int:
    """A port of the loopback interface that nobody uses."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


def wait_until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    """Returns when the condition holds; fails if it takes too long."""
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.02)


class MixingProcess:
    """`bcdp relay --mix` in a process of its own."""

    def __init__(self, folder: Path, collector: str, *options: str, port: int = 0, first: str = "") -> None:
        self.port = port or free_port()
        self.url = f"http://127.0.0.1:{self.port}/"
        self.log = folder / f"relay-{time.monotonic_ns()}.log"
        (folder / "relay-token").write_text(TOKEN)
        command = ["relay", "--to", collector, "--port", str(self.port), "--token-file", str(folder / "relay-token")]
        start = f"{first}\nimport sys; from bcdp.cli import main; sys.exit(main())"
        with self.log.open("w") as log:
            self.process = subprocess.Popen(
                [sys.executable, "-c", start, *command, *options], stderr=log, start_new_session=True
            )
        for _ in range(1000):
            try:
                local.get(f"{self.url}healthz", timeout=5)
                return
            except httpx.TransportError:
                assert self.process.poll() is None, self.log.read_text()
                time.sleep(0.02)

    def post(self, body: bytes) -> httpx.Response:
        """The answer to a sealed message."""
        return local.post(self.url, content=body, headers=SEALED, timeout=30)

    def totals(self) -> dict[str, int]:
        """Where the relay says that messages are."""
        text = local.get(f"{self.url}metrics", headers=OPERATOR, timeout=30).raise_for_status().text
        rows = [line.split() for line in text.splitlines() if line.startswith("bcdp_relay_")]
        return {name.removeprefix("bcdp_relay_").removesuffix("_total"): int(number) for name, number in rows}

    def kill(self) -> None:
        """Ends it as a power cut would."""
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self) -> int:
        """Its exit code after a polite request to stop."""
        self.process.terminate()
        return self.process.wait(timeout=40)


@contextmanager
def mixing(folder: Path, collector: str, *options: str, port: int = 0, first: str = "") -> Iterator[MixingProcess]:
    """A mixing relay that is gone when the block ends."""
    relay = MixingProcess(folder, collector, *options, port=port, first=first)
    try:
        yield relay
    finally:
        if relay.process.poll() is None:
            relay.kill()


@dataclass
class Collection:
    """A plan that names a relay at `port`, and the key for which its devices seal."""

    folder: Path
    port: int = field(default_factory=free_port)

    def __post_init__(self) -> None:
        self.key = GatewayKey.make(self.folder / "gateway.key")
        features = {"smoker": {"type": "binary"}, "region": {"type": "categorical", "values": list("abcdefgh")}}
        relay = {"url": f"http://127.0.0.1:{self.port}/", "key": self.key.configuration}
        self.plan: Plan = make_plan(Policy(epsilon=2, features=features, relay=relay))
        self.path = self.folder / "plan.json"
        self.plan.save(self.path)
        self.store = str(self.folder / "reports.db")

    @contextmanager
    def serving(self, least: int) -> Iterator[Server]:
        """The collector of batches of at least so many."""
        options = ("--gateway-key", str(self.folder / "gateway.key"), "--relays", "127.0.0.1", "--rate", "0")
        with serving(self.folder, self.path, self.store, *options, "--batch-at-least", str(least)) as server:
            yield server

    def sealed(self, *reports: tuple[str, int, int], path: str = "/v1/reports", method: str = "POST") -> bytes:
        """These reports in one sealed message."""
        body = json.dumps(upload(self.plan, list(reports))).encode()
        return self.sealed_body(body, path, method)

    def sealed_body(self, body: bytes, path: str = "/v1/reports", method: str = "POST") -> bytes:
        """Any body in a sealed message."""
        message = write_request(HttpRequest(method, "https", "collector.invalid", path, FIELDS, body))
        return seal(self.key.configuration, message)[0]

    def messages(self, count: int) -> dict[str, bytes]:
        """So many sealed reports of different ids."""
        names = [secrets.token_hex(12) for _ in range(count)]
        return {name: self.sealed((name, 0, number % 2)) for number, name in enumerate(names)}


class Batches:
    """A collector that keeps each batch as it came, and answers as it is set to."""

    def __init__(self) -> None:
        self.received: list[bytes] = []
        self.heads: list[dict[str, str]] = []
        self.status = 200
        self.answer: Callable[[int], dict[str, int]] = lambda n: {"accepted": n, "duplicate": 0, "refused": 0}

    @property
    def sizes(self) -> list[int]:
        """How many messages each batch had."""
        return [len(body) // MESSAGE_BYTES for body in self.received]

    @contextmanager
    def running(self) -> Iterator[str]:
        """While it runs; gives where batches go."""
        batches = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                batches.received.append(body)
                batches.heads.append({name.lower(): value for name, value in self.headers.items()})
                content = json.dumps(batches.answer(len(body) // MESSAGE_BYTES)).encode()
                self.send_response(batches.status)
                self.send_header("content-length", str(len(content)))
                self.end_headers()
                self.wfile.write(content)

            def log_message(self, *_: object) -> None:
                """Nothing is logged."""

        with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
            thread = threading.Thread(target=server.serve_forever, daemon=True)
            thread.start()
            try:
                yield f"http://127.0.0.1:{server.server_port}/v1/batch"
            finally:
                server.shutdown()
                thread.join()


def split(body: bytes) -> list[bytes]:
    """The messages of a batch."""
    return [body[start : start + MESSAGE_BYTES] for start in range(0, len(body), MESSAGE_BYTES)]


class SealedPressure:
    """Threads that send sealed reports without pause, each again, the same bytes, until it is acknowledged."""

    def __init__(self, collection: Collection, threads: int = 4) -> None:
        self._collection = collection
        self.port = 0  # where to send; 0 while there is nobody
        self.sent: dict[str, bytes] = {}
        self.acknowledged: list[str] = []
        self.statuses: Counter[int] = Counter()
        self._ends = threading.Event()
        self._threads = [threading.Thread(target=self._press) for _ in range(threads)]
        for thread in self._threads:
            thread.start()

    def _press(self) -> None:
        while not self._ends.is_set():
            name = secrets.token_hex(12)
            body = self.sent[name] = self._collection.sealed((name, 0, 0))
            while not self._ends.is_set() and not self._acknowledged(name, body):
                time.sleep(0.01)

    def _acknowledged(self, name: str, body: bytes) -> bool:
        if not self.port:
            return False
        try:
            with closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)) as connection:
                connection.request("POST", "/", body, SEALED)
                answer = connection.getresponse()
                text = answer.read()
        except (OSError, http.client.HTTPException):
            return False
        self.statuses[answer.status] += 1
        if answer.status != 202 or json.loads(text) != {"kept": 1}:
            return False
        self.acknowledged.append(name)
        return True

    def end(self) -> None:
        """Returns when no more is sent."""
        self._ends.set()
        for thread in self._threads:
            thread.join()


def hostile_messages(collection: Collection, seed: int) -> Iterator[bytes]:
    """An endless stream of whole HTTP requests to a mixing relay, few of which it may keep."""
    rng = random.Random(seed)
    good = collection.sealed(("somebody", 0, 0))

    def post(body: bytes, more: str = "", path: str = "/", kind: str = "message/ohttp-req") -> bytes:
        head = f"POST {path} HTTP/1.1\r\nhost: x\r\ncontent-type: {kind}\r\ncontent-length: {len(body)}\r\n{more}\r\n"
        return head.encode("latin-1") + body

    start = b"POST / HTTP/1.1\r\nhost: x\r\ncontent-type: message/ohttp-req\r\n"
    kinds = [
        lambda: post(rng.randbytes(MESSAGE_BYTES)),  # kept, and refused by the collector
        lambda: post(good),  # again and again, kept once
        lambda: post(good[: rng.randrange(len(good))]),
        lambda: post(good + rng.randbytes(rng.randrange(1, 600))),
        lambda: post(rng.randbytes(rng.randrange(3000))),
        lambda: post(bytes(2**16 + 1)),
        lambda: post(good, kind=rng.choice(["text/plain", "", "application/json", "message/ohttp-res", "a/b;"])),
        lambda: post(good, path=rng.choice(["//", "/v1/batch", "/v1/reports", "/%00", "/../x", "/metrics"])),
        lambda: start + b"content-length: 99999999999\r\n\r\n" + good,
        lambda: start + b"content-length: -1\r\n\r\n" + good,
        lambda: start + b"transfer-encoding: chunked\r\n\r\nzz\r\n" + good,
        lambda: b"GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Bearer " + rng.randbytes(9) + b"\r\n\r\n",
        lambda: b"GET /metrics HTTP/1.1\r\nhost: x\r\nauthorization: Basic " + b"\xe9" * 9 + b"\r\n\r\n",
        lambda: b"GET /" + rng.randbytes(20).hex().encode() + b"?" + rng.randbytes(9) + b" HTTP/1.1\r\nhost: x\r\n\r\n",
        lambda: b"DELETE / HTTP/1.1\r\nhost: x\r\n\r\n",
        lambda: b"OPTIONS / HTTP/1.1\r\nhost: x\r\norigin: " + rng.randbytes(9).hex().encode() + b"\r\n\r\n",
        lambda: rng.randbytes(rng.randrange(1, 400)) + b"\r\n\r\n",
    ]
    while True:
        yield rng.choice(kinds)()


def attack_relay(relay: MixingProcess, collection: Collection, count: int, seed: int) -> Counter[int]:
    """How often each status was answered to this many hostile requests; 0 stands for a closed connection."""
    return statuses_of(relay.url, itertools.islice(hostile_messages(collection, seed), count))


@dataclass(frozen=True)
class Outcome:
    """What became of acknowledged messages, by the collector's store and the relay's."""

    acknowledged: int
    counted: int  # by the collector
    waiting: int
    lost: int  # neither counted nor waiting
    doubled: int  # counted and still waiting
    totals: dict[str, int]
    batches: list[int]  # how many messages each delivery had, as far as the relay could log it


def kill_relay_under_load(folder: Path, kills: int, least: int = 20, first: str = "") -> Outcome:
    """Kills a mixing relay so many times under load, while batches are delivered, and then lets it finish."""
    collection = Collection(folder)
    store = str(folder / "relay.db")
    options = ("--mix", str(least), "--every", "1s", "--store", store, "--rate", "0")
    batches = list[int]()
    with collection.serving(least) as server:
        to = f"{server.url}/v1/batch"
        pressure = SealedPressure(collection)
        try:
            for number in range(kills):
                with mixing(folder, to, *options, first=first) as relay:
                    before = len(pressure.acknowledged)
                    pressure.port = relay.port
                    wait_until(lambda before=before: len(pressure.acknowledged) > before + least)  # type: ignore[misc]
                    if number % 2:  # while a batch is being delivered
                        wait_until(lambda: run_sql(store, "SELECT count(*) FROM batch") != [(0,)])
                        time.sleep(0.01 * (number % 5))
                    else:
                        time.sleep(0.03 * (number % 36))  # at another moment between two due times each time
                    relay.kill()
                    pressure.port = 0
                    batches += delivered(relay)
        finally:
            pressure.end()
        with mixing(folder, to, *options) as relay:
            wait_until(lambda: (now := relay.totals())["drawn"] == 0 and now["waiting"] < least)
            totals = relay.totals()
            assert relay.stop() in (0, -signal.SIGTERM)
            batches += delivered(relay)
    kept, mark = stored(collection.store).marks, Marker(collection.plan.id, None)
    waiting = {row[0] for row in run_sql(store, "SELECT mark FROM waiting")}
    assert len(set(pressure.acknowledged)) == len(pressure.acknowledged)
    places = [(mark(name) in kept, mark_of(pressure.sent[name]) in waiting) for name in pressure.acknowledged]
    assert kept <= set(map(mark, pressure.sent))
    return Outcome(
        len(places), len(kept), len(waiting), places.count((False, False)), places.count((True, True)), totals, batches
    )


def delivered(relay: MixingProcess) -> list[int]:
    """How many messages each confirmed batch had, as the relay's log has it."""
    lines = [
        json.loads(line) for line in relay.log.read_text().splitlines() if line.startswith("{") and line[-1] == "}"
    ]
    return [line["messages"] for line in lines if line["event"] == "delivered"]
