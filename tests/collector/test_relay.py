"""Sealed reports through a relay, on loopback: who sees which address and which bytes, and what happens to mistakes."""

from __future__ import annotations

import json
import secrets
import shutil
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx
import pytest
from playwright.sync_api import Browser, Request, expect

from bcdp import InputError, Plan, Policy, make_plan
from bcdp.cli import main
from bcdp.collector import Settings
from bcdp.collector.ohttp.gateway import GATEWAY
from bcdp.collector.pages import load_pages
from bcdp.device import Device, NotTakenError, send
from bcdp_device.sealing import (
    GatewayKey,
    HttpRequest,
    HttpResponse,
    read_request,
    read_response,
    seal,
    write_request,
    write_response,
)
from support.collector_fixtures import HEADERS, TOKEN, Server, serving, stored, upload
from support.helpers import loaded
from support.local_http import http_client, local
from support.npm_packages import npm_packages
from support.paths import ROOT
from support.system import require
from support.web_pages import begin, go_on, would_send

pytestmark = pytest.mark.slow

SEALED = {"content-type": "message/ohttp-req"}
CLIENT = "127.0.0.2"  # the relay and the collector are at 127.0.0.1
FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary"},
    "region": {"type": "categorical", "values": [f"region {number}" for number in range(40)]},
}


@dataclass
class Watcher:
    """Stands before a server and keeps what arrives, in both directions, and from where."""

    to: int = 0
    port: int = 0
    addresses: set[str] = field(default_factory=set)
    seen: bytes = b""

    @contextmanager
    def running(self) -> Iterator[None]:
        watcher = self

        class Handler(socketserver.BaseRequestHandler):
            def handle(self) -> None:
                watcher.addresses.add(self.client_address[0])
                with socket.create_connection(("127.0.0.1", watcher.to)) as other:
                    ways = [
                        threading.Thread(target=watcher.pass_on, args=pair)
                        for pair in ((self.request, other), (other, self.request))
                    ]
                    for way in ways:
                        way.start()
                    for way in ways:
                        way.join()

        class Listening(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        with Listening(("127.0.0.1", 0), Handler) as server:
            self.port = server.server_address[1]
            thread = threading.Thread(target=server.serve_forever)
            thread.start()
            try:
                yield
            finally:
                server.shutdown()
                thread.join()

    def pass_on(self, source: socket.socket, sink: socket.socket) -> None:
        try:
            while data := source.recv(65536):
                self.seen += data
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass


def free_port() -> int:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def relaying(folder: Path, gateway: str, port: int, *options: str) -> Iterator[Path]:
    """`bcdp relay` on a port; gives its log."""
    log = folder / "relay.log"
    command = ["relay", "--to", gateway, "--port", str(port), *options]
    start = "import sys; from bcdp.cli import main; sys.exit(main())"
    with log.open("w") as file:
        process = subprocess.Popen([sys.executable, "-c", start, *command], stderr=file, start_new_session=True)
    try:
        for _ in range(400):
            try:
                local.get(f"http://127.0.0.1:{port}/healthz", timeout=5)
                break
            except httpx.TransportError:
                assert process.poll() is None, log.read_text()
                time.sleep(0.05)
        yield log
        process.send_signal(signal.SIGTERM)
        assert process.wait(timeout=40) in (0, -signal.SIGTERM)
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


@dataclass
class Way:
    """All that stands between a device and a store."""

    plan: Plan
    key: GatewayKey
    store: str
    server: Server
    relay: str
    before_relay: Watcher
    before_collector: Watcher
    relay_log: Path

    def client(self) -> httpx.Client:
        """A device at an address of its own."""
        return http_client(CLIENT, timeout=30)

    def post(self, body: bytes, kind: str = "message/ohttp-req", **headers: str) -> httpx.Response:
        with self.client() as client:
            return client.post(self.relay, content=body, headers={"content-type": kind, **headers})

    def sealed(self, body: bytes, path: str = "/v1/reports", method: str = "POST", **changes: Any) -> tuple[int, Any]:
        """The status and the document inside the answer to a sealed request."""
        fields = changes.pop("fields", {"content-type": "application/json"})
        message = write_request(HttpRequest(method, changes.pop("scheme", "https"), "a.example", path, fields, body))
        sealed, open_answer = seal(self.plan.policy.relay.key, message)  # type: ignore[union-attr]
        answer = self.post(sealed)
        assert (answer.status_code, answer.headers["content-type"]) == (200, "message/ohttp-res"), answer.text
        inner = read_response(open_answer(answer.content))
        return inner.status, json.loads(inner.content)


def planned(url: str, key: GatewayKey) -> Plan:
    return make_plan(Policy(epsilon=2, features=FEATURES, relay={"url": url, "key": key.configuration}))


@pytest.fixture(scope="module")
def way(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Way]:
    folder = tmp_path_factory.mktemp("relay")
    key = GatewayKey.make(folder / "gateway.key")
    first, second = Watcher(to=free_port()), Watcher()
    with first.running(), second.running():
        relay = f"http://127.0.0.1:{first.port}/"
        plan = planned(relay, key)
        plan.save(folder / "plan.json")
        store = str(folder / "reports.db")
        options = ("--gateway-key", str(folder / "gateway.key"), "--relays", "127.0.0.1")
        with serving(folder, folder / "plan.json", store, *options) as server:
            second.to = int(server.url.rpartition(":")[2])
            gateway = f"http://127.0.0.1:{second.port}{GATEWAY}"
            with relaying(folder, gateway, first.to) as log:
                yield Way(plan, key, store, server, relay, first, second, log)


def test_nobody_sees_both_who_sent_and_what(way: Way) -> None:
    """The collector's side never meets the device's address, the relay's side never meets an answer."""
    names = [f"somebody-{secrets.token_hex(12)}" for _ in range(8)]
    for number, name in enumerate(names):
        body = json.dumps(upload(way.plan, [(name, 0, number % 2)])).encode()
        assert way.sealed(body) == (200, {"accepted": 1, "duplicate": 0})
        assert way.sealed(body) == (200, {"accepted": 0, "duplicate": 1})  # sent again, it counts once
    assert way.before_relay.addresses == {CLIENT}
    assert way.before_collector.addresses == {"127.0.0.1"}
    assert stored(way.store).holds(way.plan, names)
    relayed, arrived = way.before_relay.seen, way.before_collector.seen
    assert relayed.count(b"message/ohttp-req") >= 16  # so much was watched
    for secret in (*names, "reports", "menu", "answer", "accepted", "duplicate", way.plan.id):
        assert secret.encode() not in relayed
        assert secret.encode() not in arrived  # what the relay itself sends and receives
    assert b"python-httpx" in relayed  # what tells of a device stays with the relay: only the body goes on
    assert CLIENT.encode() not in arrived
    log = way.relay_log.read_text()
    assert CLIENT not in log
    assert "ohttp" not in log


def test_what_tells_of_the_sender_is_not_handed_on(way: Way) -> None:
    told = {"cookie": "me=1", "x-forwarded-for": "9.9.9.9", "forwarded": "for=9.9.9.9", "origin": "https://me.example"}
    told |= {
        "user-agent": "my own browser",
        "referer": "https://me.example/",
        "accept-language": "gsw-CH",
        "x-me": "it is me",
    }
    message = write_request(HttpRequest("POST", "https", "a", "/v1/reports", {}, b"{}"))
    body = seal(way.key.configuration, message)[0]
    before = len(way.before_collector.seen)
    assert way.post(body, **told).status_code == 200
    arrived = way.before_collector.seen[before:]
    assert body in arrived
    for name, value in told.items():
        assert value.encode() not in arrived, name
    head = arrived.partition(b"\r\n\r\n")[0].lower()
    lines = {line.partition(b":")[0] for line in head.splitlines()[1:]}
    assert lines == set(b"host accept accept-encoding connection user-agent content-type content-length".split())


def test_all_single_reports_are_of_one_length(way: Way) -> None:
    """Whatever the id and the answer; the bytes themselves are those of a cipher."""
    longest = max(len(digits) for digits in way.plan.symbols)
    assert longest >= 1
    lengths = {
        len(seal(way.key.configuration, write_request(HttpRequest("POST", "https", "collector.invalid", "/v1/reports",
            {"content-type": "application/json"}, json.dumps(upload(way.plan, [(name, menu, answer)])).encode())))[0])
        for name in ("a", "b" * 64) for menu in (0, 99) for answer in (0, 10**9)
    }  # fmt: skip
    assert len(lengths) == 1


def test_a_device_in_python_uses_the_relay_that_its_plan_names(way: Way, tmp_path: Path) -> None:
    report = Device(tmp_path / "answers.json").answer(way.plan, {"smoker": 1, "region": "region 7"})
    name = secrets.token_hex(16)
    nowhere = "http://127.0.0.1:9"  # the collector is not asked
    assert send(way.plan, report, name, nowhere) == {"accepted": 1, "duplicate": 0}
    assert send(way.plan, report, name) == {"accepted": 0, "duplicate": 1}
    assert stored(way.store).holds(way.plan, [name])
    with pytest.raises(NotTakenError, match="not in the plan") as refused:
        send(way.plan, {"menu": 10**6, "answer": 0}, name)
    assert refused.value.status == 422


def test_mistakes_inside_are_told_inside(way: Way) -> None:
    good = json.dumps(upload(way.plan, [("somebody", 0, 0)])).encode()
    before = stored(way.store)
    assert way.sealed(b"no JSON")[0] == 422
    assert way.sealed(json.dumps({"plan": "0" * 64, "reports": []}).encode())[0] == 409
    assert way.sealed(good, path="/v1/estimates") == (404, {"detail": "accepted: https and the path /v1/reports"})
    assert way.sealed(good, scheme="http")[0] == 404
    assert way.sealed(good, method="PUT")[0] == 405
    assert way.sealed(good, fields={})[0] == 415
    body, open_answer = seal(way.key.configuration, b"no message")
    assert read_response(open_answer(way.post(body).content)).status == 400
    assert stored(way.store) == before


def test_what_cannot_be_opened_is_refused_openly(way: Way) -> None:
    body = seal(way.key.configuration, write_request(HttpRequest("POST", "https", "a", "/v1/reports")))[0]
    changed = body[:-1] + bytes([body[-1] ^ 1])
    assert way.post(changed).json() == {"detail": "malformed: it cannot be opened"}
    assert way.post(changed).status_code == way.post(b"").status_code == way.post(body[:40]).status_code == 400
    other = way.post(bytes([body[0] ^ 1]) + body[1:])
    assert (other.status_code, other.headers["content-type"]) == (400, "application/problem+json")
    assert other.json()["type"] == "https://iana.org/assignments/http-problem-types#ohttp-key"
    assert way.post(body, kind="application/json").status_code == 415
    assert way.post(bytes(2**16 + 1)).status_code == 413


def test_the_collector_takes_nothing_but_from_its_relay(way: Way) -> None:
    good = upload(way.plan, [("somebody", 0, 0)])
    direct = local.post(f"{way.server.url}/v1/reports", json=good)
    assert (direct.status_code, direct.json()) == (
        403,
        {"detail": "accepted: sealed reports, through the relay that the plan names"},
    )
    body = seal(way.key.configuration, write_request(HttpRequest("POST", "https", "a", "/v1/reports")))[0]
    with way.client() as client:
        stranger = client.post(f"{way.server.url}{GATEWAY}", content=body, headers=SEALED)
        keys = client.get(f"{way.server.url}{GATEWAY}")
    assert (stranger.status_code, stranger.json()) == (403, {"detail": "accepted: requests of the relay"})
    assert (keys.content, keys.headers["content-type"]) == (way.key.published, "application/ohttp-keys")
    assert local.put(f"{way.server.url}{GATEWAY}").headers["allow"] == "POST, GET"


def test_the_description_lists_every_answer_of_the_gateway(way: Way) -> None:
    """Each status and type that a request can bring about is listed, and nothing else but what is rare."""
    document = local.get(f"{way.server.url}/openapi.json").json()
    routes = document["paths"][GATEWAY]
    listed = {
        (method.upper(), int(status), kind)
        for method, operation in routes.items()
        for status, answer in operation["responses"].items()
        for kind in answer["content"]
    }
    assert list(routes["post"]["requestBody"]["content"]) == ["message/ohttp-req"]
    body = seal(way.key.configuration, write_request(HttpRequest("POST", "https", "a", "/v1/reports")))[0]
    bodies = [body, body[:40], bytes([body[0] ^ 1]) + body[1:], bytes(2**20 + 1)]
    gateway = f"{way.server.url}{GATEWAY}"
    with way.client() as stranger:
        answers = [local.post(gateway, content=one, headers=SEALED) for one in bodies]
        answers += [local.post(gateway, json={}), stranger.post(gateway, content=body, headers=SEALED)]
        answers.append(stranger.get(gateway))
    seen = {(one.request.method, one.status_code, one.headers["content-type"]) for one in answers}
    assert seen <= listed
    assert {status for _, status, _ in listed - seen} == {408, 429, 503}
    assert "403" in document["paths"]["/v1/reports"]["post"]["responses"]


def test_pages_may_reach_the_relay_and_no_other_host(way: Way) -> None:
    policy = local.get(f"{way.server.url}/").headers["content-security-policy"]
    assert f"connect-src 'self' {way.relay.rstrip('/')};" in policy
    asked = {"origin": "https://any.example", "access-control-request-method": "POST"}
    preflight = local.options(way.relay, headers=asked)
    assert (preflight.status_code, preflight.headers["access-control-allow-origin"]) == (204, "*")
    assert preflight.headers["access-control-allow-headers"] == "content-type"
    assert way.post(b"").headers["access-control-allow-origin"] == "*"


def test_a_page_in_a_browser_seals_what_it_sends(way: Way, browser: Browser) -> None:
    """The survey page sends nothing but a sealed message, and that to the relay; it is counted, and shown as such."""
    context = browser.new_context(viewport={"width": 900, "height": 900})
    page = context.new_page()
    requests = list[Request]()
    page.on("request", lambda request: requests.append(request))
    page.goto(way.server.url)
    begin(page)
    page.get_by_label("no", exact=True).check()
    go_on(page)
    page.get_by_label("region", exact=True).select_option("region 7")
    go_on(page)
    page.locator("#show").click()
    expect(page.locator("#seen")).to_contain_text(f"goes through 127.0.0.1:{way.before_relay.port}, which sees your")
    message = json.loads(would_send(page))
    page.locator("#send").click()
    expect(page.locator("#status")).to_have_text("Your answer was received. Thank you!")
    assert stored(way.store).holds(way.plan, [message["reports"][0]["id"]])
    posted = [request for request in requests if request.method == "POST"]
    assert [request.url for request in posted] == [way.relay]
    body = posted[0].post_data_buffer
    assert body is not None
    opened = read_request(way.key.open(body)[0])
    assert json.loads(opened.content) == message
    python = HttpRequest("POST", "https", "collector.invalid", "/v1/reports", {"content-type": "application/json"})
    assert replace(opened, content=b"") == python
    loaded = {urlsplit(request.url).path for request in requests}
    assert "/sealing.js" in loaded
    context.close()


def test_once_the_form_is_there_the_collector_hears_nothing_of_the_browser(way: Way, browser: Browser) -> None:
    """Byte by byte: whatever is done on the page, until the report has arrived through the relay."""
    collector = Watcher(to=int(way.server.url.rpartition(":")[2]))
    with collector.running():
        context = browser.new_context()
        page = context.new_page()
        page.goto(f"http://127.0.0.1:{collector.port}")
        expect(page.locator("#start")).to_be_visible()
        page.wait_for_load_state("networkidle")
        heard = len(collector.seen)
        assert b"GET /sealing.js" in collector.seen
        begin(page)
        page.get_by_label("no", exact=True).check()
        go_on(page)
        page.get_by_label("region", exact=True).select_option("region 7")
        for language in ("de", "fr", "es", "ar", "en"):
            page.locator("#language").select_option(language)
            expect(page.locator("html")).to_have_attribute("lang", language)
        go_on(page)
        page.locator("#show").click()
        page.locator("#send").click()
        expect(page.locator("#status")).to_have_text("Your answer was received. Thank you!")
        assert len(collector.seen) == heard
        context.close()


def test_sealing_is_loaded_only_where_a_plan_names_a_relay() -> None:
    """Whoever needs no relay loads none of it: neither the page nor the worker nor `bcdp.js` holds it."""
    pages = load_pages()
    assert b"X25519" in pages["sealing.js"].content
    assert b"MIT License" in pages["sealing.js"].content  # which goes with every copy
    assert not any(b"X25519" in pages[name].content for name in ("bcdp.js", "survey.js", "worker.js", "dashboard.js"))


NODE = """
import { sealReports } from "SOURCE";
const [key, message] = process.argv.slice(2);
const { body, open } = await sealReports(key, message);
console.log(Buffer.from(body).toString("hex"));
for await (const line of (await import("node:readline")).createInterface({ input: process.stdin })) {
  const said = await open(Buffer.from(line, "hex")).then(JSON.stringify, () => "refused");
  console.log(said);
}
"""


@pytest.mark.parametrize("served", [False, True])
def test_what_javascript_seals_python_opens_and_the_other_way_round(tmp_path: Path, served: bool) -> None:
    """From the source and from what the collector serves, at every length; changed answers are refused."""
    node = shutil.which("node")
    require(node, "node")
    source = ROOT / "src" / "bcdp" / "web" / "sealing.js"
    if served:
        source = tmp_path / "sealing.mjs"
        source.write_bytes(load_pages()["sealing.js"].content)
    (tmp_path / "seal.mjs").write_text(NODE.replace("SOURCE", source.as_uri()))
    key = GatewayKey.make(tmp_path / "key")
    for length in (0, 1, 63, 64, 300, 16_383, 20_000):
        message = "é" * (length // 2) + "x" * (length % 2)
        process = subprocess.Popen(
            [str(node), str(tmp_path / "seal.mjs"), key.configuration, message],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert process.stdout is not None
        opened, seal_answer = key.open(bytes.fromhex(process.stdout.readline()))
        assert len(opened) % 512 == 0
        assert read_request(opened).content.decode() == message
        answers = [
            HttpResponse(200, {"content-type": "application/json"}, message.encode()),
            HttpResponse(429, {"retry-after": "7"}, b"{}"),
        ]
        sealed = [seal_answer(write_response(answer)) for answer in answers]
        changed = [sealed[0][:-1] + bytes([sealed[0][-1] ^ 1]), sealed[0][:20], b"", seal_answer(b"\x01\x40\xc8\x05")]
        said = process.communicate("".join(f"{data.hex()}\n" for data in (*sealed, *changed)), timeout=60)[
            0
        ].splitlines()
        assert json.loads(said[0]) == {"status": 200, "text": message, "retryAfter": None}
        assert json.loads(said[1]) == {"status": 429, "text": "{}", "retryAfter": "7"}
        assert said[2:] == ["refused"] * 4


def test_the_vendored_file_is_made_of_what_npm_has() -> None:
    tool = loaded(ROOT / "tools" / "vendor_hpke.py")
    assert tool.vendored(npm_packages()) == tool.FILE.read_text("utf-8")


def test_a_relay_without_its_collector_says_so(tmp_path: Path) -> None:
    port = free_port()
    with relaying(tmp_path, f"http://127.0.0.1:{free_port()}/", port):
        answer = local.post(f"http://127.0.0.1:{port}/", content=b"x", headers=SEALED)
    assert (answer.status_code, answer.headers["retry-after"]) == (502, "5")


def test_the_key_is_the_one_that_the_plan_states(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, other = tmp_path / "a.key", tmp_path / "b.key"
    key = GatewayKey.make(path)
    plan = planned("https://relay.example.org/", key)
    assert main(["keypair", str(other), "--json"]) == 0
    made = json.loads(capsys.readouterr().out)
    assert made["key"] == GatewayKey.from_pem(other.read_bytes()).configuration
    assert main(["keypair", str(other)]) == 2
    for wrong in (None, other.read_bytes(), b"no key"):
        with pytest.raises(InputError, match="key"):
            Settings(plan, "reports.db", TOKEN, gateway_key=wrong)
    Settings(plan, "reports.db", TOKEN, gateway_key=path.read_bytes())
    with pytest.raises(InputError, match="relays"):
        Settings(plan, "reports.db", TOKEN, gateway_key=path.read_bytes(), relays=("relay.example.org",))
    plain = make_plan(Policy(epsilon=2, features=FEATURES))
    with pytest.raises(InputError, match="names a relay"):
        Settings(plain, "reports.db", TOKEN, gateway_key=path.read_bytes())
    assert main(["relay", "--to", "survey.example.org"]) == 2
    assert "to: got 'survey.example.org'; accepted: the address of a gateway" in capsys.readouterr().err


@pytest.mark.parametrize(
    "portal",
    [b"<html>Welcome</html>", b"{}", b"[]", b'{"accepted": 1}', b'{"accepted": true, "duplicate": false}',
     b'{"accepted": 0, "duplicate": 0}', b'{"accepted": 1, "duplicate": 1}', b'{"accepted": 1.0, "duplicate": 0}'],
)  # fmt: skip
def test_only_the_collectors_word_is_a_receipt(portal: bytes) -> None:
    """A network that asks people to sign in answers everything with 200 and its own page."""

    class Portal(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["Content-Length"]))
            self.send_response(200)
            self.send_header("Content-Length", str(len(portal)))
            self.end_headers()
            self.wfile.write(portal)

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    plan = make_plan(Policy(epsilon=2, features=FEATURES))
    with ThreadingHTTPServer(("127.0.0.1", 0), Portal) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        with pytest.raises(NotTakenError, match="is not the collector") as refused:
            send(plan, {"menu": 0, "answer": 0}, "me", f"http://127.0.0.1:{server.server_port}")
        server.shutdown()
    assert refused.value.status == 502  # so that it is sent again


def test_a_plan_without_a_relay_is_answered_directly(tmp_path: Path) -> None:
    plan = make_plan(Policy(epsilon=2, features=FEATURES))
    plan.save(tmp_path / "plan.json")
    report = Device({}).answer(plan, {"smoker": 1, "region": "region 7"})
    with serving(tmp_path, tmp_path / "plan.json", str(tmp_path / "reports.db")) as server:
        assert send(plan, report, "me", server.url) == {"accepted": 1, "duplicate": 0}
        with pytest.raises(NotTakenError) as refused:
            send(make_plan(Policy(epsilon=1, features=FEATURES)), report, "me", server.url)
        assert refused.value.status == 409
        assert local.post(f"{server.url}{GATEWAY}", headers=HEADERS).status_code == 404
