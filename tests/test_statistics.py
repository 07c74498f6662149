"""A new statistic is one file and one line in the registry: it is planned, answered, estimated and told everywhere."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.cli.app import main
from bcdp.collector.operator import operator_document
from bcdp.compare.simulation import simulate
from bcdp.policy.tasks import STATISTICS
from bcdp.present.pictures import estimate_figure
from bcdp.present.report import write_report
from bcdp.present.words import measured

FEATURES = {"smoker": {"type": "binary", "delta": 0.5}, "age": {"type": "numeric", "bounds": [0, 100]}}
PEOPLE = {"smoker": [0, 0, 0, 1] * 5_000, "age": [20, 40, 60, 80] * 5_000}


@pytest.fixture
def plan(monkeypatch: pytest.MonkeyPatch) -> Plan:
    """A plan for the statistic, which the package knows for as long as the test runs."""
    monkeypatch.setitem(STATISTICS, "percentage", "toy_statistic.Percentage")
    tasks = [{"percentage": ["smoker"]}, {"mean": ["age"]}]
    return make_plan(Policy(epsilon=2, features=FEATURES, correlation=0.05, tasks=tasks))


def test_it_is_planned_answered_and_estimated(plan: Plan) -> None:
    """False alarm below 1e-9: 6.2 standard errors. Half a percentage instead of a whole one would be 50 of them off."""
    again = Plan.parse(plan.text)
    assert again.policy == plan.policy
    found = estimate(Tally(again).add(privatize(again, PEOPLE)))
    smokers = found.percentages["smoker"]
    assert abs(smokers.raw - 25) < 6.2 * smokers.se < 25
    assert found.to_dict()["percentages"]["smoker"]["value"] == smokers.value
    assert list(found.means) == ["age"]


def test_it_is_told_in_every_display(plan: Plan, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    tally = Tally(plan).add(privatize(plan, PEOPLE))
    found = estimate(tally)
    told = measured(found.percentages["smoker"].value, found.percentages["smoker"].se)
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
