"""The survey page and the dashboard in a browser: a collector, a visit, and what a person does there."""

from __future__ import annotations

import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from bcdp import Plan, Policy, make_plan

TOKEN = "a-token-of-the-operator"
POLICY: dict[str, Any] = {
    "epsilon": 2,
    "correlation": 0.05,
    "features": {
        "age": {"type": "numeric", "bounds": [18, 100]},
        "income": {
            "type": "numeric",
            "bounds": [0, 200000],
            "delta": 0.2,
            "missing": 0,
            "label": "Yearly income",
            "help": "Before tax.",
        },
        "smoker": {"type": "binary", "values": ["no", "yes"], "delta": 0.2, "label": "Do you smoke?"},
        "region": {"type": "categorical", "values": ["north", "south", "east", "west"]},
        "town": {"type": "categorical", "values": [f"town {i}" for i in range(12)], "label": "Your town"},
    },
}


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(Policy(**POLICY))


@pytest.fixture(scope="module")
def server(plan: Plan, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a collector with an empty store."""
    folder = tmp_path_factory.mktemp("collector")
    plan.save(folder / "plan.json")
    (folder / "token").write_text(TOKEN)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    bcdp = str(Path(sys.executable).with_name("bcdp"))
    command = [bcdp, "serve", "plan.json", f"--port={port}", "--token-file=token", "--rate=0", "--refresh=1"]
    address = f"http://127.0.0.1:{port}"
    with (folder / "log").open("w") as log, subprocess.Popen(command, cwd=folder, stdout=log, stderr=log) as process:
        try:
            for _ in range(300):
                try:
                    urllib.request.urlopen(f"{address}/healthz").close()
                    break
                except OSError:
                    assert process.poll() is None, (folder / "log").read_text()
                    time.sleep(0.1)
            yield address
        finally:
            process.terminate()


class Visit:
    """A person's browser with nothing remembered: the page, every request it made and every complaint."""

    def __init__(self, browser: Browser, server: str, width: int = 1100) -> None:
        self.server = server
        self.context = browser.new_context(viewport={"width": width, "height": 844})
        self.page = self.context.new_page()
        self.page.set_default_timeout(20_000)
        self.requests: list[Request] = []
        self.complaints: list[str] = []
        self.page.on("request", lambda request: self.requests.append(request))  # builtins cannot be handlers
        self.page.on("pageerror", lambda error: self.complaints.append(str(error)))
        self.page.on("console", lambda line: self.complaints.append(line.text) if line.type == "error" else None)

    def open(self, path: str = "/") -> Page:
        self.page.goto(self.server + path)
        return self.page

    def sent(self) -> list[str]:
        return [str(request.post_data) for request in self.requests if request.method == "POST"]

    def kept(self) -> dict[str, str]:
        kept: dict[str, str] = self.page.evaluate("({...localStorage, ...sessionStorage})")
        return kept


@pytest.fixture
def visit(browser: Browser, server: str) -> Iterator[Visit]:
    visit = Visit(browser, server)
    yield visit
    visit.context.close()


def begin(page: Page) -> None:
    """To the first question."""
    page.locator("#start").click()
    expect(page.locator("#form")).to_be_visible()


def go_on(page: Page) -> None:
    """To the next question, or to the review after the last."""
    page.locator("#next").click()


def fill(page: Page) -> None:
    """From the first screen to the last question."""
    begin(page)
    page.get_by_label("age", exact=True).fill("44")
    go_on(page)
    page.get_by_label("Yearly income").fill("41000")
    go_on(page)
    page.get_by_role("group", name="Do you smoke?").get_by_label("yes").check()
    go_on(page)
    page.get_by_role("group", name="region").get_by_label("east").check()
    go_on(page)
    page.get_by_label("Your town").select_option("town 3")


def ask(page: Page) -> None:
    """Goes on from a question: to the review, and from there to what would be sent."""
    page.get_by_role("button", name="Review my answers").click()
    page.get_by_role("button", name="Show me what would be sent").click()
    expect(page.locator("#preview")).to_be_visible()


def would_send(page: Page) -> str:
    """What would be sent, letter for letter; it is folded."""
    return page.locator("#body").text_content() or ""


def send(page: Page) -> dict[str, int]:
    """What the collector says to the message."""
    with page.expect_response("**/v1/reports") as response:
        page.get_by_role("button", name="Send it").click()
    counts: dict[str, int] = response.value.json()
    return counts


def shown_plan(visit: Visit, plan: Plan) -> Page:
    visit.page.route("**/v1/plan", lambda route: route.fulfill(status=200, body=plan.text))
    return visit.open()


CONTRASTS = """() => {
  const light = (rgb) => rgb.map((c) => c / 255).map((c) => (c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4))
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const rgba = (text) => text.match(/[\\d.]+/g).map(Number);
  const ground = (node) => {
    const color = rgba(getComputedStyle(node).backgroundColor);
    return color[3] === 0 ? ground(node.parentElement) : color.slice(0, 3);
  };
  const shown = [...document.body.querySelectorAll("*")].filter((node) => node.checkVisibility()
    && [...node.childNodes].some((child) => child.nodeType === 3 && child.textContent.trim()));
  return shown.map((node) => {
    const pair = [light(rgba(getComputedStyle(node).color).slice(0, 3)), light(ground(node))].sort((a, b) => a - b);
    return [(pair[1] + 0.05) / (pair[0] + 0.05), node.outerHTML.slice(0, 80)];
  });
}"""


def assert_readable(page: Page) -> None:
    """Text has the contrast of WCAG 2.2 AA, controls are named and large enough, nothing is wider than the screen."""
    contrasts = page.evaluate(CONTRASTS)
    assert len(contrasts) > 5
    assert [entry for entry in contrasts if entry[0] < 4.5] == []
    width = page.viewport_size["width"] if page.viewport_size else 0
    assert page.evaluate("document.documentElement.scrollWidth") <= width
    for control in page.locator("input:visible, select:visible, button:visible").all():
        assert control.evaluate("node => node.labels?.length || node.textContent.trim().length") > 0
        box = control.evaluate(
            "node => (['radio', 'checkbox'].includes(node.type) ? node.parentElement : node)"
            ".getBoundingClientRect().height"
        )
        assert box >= 44


def enter(page: Page, token: str) -> None:
    page.get_by_label("The operator's token").fill(token)
    page.get_by_role("button", name="Open").click()
