"""The npm package bcdp-device, installed from its tarball in an empty folder: vectors, runtimes, types, SurveyJS."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import os
import platform
import queue
import shutil
import subprocess
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from bcdp import Plan, Policy, make_plan
from support.npm_packages import FOLDER, npm_packages
from support.paths import ROOT
from support.system import require

pytestmark = pytest.mark.slow
VECTORS = ROOT / "vectors"


def maker() -> Any:
    spec = importlib.util.spec_from_file_location("make_package", ROOT / "tools" / "make_package.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An empty folder in which the tarball was installed, without a network."""
    npm = shutil.which("npm")
    require(npm, "npm")
    folder = tmp_path_factory.mktemp("installed")
    tarball = maker().make(folder / "made")
    assert maker().make(folder / "again").read_bytes() == tarball.read_bytes()
    (folder / "package.json").write_text('{"private": true, "type": "module"}')
    options = ("--offline", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    run(str(npm), "install", str(tarball), *options, cwd=folder)
    for name in ("installed.mjs", "meet.mjs"):
        shutil.copy(ROOT / "tests" / "js" / name, folder)
    return folder


def met(said: str) -> None:
    found = json.loads(said.splitlines()[-1])
    assert found["plans"] == len([p for p in VECTORS.glob("*.json") if p.stem not in ("refused", "spellings")])
    assert found["refused"] == len(json.loads((VECTORS / "refused.json").read_text("utf-8")))
    assert found["answers"] > 100


def test_the_package_meets_the_vectors_in_node(installed: Path) -> None:
    met(run(str(shutil.which("node")), "installed.mjs", str(VECTORS), cwd=installed))


@pytest.mark.parametrize(("binary", "arguments"), [
    ("@deno/linux-x64-glibc/deno", ["run", "--allow-read", "--no-remote", "--node-modules-dir=manual"]),
    ("@oven/bun-linux-x64/bin/bun", ["run", "--no-install"]),
])  # fmt: skip
def test_the_package_meets_the_vectors_elsewhere(installed: Path, binary: str, arguments: list[str]) -> None:
    require((platform.system(), platform.machine()) == ("Linux", "x86_64"), "deno and bun for this machine")
    runtime = npm_packages(FOLDER / "runtimes") / binary
    met(run(str(runtime), *arguments, "installed.mjs", str(VECTORS), cwd=installed))


FIREFOX_PAGE = """<!doctype html><html lang="en"><title>The vectors</title>
<script type="importmap">{"imports": {"bcdp-device": "/package/index.js", "bcdp-device/words": "/package/words.js",
"bcdp-device/words/ar": "/package/words/ar.js"}}</script>
<script type="module">
  const said = await import("/meet.mjs")
    .then(async ({ meet }) => JSON.stringify(await meet(await (await fetch("/vectors")).json())))
    .catch((error) => `${error}`);
  await fetch("/said", { method: "POST", body: said });
</script>"""


def test_the_package_meets_the_vectors_in_firefox(installed: Path, tmp_path: Path) -> None:
    """Nothing drives the browser: it opens a page, and the page tells this machine what it saw."""
    firefox = shutil.which("firefox-esr") or shutil.which("firefox")
    require(firefox, "firefox-esr")
    said: queue.Queue[str] = queue.Queue()
    package = installed / "node_modules" / "bcdp-device"
    vectors = json.dumps({path.name: json.loads(path.read_text("utf-8")) for path in VECTORS.glob("*.json")})

    class Pages(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path = self.path.removeprefix("/")
            if path.startswith("package/"):
                body = (package / path.removeprefix("package/")).read_text("utf-8")
            else:
                body = {"": FIREFOX_PAGE, "vectors": vectors, "meet.mjs": (installed / "meet.mjs").read_text()}.get(
                    path, ""
                )
            kind = "text/html" if not path else "application/json" if path == "vectors" else "text/javascript"
            self.reply(body.encode(), kind)

        def do_POST(self) -> None:
            said.put(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.reply(b"", "text/plain")

        def reply(self, body: bytes, kind: str) -> None:
            self.send_response(200)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            """Nothing is logged."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Pages) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/"
        command = [str(firefox), "--headless", "--no-remote", "--profile", str(tmp_path), address]
        environment = {**os.environ, "HOME": str(tmp_path), "MOZ_DISABLE_AUTO_SAFE_MODE": "1"}
        with subprocess.Popen(
            command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        ) as running:
            try:
                met(said.get(timeout=300))
            finally:
                running.terminate()
                server.shutdown()


def test_its_types_are_strict(installed: Path) -> None:
    compiler = npm_packages() / ".bin" / "tsc"
    shutil.copy(ROOT / "packages" / "bcdp-device" / "example.ts", installed)
    options = ["--strict", "--noEmit", "--module", "nodenext", "--moduleResolution", "nodenext", "--target", "es2022"]
    command = [str(compiler), *options, "--lib", "es2022,dom", "--types", ""]
    run(*command, "example.ts", cwd=installed)
    wrong = (installed / "example.ts").read_text().replace("maxEpsilon: 2", 'maxEpsilon: "2"')
    (installed / "wrong.ts").write_text(wrong)
    refused = subprocess.run([*command, "wrong.ts"], cwd=installed, capture_output=True, text=True)
    assert "not assignable" in refused.stdout


def test_its_core_is_small_and_needs_nothing(installed: Path) -> None:
    described = json.loads((installed / "node_modules" / "bcdp-device" / "package.json").read_text())
    assert not {"dependencies", "peerDependencies", "scripts"} & described.keys()
    (installed / "core.js").write_text('export * from "bcdp-device";')
    esbuild = npm_packages() / ".bin" / "esbuild"
    options = ["--bundle", "--minify", "--format=esm", "--splitting", "--outdir=core", "--metafile=core.json"]
    run(str(esbuild), "core.js", *options, "--log-level=error", cwd=installed)
    outputs = json.loads((installed / "core.json").read_text())["outputs"]
    needed = loaded_with("core/core.js", outputs)
    sizes = {name: len(gzip.compress((installed / name).read_bytes(), 9)) for name in outputs}
    on_demand = [
        entry.removeprefix("node_modules/bcdp-device/") for entry in entries_of(outputs.keys() - needed, outputs)
    ]
    readers = ("blocks", "dates", "listed", "panel", "special", "stated", "waves")
    parts = [f"device/reading/{name}.js" for name in readers]
    assert sorted(on_demand) == ["device/counts.js", "device/projective.js", *parts, "device/ticket.js"]
    assert sum(sizes[name] for name in needed) < 13_600
    assert sum(sizes.values()) < 28_500


def loaded_with(entry: str, outputs: dict[str, Any]) -> set[str]:
    """The files that a file imports before it runs, and itself."""
    found, left = set(), [entry]
    while left:
        found.add(name := left.pop())
        imports = [each["path"] for each in outputs[name]["imports"] if each["kind"] == "import-statement"]
        left += [path for path in imports if path not in found]
    return found


def entries_of(names: set[str], outputs: dict[str, Any]) -> list[str]:
    return [outputs[name]["entryPoint"] for name in names if "entryPoint" in outputs[name]]


def test_every_file_is_the_repositorys(installed: Path) -> None:
    folder = installed / "node_modules" / "bcdp-device"
    stated = json.loads((folder / "provenance.json").read_text())["sha256"]
    there = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert there == {*stated, "provenance.json"}
    for name, digest in stated.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        if name.startswith(("device/", "words/")):
            assert (folder / name).read_bytes() == (ROOT / "src" / "bcdp" / "web" / name).read_bytes()


REACT = {
    "index.html": '<!doctype html><html lang="en"><title>In React</title><main id="root"></main>'
    '<script type="module" src="/main.jsx"></script>',
    "main.jsx": """import { createRoot } from "react-dom/client";
import { Survey } from "./Survey.jsx";
const later = (value) => new Promise((resolve) => setTimeout(resolve, 20, value)); // as AsyncStorage
const store = {
  getItem: (key) => later(localStorage.getItem(key)),
  setItem: (key, value) => later().then(() => localStorage.setItem(key, value)),
};
createRoot(document.getElementById("root")).render(<Survey server="" store={store} />);
""",
}


def test_the_react_example_of_the_readme(browser: Browser, installed: Path, tmp_path: Path) -> None:
    """Built by Vite, in Chromium, with a store that gives promises: one report, however often the button is pressed."""
    readme = (ROOT / "packages" / "bcdp-device" / "README.md").read_text("utf-8")
    files = {**REACT, "Survey.jsx": readme.split("```jsx\n")[1].split("```")[0]}
    for name, text in files.items():
        (tmp_path / name).write_text(text, "utf-8")
    (tmp_path / "node_modules").mkdir()
    for folder in (npm_packages(FOLDER / "react"), installed / "node_modules"):
        for package in folder.iterdir():
            if not package.name.startswith("."):
                (tmp_path / "node_modules" / package.name).symlink_to(package)
    vite = npm_packages(FOLDER / "react") / "vite" / "bin" / "vite.js"
    run(str(shutil.which("node")), str(vite), "build", "--logLevel=error", cwd=tmp_path)
    plan = make_plan(Policy(epsilon=1, features={"smoker": {"type": "binary", "values": ["no", "yes"]}}))
    page, sent, errors = browser.new_context().new_page(), list[str](), list[str]()
    page.on("pageerror", lambda error: errors.append(str(error)))

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix("http://localhost/")
        if path == "v1/reports":
            sent.append(str(route.request.post_data))
            return route.fulfill(json={"accepted": 1, "duplicate": 0})
        if path == "v1/plan":
            return route.fulfill(body=plan.text, content_type="application/json")
        file = tmp_path / "dist" / (path or "index.html")
        return route.fulfill(path=file) if file.is_file() else route.fulfill(status=404)

    page.route("http://localhost/**", answer)
    page.goto("http://localhost/")
    page.get_by_role("group", name="smoker").get_by_label("yes").check()
    page.get_by_role("button", name="Show me").dblclick()
    expect(page.get_by_text("your report hints at")).to_be_visible()
    (kept,) = page.evaluate("Object.values(localStorage)")
    page.get_by_role("button", name="Send it").click()
    expect(page.get_by_role("status")).to_have_text("Thank you!")
    assert [json.loads(message) for message in sent] == [{"plan": plan.id, "reports": [json.loads(kept)]}]
    assert not errors
    page.context.close()


EXAMPLE = """<!doctype html><html lang="en"><title>An example with SurveyJS</title>
<link rel="stylesheet" href="/survey-core/survey-core.min.css">
<script type="importmap">{"imports": {"survey-core": "/survey-core/fesm/survey-core.mjs",
"survey-js-ui": "/survey-js-ui/fesm/survey-js-ui.mjs", "bcdp-device": "/bcdp-device/index.js",
"bcdp-device/surveyjs": "/bcdp-device/surveyjs.js"}}</script>
<main id="form"></main>
<script type="module">
  import { Model } from "survey-core";
  import "survey-js-ui";
  import { parsePlan, verifyPlan } from "bcdp-device";
  import { answerOnComplete, formOf } from "bcdp-device/surveyjs";

  const plan = await parsePlan(await (await fetch("/v1/plan")).text());
  verifyPlan(plan);
  const survey = new Model(formOf(plan));
  const send = async (message) => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("/v1/reports", { method: "POST", headers, body: JSON.stringify(message) });
    return response.text();
  };
  answerOnComplete(survey, plan, { store: localStorage, send });
  survey.render(document.getElementById("form"));
</script>"""


def served(browser: Browser, installed: Path, text: str, sent: list[str], refusals: int) -> tuple[Page, list[str]]:
    """A page with the form of a plan, and the errors on it; the first reports meet a network that asks to sign in."""
    folders = [npm_packages(FOLDER / "surveyjs"), installed / "node_modules"]

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix("http://localhost/")
        if path == "v1/reports":
            sent.append(str(route.request.post_data))
            if len(sent) <= refusals:
                return route.fulfill(body="<html>Welcome</html>", content_type="text/html")
            return route.fulfill(json={"accepted": 1, "duplicate": 0})
        if path in ("", "v1/plan"):
            return route.fulfill(
                body=text if path else EXAMPLE, content_type="application/json" if path else "text/html"
            )
        file = next((folder / path for folder in folders if (folder / path).is_file()), None)
        return route.fulfill(path=file) if file else route.fulfill(status=404)

    page = browser.new_context().new_page()
    page.route("http://localhost/**", answer)
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto("http://localhost/")
    try:
        page.get_by_role("button", name="Complete").wait_for()
    except Exception:
        pytest.fail(f"the form was not made: {errors}")
    return page, errors


def test_follow_ups_and_lists_of_surveyjs(browser: Browser, installed: Path) -> None:
    """A follow-up appears with its condition, and what was entered is dropped with it; boxes, and one for none."""
    features = {
        "drugs": {"type": "binary", "values": ["never", "ever"]},
        "often": {"type": "ordinal", "values": ["monthly", "weekly"], "asked_if": {"drugs": "ever"}},
        "spent": {"type": "numeric", "bounds": [0, 9], "asked_if": {"often": ["weekly"]}},
        "media": {"type": "multiple", "values": ["tv", "print", "web"], "at_most": 2},
        "shows": {"type": "binary", "values": ["few", "many"], "asked_if": {"media": ["tv"]}},
    }
    plan, sent = make_plan(Policy(epsilon=2, features=features)), list[str]()
    page, errors = served(browser, installed, plan.text, sent, 0)

    def chosen(name: str) -> None:
        page.get_by_text(name, exact=True).click()

    def ticked(name: str) -> None:
        page.get_by_text(name, exact=True).click()

    expect(page.get_by_text("often", exact=True)).to_have_count(0)
    chosen("ever")
    chosen("weekly")
    page.get_by_role("spinbutton").fill("3")
    ticked("tv")
    ticked("web")
    expect(page.get_by_role("checkbox", name="print")).to_be_disabled()  # two of them at most
    chosen("many")
    chosen("never")
    expect(page.get_by_role("spinbutton")).to_have_count(0)
    with page.expect_response("**/v1/reports"):
        page.get_by_role("button", name="Complete").click()
    expect(page.get_by_text("saved successfully")).to_be_visible()
    assert not errors
    shown = page.evaluate(
        """async ([text, data]) => {
          const { parsePlan } = await import("bcdp-device");
          const { recordOf } = await import("bcdp-device/surveyjs");
          return recordOf(await parsePlan(text), data);
        }""",
        [plan.text, {"feature-0": 1, "feature-3": ["none"]}],
    )
    assert shown == {"drugs": "ever", "often": None, "spent": None, "media": [], "shows": None}
    page.context.close()


def test_a_form_of_surveyjs_is_filled_in_and_sends_a_report(browser: Browser, installed: Path) -> None:
    """In Chromium: required questions are asked for, and what leaves is a report and nothing that was entered."""
    text = json.loads((VECTORS / "told.json").read_text("utf-8"))["plan"]
    plan, sent = Plan.parse(text), list[str]()
    page, errors = served(browser, installed, text, sent, 1)  # a network that asks people to sign in
    names = [feature.label for feature in plan.policy.features.values()]
    for name in names:
        expect(page.get_by_text(name, exact=True).first).to_be_visible()
    page.get_by_role("button", name="Complete").click()
    expect(page.get_by_text("Response required.").first).to_be_visible()
    assert not sent
    page.get_by_role("spinbutton").fill("38")
    page.keyboard.press("Tab")
    page.get_by_role("radio", name="work").check(force=True)  # its circle is drawn by the label
    page.get_by_role("button", name="Complete").click()
    expect(page.get_by_text("answer: got no receipt")).to_be_visible()
    with page.expect_response("**/v1/reports"):
        page.get_by_role("button", name="Try again").click()
    expect(page.get_by_text("saved successfully")).to_be_visible()
    (first, second) = sent
    assert first == second
    message = json.loads(first)
    assert message["plan"] == plan.id
    assert [set(report) for report in message["reports"]] == [{"id", "menu", "answer"}]
    assert not errors
    page.context.close()
