"""Until the first question is on the screen: of 60 questions with a list of 10,000 values, against a single question.

    python benchmarks/speed/survey_page.py [runs]

Prints both times at the median and their ratio, in Chromium; an error if the ratio is above 1.5. Plan and page come
from this machine, and the runs take turns.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from statistics import median
from typing import Any

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests"))
from bcdp import Policy, make_plan
from support.collector_fixtures import serving

MOST = 1.5
START = """addEventListener("DOMContentLoaded", () => {
  const waiting = setInterval(() => {
    const start = document.querySelector("#start");
    if (start.hidden) return;
    clearInterval(waiting);
    start.click();
    document.querySelector("#questions").getBoundingClientRect();
    window.shown = performance.now();
  }, 1);
});"""


def questions(number: int, values: int) -> dict[str, Any]:
    """Yes or no questions, and a long list after them."""
    features: dict[str, Any] = {f"q{n}": {"type": "binary"} for n in range(number)}
    if values:
        features["town"] = {"type": "categorical", "values": [f"town {n}" for n in range(values)]}
    return features


def shown(browser: Browser, url: str, text: str) -> float:
    """Milliseconds from the request of the page to its first question."""
    context = browser.new_context(viewport={"width": 390, "height": 844})
    page = context.new_page()
    page.route("**/v1/plan", lambda route: route.fulfill(body=text))
    page.add_init_script(START)
    page.goto(url)
    page.locator("#form").wait_for()
    taken = float(page.evaluate("window.shown"))
    context.close()
    return taken


def main(runs: int) -> None:
    """Takes turns, so that whatever else the machine does counts for both."""
    plans = [make_plan(Policy(epsilon=2, features=questions(*size))) for size in ((1, 0), (59, 10_000))]
    with tempfile.TemporaryDirectory() as name, sync_playwright() as playwright:
        folder = Path(name)
        plans[0].save(folder / "plan.json")
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        with serving(folder, folder / "plan.json", str(folder / "reports.db"), "--rate", "0") as server:
            taken = [[shown(browser, server.url, plan.text) for plan in plans] for _ in range(runs)]
        browser.close()
    one, many = (median(column) for column in zip(*taken, strict=True))
    print(f"one question {one:.0f} ms, 60 questions {many:.0f} ms: a ratio of {many / one:.2f}, {MOST} allowed")
    sys.exit(many / one > MOST)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 9)
