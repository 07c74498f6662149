"""A new statistic is one file and one line in the registry: it is planned, answered, estimated and told everywhere."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, expect

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.cli.app import main
from bcdp.collector.dashboard import operator_document
from bcdp.compare.simulation import simulate
from bcdp.policy.tasks import STATISTICS
from bcdp.present.pictures import estimate_figure
from bcdp.present.report import write_report
from bcdp.present.words import measured
from support.collector_fixtures import TOKEN, serving
from support.local_http import local
from support.node import node
from support.paths import ROOT
from support.web_pages import begin, go_on

FEATURES = {"smoker": {"type": "binary", "delta": 0.5}, "age": {"type": "numeric", "bounds": [0, 100]}}
PEOPLE = {"smoker": [0, 0, 0, 1] * 5_000, "age": [20, 40, 60, 80] * 5_000}


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan for the statistic, which the package knows for as long as the test runs."""
    monkeypatch.setitem(STATISTICS, "percentage", "support.toy_statistic.Percentage")
    tasks = [{"percentage": ["smoker"]}, {"mean": ["age"]}]
    return make_plan(Policy(epsilon=2, features=FEATURES, correlation=0.05, tasks=tasks))


def test_it_is_planned_answered_and_estimated(plan: Plan) -> None:
    """False alarm below 1e-9: 6.2 standard errors. Half a percentage instead of a whole one would be 50 of them off."""
    again = Plan.parse(plan.text)
    assert again.policy == plan.policy
    found = estimate(Tally(again).add(privatize(again, PEOPLE)))
    smokers = found.results["percentages"]["smoker"]
    assert abs(smokers.raw - 25) < 6.2 * smokers.se < 25
    assert found.to_dict()["percentages"]["smoker"]["value"] == smokers.value
    assert list(found.means) == ["age"]


def test_it_is_told_in_every_display(plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally(plan).add(privatize(plan, PEOPLE))
    found = estimate(tally)
    told = measured(found.results["percentages"]["smoker"].value, found.results["percentages"]["smoker"].se)
    plan.save(tmp_path / "plan.json")
    tally.save(tmp_path / "tally.json")
    assert main(["estimate", str(tmp_path / "plan.json"), str(tmp_path / "tally.json")]) in (0, None)
    terminal = capsys.readouterr().out
    assert "percent" in terminal
    assert told in terminal
    titles = [panel.figure.get_suptitle() for panel in estimate_figure(plan, found).axes]
    assert any(title.startswith(f"smoker = 1, in percent\n{told}") for title in titles)
    write_report(tmp_path / "report.html", plan, 20_000, found)
    assert "smoker = 1, in percent" in (tmp_path / "report.html").read_text("utf-8")
    document = json.loads(json.dumps(operator_document(tally)))
    assert [section["subject"] for section in document["sections"]] == ["Percentages", "Means"]


REGISTER = f"""
import sys; sys.path.insert(0, {str(ROOT / "tests")!r})
from bcdp.policy.tasks import STATISTICS
STATISTICS["percentage"] = "support.toy_statistic.Percentage"
"""
DRAW = """
import { readFileSync } from "node:fs";
import { answer, parsePlan, verifyPlan } from "./src/bcdp/web/bcdp.js";
const { text, records } = JSON.parse(readFileSync(0, "utf8"));
const plan = await parsePlan(text);
verifyPlan(plan);
const reports = records.map((record, number) => ({ id: `person-${number}`, ...answer(plan, record) }));
console.log(JSON.stringify({ plan: plan.id, reports }));
"""


@pytest.mark.slow
def test_devices_collector_and_dashboard_run_what_only_python_knows(
    plan: Plan, tmp_path: Path, browser: Browser, capsys: pytest.CaptureFixture[str]
) -> None:
    """From `bcdp verify` over the browser's device and the survey page to the dashboard. False alarm below 1e-9."""
    plan.save(tmp_path / "plan.json")
    assert main(["verify", str(tmp_path / "plan.json")]) in (0, None)
    assert "smoker" in capsys.readouterr().out
    with serving(
        tmp_path, tmp_path / "plan.json", str(tmp_path / "reports.db"), "--rate", "0", first=REGISTER
    ) as server:
        text = local.get(f"{server.url}/v1/plan").text
        records = [{"smoker": int(number % 4 == 0), "age": number % 100} for number in range(4_000)]
        message = json.loads(
            node("--input-type=module", "--eval", DRAW, given=json.dumps({"text": text, "records": records}))
        )
        for start in range(0, len(records), 1_000):
            batch = {**message, "reports": message["reports"][start : start + 1_000]}
            assert local.post(f"{server.url}/v1/reports", json=batch).json() == {"accepted": 1_000, "duplicate": 0}
        page = browser.new_page()
        page.goto(server.url)
        begin(page)
        page.get_by_role("group", name="smoker").get_by_label("yes").check()
        go_on(page)
        page.get_by_label("age", exact=True).fill("44")
        for step in ("Review my answers", "Show me what would be sent", "Send it"):
            page.get_by_role("button", name=step).click()
        expect(page.get_by_role("status")).to_have_text("Your answer was received. Thank you!")
        estimates = local.get(f"{server.url}/v1/estimates", headers={"authorization": f"Bearer {TOKEN}"}).json()
        smokers = next(row for row in _rows(estimates, "Percentages") if row["name"] == "smoker")
        assert abs(smokers["value"] - 25) < 6.2 * smokers["se"] < 25
        page.goto(f"{server.url}/dashboard")
        page.get_by_label("The operator's token").fill(TOKEN)
        page.get_by_role("button", name="Open").click()
        card = page.get_by_role("article").filter(has_text="smoker = 1, in percent")
        expect(card).to_contain_text(measured(smokers["value"], smokers["se"]))
        page.context.close()


def _rows(document: dict[str, Any], subject: str) -> list[dict[str, Any]]:
    return next(section["rows"] for section in document["sections"] if section["subject"] == subject)


def test_it_is_simulated(plan: Plan) -> None:
    rows = simulate(plan.policy, PEOPLE, users=640, trials=1)
    assert {row.panel for row in rows} == {"percentage of smoker", "mean of age"}


def test_its_mistakes_are_told_in_its_own_words(plan: Plan) -> None:
    with pytest.raises(InputError, match=r"tasks\[0\].percentage\[0\]: got 'age'; accepted: a categorical or binary"):
        Policy(epsilon=2, features=FEATURES, tasks=[{"percentage": ["age"]}])
    with pytest.raises(InputError, match=r"accepted: .*\{percentage: \[names\]\}"):
        Policy(epsilon=2, features=FEATURES, tasks=[{"median": ["age"]}])


def test_without_the_line_it_is_unknown() -> None:
    with pytest.raises(InputError, match=r"tasks\[0\]: got"):
        Policy(epsilon=2, features=FEATURES, tasks=[{"percentage": ["smoker"]}])
