"""What browsers are served: bundles that do what their sources do, hashes, compression, and pages of listed origins."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import json
import posixpath
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import httpx
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat, PublicFormat
from starlette.types import ASGIApp

from bcdp import InputError, Policy, make_plan
from bcdp.collector.app import create_app
from bcdp.collector.bundle import bundled, stripped
from bcdp.collector.http.cors import Origins
from bcdp.collector.pages import load_pages
from bcdp.collector.settings import Quotas, Settings
from support.helpers import loaded
from support.npm_packages import npm_packages
from support.paths import ROOT
from support.system import require

pytestmark = pytest.mark.slow
FRIEND, OTHER = "https://pages.example", "https://other.example"


class Client:
    """Asks the service itself, without a network."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    def ask(self, method: str, path: str, **headers: str) -> httpx.Response:
        async def asked() -> httpx.Response:
            transport = httpx.ASGITransport(app=self._app)
            async with httpx.AsyncClient(transport=transport, base_url="http://localhost") as client:
                return await client.request(method, path, headers={n.replace("_", "-"): v for n, v in headers.items()})

        return asyncio.run(asked())

    def get(self, path: str, **headers: str) -> httpx.Response:
        return self.ask("GET", path, **headers)


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Client:
    plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary"}}))
    store = str(tmp_path_factory.mktemp("store") / "reports.db")
    settings = Settings(plan, store, "a-token-of-the-operator", quotas=Quotas(rate=0), origins=(FRIEND,))
    return Client(create_app(settings))


def test_a_script_keeps_its_strings_and_loses_its_comments() -> None:
    source = (
        "/** A note. */\n"
        "const a = `x // ${f(`/* ${'}'} */`)} y`; // gone\n"
        'const b = /"[/]*/.test(c) ? 8 / 2 / 1 : "//"; /* gone */\n\n'
        "    const c = 'it\\'s';\n"
    )
    assert stripped(source).splitlines() == [
        "const a = `x // ${f(`/* ${'}'} */`)} y`;",
        'const b = /"[/]*/.test(c) ? 8 / 2 / 1 : "//";',
        "const c = 'it\\'s';",
    ]


def test_a_bundle_has_every_module_once_and_its_exports() -> None:
    texts = {
        "main.js": 'import { one, two as zwei } from "./a.js";\nimport * as b from "./deep/b.js";\n'
        'export { one } from "./a.js";\nexport const sum = one + zwei + b.three;\n'
        'export const later = () => import("./w/x.js");\n',
        "a.js": "export const one = 1;\nexport function two() {}\n",
        "deep/b.js": 'import { one } from "../a.js";\nexport const three = one + 2;\n'
        'const own = () => import("../w/y.js");\n',
    }
    made = bundled("main.js", texts.__getitem__)
    assert made.count("const one = 1;") == 1
    assert 'import("./w/x.js")' in made
    assert 'import("./w/y.js")' in made
    assert "export const {one,sum,later}=" in made
    assert made == bundled("main.js", texts.__getitem__)


def test_what_is_imported_on_demand_is_in_the_bundle_unless_it_is_served_itself(tmp_path: Path) -> None:
    node = shutil.which("node")
    require(node, "nodejs")
    texts = {
        "main.js": "export const sum = async () =>\n"
        '(await import("./device/a.js")).one + (await import("./b.js")).two;\n',
        "device/a.js": 'import { half } from "./c.js";\nexport const one = half + half;\n',
        "device/c.js": "export const half = 0.5;\n",
        "b.js": "export const two = 2;\n",
    }
    (tmp_path / "main.mjs").write_text(bundled("main.js", texts.__getitem__, ("device/",)))
    (tmp_path / "b.js").write_text("export const two = 20;\n")
    script = "import('./main.mjs').then(({ sum }) => sum()).then(console.log)"
    done = subprocess.run([str(node), "-e", script], cwd=tmp_path, capture_output=True, text=True)
    assert done.stdout == "21\n", done.stderr


def test_the_served_device_is_the_device(tmp_path: Path) -> None:
    """Every vector is met by the bundle; the same names are exported."""
    node = shutil.which("node")
    require(node, "nodejs")
    (tmp_path / "bcdp.mjs").write_bytes(load_pages()["bcdp.js"].content)
    script = f"""
    import {{ readFileSync, readdirSync }} from "node:fs";
    import * as served from "{tmp_path}/bcdp.mjs";
    import * as source from "{ROOT}/src/bcdp/web/bcdp.js";
    const told = [Object.keys(served).sort().join() === Object.keys(source).sort().join()];
    for (const name of readdirSync("{ROOT}/vectors").filter((name) => name.endsWith(".json"))) {{
      const vector = JSON.parse(readFileSync(`{ROOT}/vectors/${{name}}`));
      if (!vector.plan) continue;
      const [one, two] = [await served.parsePlan(vector.plan), await source.parsePlan(vector.plan)];
      const said = (device, plan) => JSON.stringify(device.explain(plan, {{ menu: 0, answer: 0 }}));
      told.push(served.certify(one).epsilon === vector.levels.epsilon && said(served, one) === said(source, two));
    }}
    console.log(JSON.stringify(told));"""
    done = subprocess.run([str(node), "--input-type=module", "-e", script], capture_output=True, text=True)
    told = json.loads(done.stdout)
    assert len(told) > 15
    assert all(told), done.stderr


def esbuild(folder: Path, *options: str) -> dict[str, Any]:
    """What esbuild makes of every script of a folder, each by itself; what its report says of each, by name."""
    names = sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.js"))
    command = [str(npm_packages() / ".bin" / "esbuild"), *names, "--bundle", "--external:./*", "--external:../*"]
    command += ["--format=esm", "--outdir=../out-" + folder.name, "--outbase=.", f"--metafile=../{folder.name}.json"]
    done = subprocess.run([*command, *options, "--log-level=error"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    outputs = json.loads((folder.parent / f"{folder.name}.json").read_text("utf-8"))["outputs"]
    return {name.removeprefix(f"../out-{folder.name}/"): each for name, each in outputs.items()}


def test_the_bundler_agrees_with_esbuild(tmp_path: Path) -> None:
    """On every module: what it strips is no code, and what it exports is what the module exports.

    So a name that one module imports of another is there, because esbuild links the sources; and what is loaded on
    demand is served.
    """
    folder = ROOT / "src" / "bcdp" / "web"
    modules = {
        path.relative_to(folder).as_posix(): path.read_text("utf-8")
        for path in folder.rglob("*.js")
        if path.name not in ("start.js", "hpke.js")  # no module, and one that is minified already
    }
    for name, text in modules.items():
        bundle = bundled(name, lambda path: (folder / path).read_text("utf-8"))
        for kind, content in (("source", text), ("stripped", stripped(text)), ("bundle", bundle)):
            path = tmp_path / kind / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(content, "utf-8")
    kinds = ("source", "stripped", "bundle")
    source, _, bundles = (esbuild(tmp_path / kind, "--minify-whitespace") for kind in kinds)
    for name in modules:
        plain, short = ((tmp_path / f"out-{kind}" / name).read_text("utf-8") for kind in ("source", "stripped"))
        assert plain == short, name
    exports = [{name: sorted(each["exports"]) for name, each in report.items()} for report in (source, bundles)]
    assert len(exports[0]) == len(modules) > 60
    assert exports[0] == exports[1]
    linked = [
        str(npm_packages() / ".bin" / "esbuild"),
        "survey.js",
        "worker.js",
        "dashboard.js",
        "studio.js",
        "bcdp.js",
    ]
    options = ["--bundle", "--format=esm", "--splitting", f"--outdir={tmp_path / 'linked'}", "--log-level=warning"]
    done = subprocess.run([*linked, *options], cwd=folder, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    served = {name for name in load_pages() if name.endswith(".js")}
    for name in served - {"start.js"}:
        text = load_pages()[name].content.decode()
        for asked in re.findall(r'\bimport\("(\.[^"]+)"\)', text):
            assert posixpath.normpath(posixpath.join(posixpath.dirname(name), asked)) in served, (name, asked)


def test_files_have_the_hashes_that_are_listed(client: Client) -> None:
    listed = client.get("/hashes.json").json()
    assert {"bcdp.js", "survey.js", "worker.js", "survey.html", "page.css", "words/de.js"} <= listed.keys()
    for name, integrity in listed.items():
        content = client.get(f"/{name}").content
        assert integrity == f"sha384-{base64.b64encode(hashlib.sha384(content).digest()).decode()}", name
    page = client.get("/").text
    named = dict(re.findall(r'(?:src|href)="([^"]+\.(?:js|css))" integrity="([^"]+)"', page))
    assert named == {name: listed[name] for name in ("start.js", "survey.js", "page.css")}


def test_a_signed_list_tells_whether_files_are_the_published_ones(client: Client) -> None:
    key, other = Ed25519PrivateKey.generate(), Ed25519PrivateKey.generate()
    private = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
    public, wrong = (
        one.public_key().public_bytes(Encoding.PEM, PublicFormat.SubjectPublicKeyInfo) for one in (key, other)
    )
    tool = loaded(ROOT / "tools" / "hashes.py")
    published, served = tool.signed(tool.listed(), private), client.get("/hashes.json").json()
    assert tool.differences(published, public, served) == []
    assert tool.differences(published, wrong, served) == ["the list was not signed with this key"]
    forged = {**published, "files": {**published["files"], "worker.js": "sha384-"}}
    assert tool.differences(forged, public, served) == ["the list was not signed with this key"]
    changed = {**served, "worker.js": "sha384-"}
    assert tool.differences(published, public, changed) == ["worker.js is not the published one"]


@pytest.mark.parametrize("path", ["/bcdp.js", "/v1/plan"])
def test_scripts_and_plans_come_compressed_to_whoever_understands_it(client: Client, path: str) -> None:
    plain, packed = (client.get(path, accept_encoding=how) for how in ("identity", "gzip"))
    assert all("accept-encoding" in one.headers["vary"] for one in (plain, packed))
    assert "content-encoding" not in plain.headers
    assert packed.headers["content-encoding"] == "gzip"
    assert packed.content == plain.content
    assert int(packed.headers["content-length"]) * 1.5 < len(plain.content)
    for one in (plain, packed):
        assert client.get(path, if_none_match=one.headers["etag"]).status_code == 304


def test_only_listed_origins_may_read_and_send(client: Client) -> None:
    for path in ("/v1/plan", "/bcdp.js", "/hashes.json"):
        friendly, foreign = (client.get(path, origin=origin) for origin in (FRIEND, OTHER))
        assert friendly.headers["access-control-allow-origin"] == FRIEND
        assert friendly.headers.get_list("cross-origin-resource-policy") == ["cross-origin"]
        assert "access-control-allow-origin" not in foreign.headers
        assert "origin" in foreign.headers["vary"]
    asking = {"access_control_request_method": "POST", "access_control_request_headers": "content-type"}
    allowed = client.ask("OPTIONS", "/v1/reports", origin=FRIEND, **asking)
    assert (allowed.status_code, allowed.headers["access-control-allow-headers"]) == (204, "content-type")
    assert client.ask("OPTIONS", "/v1/reports", origin=OTHER, **asking).status_code == 405
    for path in ("/v1/estimates", "/", "/metrics"):
        headers = client.get(path, origin=FRIEND).headers
        assert "access-control-allow-origin" not in headers
        assert headers["cross-origin-resource-policy"] == "same-origin"


@pytest.mark.parametrize(
    "origin", ["*", "null", "https://", "https://a/b", "ftp://a", "https://a?b", "https://a b", ""]
)
def test_what_is_no_origin_is_refused(origin: str) -> None:
    with pytest.raises(InputError, match="accepted: a scheme, a host"):
        Origins([origin])
