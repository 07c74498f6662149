"""A drill with relay and collector in network namespaces of their own: `python relay_namespaces.py [PEOPLE]`, as root.

Three namespaces stand for three places: devices, relay and collector. Cables (veth pairs) join devices with the relay
and the relay with the collector, and nothing else: a device has no way to the collector, and the collector sees no
address but the relay's. Each device sends three messages. All namespaces are removed at the end.
"""

from __future__ import annotations

import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2] / "tests"))
from bcdp import Device, Plan
from bcdp.randomizers import response
from bcdp_device.sealing import REQUEST_TYPE, GatewayKey, HttpRequest, seal, write_request
from support.helpers import per_feature
from support.message_counts import in_messages

COLLECTOR, RELAY, RELAY_INSIDE, DEVICES = "10.77.1.1", "10.77.1.2", "10.77.2.1", "10.77.2.2"
PORT, MESSAGES = 8000, 3
SENDING = """
import json, socket, sys
from urllib.request import Request, urlopen
relay, collector, kind, sealed = json.load(sys.stdin)
print({urlopen(Request(relay, bytes.fromhex(body), {"content-type": kind})).status for body in sealed})
try:
    socket.create_connection((collector, 8000), timeout=2).close()
    print("reached")
except OSError:
    print("no way")
"""


def impossible() -> str | None:
    """Why no namespaces can be made here, in one line; None where they can."""
    if shutil.which("ip") is None:
        return "network namespaces need the package iproute2"
    made = subprocess.run(["ip", "netns", "add", "bcdp-probe"], capture_output=True, check=False).returncode == 0
    if made:
        _ip("netns", "del", "bcdp-probe")
    return None if made else "network namespaces need root and the package iproute2"


def drill(folder: Path, people: int = 20) -> dict[str, object]:
    """What happened: statuses that devices got, whether one reached the collector, people counted, addresses logged."""
    key = GatewayKey.make(folder / "gateway.key")
    plan = _plan(folder, key.configuration)
    (folder / "token").write_text(secrets.token_urlsafe(24))
    with _networks() as names, ExitStack() as ends:
        batches = str(people * MESSAGES)
        collector = ends.enter_context(_running(folder, names[0], "collector", [
            "serve", "plan.json", "--store", "reports.db", "--token-file", "token", "--gateway-key", "gateway.key",
            "--relays", RELAY, "--batch-at-least", batches, "--host", COLLECTOR, "--port", str(PORT)]))  # fmt: skip
        relay = ends.enter_context(_running(folder, names[1], "relay", [
            "relay", "--to", f"http://{COLLECTOR}:{PORT}/v1/batch", "--mix", batches, "--every", "1s",
            "--store", "relay.db", "--host", RELAY_INSIDE, "--port", str(PORT), "--rate", "0"]))  # fmt: skip
        given = json.dumps([f"http://{RELAY_INSIDE}:{PORT}/", COLLECTOR, REQUEST_TYPE, _sealed(plan, key, people)])
        _until(lambda: _answers(names[2], RELAY_INSIDE))
        sent = _in(names[2], [sys.executable, "-c", SENDING], given).stdout.split("\n")
        _until(lambda: _people(folder) == people)
        logs = (folder / "collector.log").read_text() + (folder / "relay.log").read_text()
        assert collector.poll() is None
        assert relay.poll() is None
    return {"statuses": sent[0], "collector": sent[1], "people": _people(folder), "devices logged": DEVICES in logs}


def _plan(folder: Path, key: str) -> Plan:
    features = {name: {"type": "binary", "delta": 20.0} for name in "abc"}
    asked = [((name,), (2,), response(2, 1.0)) for name in features]
    relay = {"url": "https://relay.example.org/", "key": key}
    plan = in_messages(features, asked, [[0], [1], [2]], per_feature(0.1), relay=relay)
    plan.save(folder / "plan.json")
    return plan


def _sealed(plan: Plan, key: GatewayKey, people: int) -> list[str]:
    sealed = []
    for person in range(people):
        for report in Device({}).messages(plan, dict.fromkeys("abc", person % 2)):
            body = json.dumps({"plan": plan.id, "reports": [{"id": secrets.token_hex(16), **report}]}).encode()
            fields = {"content-type": "application/json"}
            request = HttpRequest("POST", "https", "collector.invalid", "/v1/reports", fields, body)
            sealed.append(seal(key.configuration, write_request(request))[0].hex())
    return sealed


def _people(folder: Path) -> int:
    command = [sys.executable, "-m", "bcdp", "export", "plan.json", "--store", "reports.db", "-o", "tally.json"]
    subprocess.run(command, cwd=folder, capture_output=True, check=False)
    tally = folder / "tally.json"
    return int(json.loads(tally.read_text())["people"]) if tally.exists() else 0


@contextmanager
def _networks() -> Iterator[list[str]]:
    """Namespaces of collector, relay and devices, with the relay between the two others."""
    names = [f"bcdp-{place}-{os.getpid()}" for place in ("collector", "relay", "devices")]
    try:
        for name in names:
            _ip("netns", "add", name)
            _ip("-n", name, "link", "set", "lo", "up")
        for number, (place, own, inside) in enumerate(
            ((names[0], COLLECTOR, RELAY), (names[2], DEVICES, RELAY_INSIDE))
        ):
            ends = [f"bc{os.getpid() % 100_000}{side}{number}" for side in "ab"]
            _ip("link", "add", ends[0], "type", "veth", "peer", "name", ends[1])
            for end, name, address in ((ends[0], place, own), (ends[1], names[1], inside)):
                _ip("link", "set", end, "netns", name)
                _ip("-n", name, "addr", "add", f"{address}/24", "dev", end)
                _ip("-n", name, "link", "set", end, "up")
        yield names
    finally:
        for name in names:
            subprocess.run(["ip", "netns", "del", name], capture_output=True, check=False)


@contextmanager
def _running(folder: Path, name: str, log: str, command: list[str]) -> Iterator[subprocess.Popen[bytes]]:
    with (folder / f"{log}.log").open("w") as file:
        process = subprocess.Popen(
            ["ip", "netns", "exec", name, sys.executable, "-m", "bcdp", *command], cwd=folder, stderr=file
        )
    try:
        yield process
    finally:
        process.terminate()
        process.wait(timeout=60)


def _answers(name: str, address: str) -> bool:
    look = f"import socket; socket.create_connection(('{address}', {PORT}), 1)"
    return _in(name, [sys.executable, "-c", look], "").returncode == 0


def _in(name: str, command: list[str], given: str) -> subprocess.CompletedProcess[str]:
    full = ["ip", "netns", "exec", name, *command]
    return subprocess.run(full, input=given, capture_output=True, text=True, timeout=120, check=False)


def _until(condition: Callable[[], bool], seconds: float = 60.0) -> None:
    ends = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < ends, "it did not happen in time"
        time.sleep(0.2)


def _ip(*arguments: str) -> None:
    subprocess.run(["ip", *arguments], capture_output=True, check=True)


def main() -> int:
    """Prints what happened."""
    if (why := impossible()) is not None:
        print(why)
        return 1
    with tempfile.TemporaryDirectory() as name:
        print(drill(Path(name), int((*sys.argv[1:], "20")[0])))
    return 0


if __name__ == "__main__":
    sys.exit(main())
