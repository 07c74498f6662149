"""The recipes of deploy.md, run: nginx with TLS in front of the collector, and the unit as systemd reads it."""

from __future__ import annotations

import re
import shutil
import socket
import ssl
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from bcdp import Plan
from support.collector_fixtures import serving, upload
from support.documents import blocks
from support.local_http import local
from support.paths import ROOT
from support.system import require

pytestmark = pytest.mark.slow

Collection = tuple[Plan, Path]
PAGE = (ROOT / "docs/guide/deploy.md").read_text()
NAME = "survey.example.org"
NGINX = shutil.which("nginx", path="/usr/sbin:/usr/bin:/sbin")


def shown(language: str) -> str:
    """The one block of the page in this language."""
    (text,) = (block.text for block in blocks(PAGE) if block.language == language)
    return text


@pytest.fixture
def proxied(collection: Collection, tmp_path: Path) -> Iterator[tuple[httpx.Client, str]]:
    """The page's nginx in front of a collector, and a client that trusts it; only addresses and paths are changed."""
    require(NGINX, "nginx")
    require(shutil.which("openssl"), "openssl")
    certificate, key = tmp_path / "fullchain.pem", tmp_path / "privkey.pem"
    made = ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", f"/CN={NAME}"]
    names = ["-addext", f"subjectAltName=DNS:{NAME}", "-keyout", str(key), "-out", str(certificate)]
    subprocess.run([*made, *names], check=True, capture_output=True)
    with closing(socket.socket()) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    options = ("--rate", "0.2", "--proxies", "127.0.0.1")
    with serving(tmp_path, collection[1], str(tmp_path / "reports.db"), *options) as server:
        site = shown("nginx")
        changes = {
            "listen 443": f"listen 127.0.0.1:{port}",
            f"/etc/letsencrypt/live/{NAME}": str(tmp_path),
            "/var/log/nginx": str(tmp_path),
            "127.0.0.1:8000": urlsplit(server.url).netloc,
        }
        for there, here in changes.items():
            assert there in site
            site = site.replace(there, here)
        places = "".join(
            f"{kind}_temp_path {tmp_path}/{kind};" for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
        )
        main = (
            f"daemon off; pid {tmp_path}/pid; error_log {tmp_path}/error.log; events {{}} http {{ {places}\n{site}\n}}"
        )
        (tmp_path / "nginx.conf").write_text(main)
        command = [str(NGINX), "-c", str(tmp_path / "nginx.conf"), "-p", str(tmp_path)]
        checked = subprocess.run([*command, "-t"], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr
        process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
        try:
            url = f"https://127.0.0.1:{port}"
            trusted = ssl.create_default_context(cafile=str(certificate))
            with httpx.Client(verify=trusted, timeout=20) as client:
                _wait(client, url)
                yield client, url
        finally:
            process.terminate()
            process.wait(timeout=20)


def _wait(client: httpx.Client, url: str) -> None:
    for _ in range(200):
        try:
            ask(client, "GET", f"{url}/v1/plan")
            return
        except httpx.TransportError:
            time.sleep(0.05)
    raise AssertionError("nginx did not start")


def ask(client: httpx.Client, method: str, url: str, **more: object) -> httpx.Response:
    """An answer to a request for the site's name."""
    headers = {"host": NAME, **more.pop("headers", {})}  # type: ignore[dict-item]
    return client.request(method, url, headers=headers, extensions={"sni_hostname": NAME}, **more)  # type: ignore[arg-type]


def test_reports_reach_the_collector_through_nginx(
    proxied: tuple[httpx.Client, str], collection: Collection, tmp_path: Path
) -> None:
    """Pages, the plan and reports pass; what is for machines does not; nobody is recorded, or can choose an address."""
    client, url = proxied
    plan = collection[0]
    page = ask(client, "GET", f"{url}/")
    assert page.status_code == 200
    assert page.headers["strict-transport-security"] == "max-age=63072000"
    assert "default-src 'none'" in page.headers["content-security-policy"]
    assert ask(client, "GET", f"{url}/v1/plan").text == plan.text
    body = upload(plan, [(f"n{number}", 0, 0) for number in range(100)])
    assert ask(client, "POST", f"{url}/v1/reports", json=body).json() == {"accepted": 100, "duplicate": 0}
    for number in range(2):  # the budget of this address is spent, whatever it says of itself
        headers = {"x-forwarded-for": f"10.0.0.{number}"}
        assert ask(client, "POST", f"{url}/v1/reports", json=body, headers=headers).status_code == 429
    assert {ask(client, "GET", f"{url}/{path}").status_code for path in ("metrics", "healthz")} == {403}
    assert ask(client, "POST", f"{url}/v1/reports", content=bytes(2**21)).status_code == 413
    kept = [path for path in tmp_path.rglob("*.log") if path.name != "error.log" and "server" not in path.name]
    assert [path.read_text() for path in kept] == [""] * len(kept)
    assert not list(tmp_path.rglob("access*"))


def test_systemd_accepts_the_unit(tmp_path: Path) -> None:
    """As systemd itself reads it: no line that it does not know; and it would tell."""
    require(shutil.which("systemd-analyze"), "systemd")
    program = tmp_path / "bcdp"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    unit = shown("ini").replace("/opt/bcdp/bin/bcdp", str(program))
    assert complaints(unit, tmp_path) == []
    assert len(complaints(unit.replace("Restart=always", "Restart=perhaps"), tmp_path)) == 1


def complaints(unit: str, folder: Path) -> list[str]:
    """What systemd has to say about a unit."""
    path = folder / "bcdp.service"
    path.write_text(unit)
    command = ["systemd-analyze", "verify", "--man=no", str(path)]
    said = subprocess.run(command, capture_output=True, text=True, check=False).stderr
    return [line for line in said.splitlines() if "bcdp" in line]


def test_the_containers_command_serves(collection: Collection, tmp_path: Path) -> None:
    """The entry point of the image, with the arguments of `docker run`, is a command line that serves."""
    built = (ROOT / "Containerfile").read_text()
    assert shown("dockerfile").strip() in built  # the page shows the repository's own
    entry = re.search(r"^ENTRYPOINT (\[.*\])$", shown("dockerfile"), re.MULTILINE)
    assert entry
    words = re.findall(r'"([^"]+)"', entry[1])
    run = next(line for line in PAGE.replace("\\\n", " ").splitlines() if line.startswith("docker run"))
    arguments = run.split(" bcdp ")[1].split()
    assert words[:3] == ["bcdp", "serve", "/etc/bcdp/plan.json"]
    assert words[3:] == ["--host", "0.0.0.0"]
    given = dict(zip(arguments[::2], arguments[1::2], strict=True))
    assert given.keys() == {"--store", "--token-file", "--proxies"}
    options = ["--host", "127.0.0.1", "--proxies", given["--proxies"]]  # on loopback only
    with serving(tmp_path, collection[1], str(tmp_path / "reports.db"), *options) as server:
        assert local.get(f"{server.url}/healthz").is_success
