"""The npm package bcdp-device, installed from its tarball in an empty folder: vectors, runtimes, types, SurveyJS."""

from __future__ import annotations

import gzip
import hashlib
import importlib.util
import json
import platform
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Route

from bcdp import Plan
from conftest import require
from npm_packages import FOLDER, npm_packages

ROOT = Path(__file__).resolve().parent.parent
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
    shutil.copy(ROOT / "tests" / "js" / "installed.mjs", folder)
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
    made = run(str(esbuild), "core.js", "--bundle", "--minify", "--format=esm", cwd=installed)
    assert len(gzip.compress(made.encode(), 9)) < 12 * 1024


def test_every_file_is_the_repositorys(installed: Path) -> None:
    folder = installed / "node_modules" / "bcdp-device"
    stated = json.loads((folder / "provenance.json").read_text())["sha256"]
    there = {str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file()}
    assert there == {*stated, "provenance.json"}
    for name, digest in stated.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == digest
        if name.startswith(("device/", "words/")):
            assert (folder / name).read_bytes() == (ROOT / "src" / "bcdp" / "web" / name).read_bytes()


EXAMPLE = """<!doctype html><html lang="en"><title>An example with SurveyJS</title>
<script type="importmap">{"imports": {"survey-core": "/survey.core.js", "bcdp-device": "/package/index.js",
"bcdp-device/surveyjs": "/package/surveyjs.js"}}</script>
<script type="module">
  import { Model } from "survey-core";
  import { parsePlan, verifyPlan } from "bcdp-device";
  import { answerOnComplete, formOf } from "bcdp-device/surveyjs";

  const plan = await parsePlan(await (await fetch("/v1/plan")).text());
  verifyPlan(plan);
  const survey = new Model(formOf(plan));
  const send = async (message) => {
    const headers = { "Content-Type": "application/json" };
    const response = await fetch("/v1/reports", { method: "POST", headers, body: JSON.stringify(message) });
    if (!response.ok) throw new Error(`status ${response.status}`);
  };
  answerOnComplete(survey, plan, { store: localStorage, send });
  window.survey = survey;
</script>"""


def test_a_form_of_surveyjs_sends_a_report(browser: Browser, installed: Path) -> None:
    """In Chromium: required questions are asked for, and what leaves is a report and nothing that was entered."""
    text = json.loads((VECTORS / "told.json").read_text("utf-8"))["plan"]
    plan = Plan.parse(text)
    core = next((npm_packages() / "survey-core").rglob("survey-core.mjs")).read_text("utf-8")
    package = installed / "node_modules" / "bcdp-device"
    sent: list[str] = []

    def answer(route: Route) -> None:
        path = route.request.url.removeprefix("http://localhost")
        if path == "/v1/reports":
            sent.append(str(route.request.post_data))
            route.fulfill(json={"accepted": 1, "duplicate": 0})
        elif path == "/survey.core.js":
            route.fulfill(body=core, content_type="text/javascript")
        elif path.startswith("/package/"):
            route.fulfill(path=package / path.removeprefix("/package/"), content_type="text/javascript")
        else:
            body, kind = (text, "application/json") if path == "/v1/plan" else (EXAMPLE, "text/html")
            route.fulfill(body=body, content_type=kind)

    context = browser.new_context()
    context.route("http://localhost/**", answer)
    page = context.new_page()
    errors: list[str] = []
    page.on("pageerror", lambda error: errors.append(str(error)))
    page.goto("http://localhost/")
    try:
        page.wait_for_function("window.survey")
    except Exception:
        pytest.fail(f"the form was not made: {errors}")
    questions = page.evaluate("survey.getAllQuestions().map((q) => [q.name, q.title, q.isRequired])")
    assert questions == [
        [f"feature-{place}", feature.label, feature.missing is None]
        for place, feature in enumerate(plan.policy.features.values())
    ]
    assert page.evaluate("survey.completeLastPage()") is False  # required ones are empty
    page.evaluate("survey.data = { 'feature-1': 38, 'feature-2': 1 }")
    assert page.evaluate("survey.completeLastPage()") is True
    page.wait_for_function("survey.completedState === 'success'")
    (message,) = map(json.loads, sent)
    assert message["plan"] == plan.id
    assert [set(report) for report in message["reports"]] == [{"id", "menu", "answer"}]
    context.close()
