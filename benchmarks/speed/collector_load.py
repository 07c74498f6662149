"""How much the collector takes on this machine, against the same store without HTTP and an empty endpoint.

    python benchmarks/speed/collector_load.py [SECONDS]

Everything runs on the loopback interface, for SECONDS (5) at each point; `wrk` sends, and every report is a new one.
Batches are compared with the rate at which one process inserts the same rows into the same kind of store, 1000 to a
transaction; single reports with an endpoint of the same framework that reads nothing and stores nothing. Ids are in no
order, as devices' are. Sealed reports (Oblivious HTTP) are sealed before: what is measured is the collector's part.
"""

from __future__ import annotations

import json
import re
import secrets
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from bcdp import Plan, Policy, make_plan
from bcdp.collector import open_store
from bcdp.collector.storage.report_marks import MARK_BYTES
from bcdp_device.sealing import GatewayKey, HttpRequest, seal, write_request

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from support.collector_fixtures import HEADERS, Postgres, new_database, serving, small_plan, upload

BATCH = 1000
SEALED_RATE = 4000  # more a second than one worker opens
EMPTY = """
import sys, uvicorn
from starlette.applications import Starlette
from starlette.responses import Response
from starlette.routing import Route
async def empty(request):
    return Response(b'{"accepted":1,"duplicate":0}', media_type="application/json")
app = Starlette(routes=[Route("/v1/reports", empty, methods=["POST"])])
uvicorn.run(app, port=int(sys.argv[1]), loop="uvloop", http="httptools", access_log=False, log_level="error")
"""
SCRIPT = """
local salt, body, number, threads = "%s", %s, 0, 0
function setup(t) t:set("mine", threads); threads = threads + 1 end
function request()
  number = number + 1
  local tag = string.format("%%08x%%02x%%s", number * 2654435761 %% 2^32, mine, salt)
  return wrk.format("POST", "/v1/reports", {["content-type"] = "application/json"}, (body:gsub("@", tag)))
end
"""
SEALED = """
local bodies, number = {}, 0
for line in io.lines("%s") do
  bodies[#bodies + 1] = line:gsub("..", function(digits) return string.char(tonumber(digits, 16)) end)
end
function request()
  number = number %% #bodies + 1
  return wrk.format("POST", "/.well-known/ohttp-gateway", {["content-type"] = "message/ohttp-req"}, bodies[number])
end
"""
RESULT = """
function done(summary, latency)
  local e = summary.errors
  io.write(string.format("RESULT %d %d %d %f %f %f\\n", summary.requests, summary.duration,
    e.connect + e.read + e.write + e.status + e.timeout, latency:percentile(50), latency:percentile(99), latency.max))
end
"""


@dataclass(frozen=True)
class Load:
    """What wrk measured: requests, how many a second, errors, and latencies in milliseconds."""

    requests: int
    rate: float
    errors: int
    median: float
    slow: float
    slowest: float


def load(folder: Path, url: str, plan: Plan, reports: int, connections: int, seconds: float) -> Load:
    """The load of requests with this many reports each, over this many connections."""
    rows = [(f"@{secrets.token_hex(8)}", number % len(plan.menus), 0) for number in range(reports)]
    body = json.dumps(upload(plan, rows), separators=(",", ":"))
    return measured(folder, url, SCRIPT % (secrets.token_hex(4), f"[==[{body}]==]"), connections, seconds)


def sealed_load(folder: Path, url: str, plan: Plan, connections: int, seconds: float) -> Load:
    """The load of sealed single reports; as many different ones as there is time for, in turn."""
    relay = plan.policy.relay
    assert relay is not None
    lines = []
    for _ in range(round(SEALED_RATE * seconds)):
        body = json.dumps(upload(plan, [(secrets.token_hex(16), 0, 0)])).encode()
        asked = HttpRequest("POST", "https", "collector.invalid", "/v1/reports", HEADERS, body)
        lines.append(seal(relay.key, write_request(asked))[0].hex())
    (folder / "sealed").write_text("\n".join(lines))
    return measured(folder, url, SEALED % (folder / "sealed"), connections, seconds)


def measured(folder: Path, url: str, requests_of: str, connections: int, seconds: float) -> Load:
    """What wrk measures with a script that makes requests."""
    script = folder / "load.lua"
    script.write_text(requests_of + RESULT)
    command = ["wrk", "-t", "1", "-c", str(connections), "-d", f"{seconds:g}s", "-s", str(script), url]
    text = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    match = re.search(r"RESULT (.*)", text)
    assert match, text
    requests, duration, errors, *latencies = map(float, match[1].split())
    median, slow, slowest = (microseconds / 1e3 for microseconds in latencies)
    return Load(int(requests), requests / duration * 1e6, int(errors), median, slow, slowest)


def direct(url: str, plan: Plan, seconds: float) -> float:
    """Rows a second that one process inserts into the store, without HTTP, 1000 to a transaction."""
    store = open_store(url, plan.id)
    store.check()
    answers = [(number % len(plan.menus), 0) for number in range(BATCH)]
    began, batches = time.perf_counter(), 0
    while time.perf_counter() - began < seconds:
        store.add({secrets.token_bytes(MARK_BYTES): answer for answer in answers})
        batches += 1
    store.close()
    return batches * BATCH / (time.perf_counter() - began)


def empty_endpoint(folder: Path, plan: Plan, connections: int, seconds: float) -> Load:
    """The load on an endpoint that does nothing."""
    port = 8765
    process = subprocess.Popen([sys.executable, "-c", EMPTY, str(port)])
    try:
        time.sleep(2)
        return load(folder, f"http://127.0.0.1:{port}", plan, 1, connections, seconds)
    finally:
        process.terminate()
        process.wait()


def measure(seconds: float) -> None:
    """Prints the table, line by line as it is measured."""
    postgres = Postgres()
    fresh: dict[str, Callable[[Path], str]] = {
        "SQLite": lambda folder: str(folder / f"{time.monotonic_ns()}.db"),
        "PostgreSQL": lambda folder: new_database(postgres),
    }
    columns = ["", "reports", "connections", "workers", "reports/s", "share", "errors", "median ms", "99% ms", "max ms"]
    show(columns)
    show(["---"] * len(columns))
    try:
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            plan, path = small_plan(), folder / "plan.json"
            plan.save(path)
            for kind, new in fresh.items():
                base = direct(new(folder), plan, seconds)
                show([f"{kind} without HTTP", BATCH, "", 1, f"{base:,.0f}", "", "", "", "", ""])
                for workers in (1, 2):
                    served(folder, path, kind, new(folder), BATCH, 8, workers, base, seconds)
            for connections in (64, 256):
                empty = empty_endpoint(folder, plan, connections, seconds)
                show(["an empty endpoint", 1, connections, 1, *described(empty, 1, empty.rate)])
                for kind, new in fresh.items():
                    for workers in (1, 2):
                        served(folder, path, kind, new(folder), 1, connections, workers, empty.rate, seconds)
                sealed(folder, fresh["SQLite"](folder), connections, empty.rate, seconds)
    finally:
        postgres.remove()


def served(
    folder: Path,
    path: Path,
    kind: str,
    store: str,
    reports: int,
    connections: int,
    workers: int,
    base: float,
    seconds: float,
) -> None:
    """Measures a collector and prints it as a share of `base` reports a second; what it acknowledged must be there."""
    plan = Plan.load(path)
    with serving(folder, path, store, "--rate", "0", "--workers", str(workers)) as server:
        found = load(folder, server.url, plan, reports, connections, seconds)
        show([kind, reports, connections, workers, *described(found, reports, base)])
        assert found.errors == 0, found
        assert server.people() >= found.requests * reports


def sealed(folder: Path, store: str, connections: int, base: float, seconds: float) -> None:
    """Measures a collector that opens sealed reports, and prints it likewise."""
    key = folder / f"{time.monotonic_ns()}.key"
    stated = {"url": "https://relay.example.org/", "key": GatewayKey.make(key).configuration}
    plan = make_plan(Policy(epsilon=2, features={"smoker": {"type": "binary"}}, relay=stated))
    plan.save(folder / "sealed.json")
    with serving(folder, folder / "sealed.json", store, "--rate", "0", "--gateway-key", str(key)) as server:
        found = sealed_load(folder, server.url, plan, connections, seconds)
        show(["SQLite, sealed", 1, connections, 1, *described(found, 1, base)])
        assert found.errors == 0, found


def described(found: Load, reports: int, base: float) -> list[object]:
    rate = found.rate * reports
    times = [f"{milliseconds:.1f}" for milliseconds in (found.median, found.slow, found.slowest)]
    return [f"{rate:,.0f}", f"{rate / base:.2f}", found.errors, *times]


def show(cells: Sequence[object]) -> None:
    print("|", " | ".join(map(str, cells)), "|", flush=True)


if __name__ == "__main__":
    measure(float(sys.argv[1]) if len(sys.argv) > 1 else 5.0)
