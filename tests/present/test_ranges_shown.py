"""A number that says more within a range than its range does: what is promised, and what is shown beside it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml

from bcdp import Plan
from bcdp.audit import audit_plan, finer_levels, population_from_records, population_of, verify_limits
from bcdp.cli.app import main
from bcdp.correlation import Listed
from bcdp.mechanisms.planning import make_plan
from bcdp.policy import Policy
from bcdp.present.promise import promises
from bcdp.present.words import odds
from support.node import node

QUARTERS = "for guesses which of these ranges it is in and no finer ones: 0 to 25, 25 to 50, 50 to 75, 75 to 100"
KINK = "for guesses which of these ranges it is in and no finer ones: 0 to 5, 5 to 25, 25 to 100"
EACH = 400  # people at each of 200 wages; no chance in it, so that nothing is seen by chance


def wages(kink: float = 5.0) -> pd.DataFrame:
    """Below the kink nearly all work part-time, up to a quarter nearly nobody; by quarters, wage says nothing of it."""
    wage = np.repeat(np.arange(200) / 2 + 0.25, EACH)
    place = np.tile(np.arange(EACH) / EACH, 200)
    share = np.where(wage < kink, 0.95, np.where(wage < 25, 0.05, 0.95 * kink / 25 + 0.05 * (1 - kink / 25)))
    return pd.DataFrame({"wage": wage, "part": (place < share).astype(int)})


def policy_with(ranges: list[float] | None) -> dict[str, Any]:
    wage = {"type": "numeric", "bounds": [0, 100], "delta": 0.5} | ({} if ranges is None else {"ranges": ranges})
    features = {"wage": wage, "part": {"type": "binary"}}
    return {"epsilon": 2.0, "features": features, "correlation": {"pilot": "sample.csv"}}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("wages")
    wages().to_csv(place / "sample.csv", index=False)
    for name, ranges in (("quarters", None), ("kink", [5, 25])):
        (place / f"{name}.yaml").write_text(yaml.safe_dump(policy_with(ranges)))
        assert main(["plan", str(place / f"{name}.yaml"), "-o", str(place / f"{name}.json"), "--json"]) == 0
    return place


def run(capsys: pytest.CaptureFixture[str], *arguments: object, code: int = 0) -> str:
    capsys.readouterr()
    assert main([str(argument) for argument in arguments]) == code
    return " ".join(capsys.readouterr().out.split())


def test_the_promise_is_about_quarters_and_says_so(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """The audit, which judged by finer bins, refuted the promise; by its ranges it holds, and the leak is shown."""
    told = run(capsys, "audit", folder / "quarters.json", "--data", folder / "sample.csv")
    assert f"{QUARTERS}" in told
    assert "wage: WARNING: finer guesses, which its promise does not cover, tell more; for this population x" in told
    assert "every claim holds for this population" in told
    found = json.loads(run(capsys, "audit", folder / "quarters.json", "--data", folder / "sample.csv", "--json"))
    wage = found["features"]["wage"]
    assert wage["measured"] <= wage["certified"] <= 0.5 < 1.0 < wage["finer"]["16"] <= wage["finer"]["64"]
    assert wage["ranges"] == [25.0, 50.0, 75.0]
    assert "finer" not in found["features"]["part"]


def test_with_ranges_at_the_kink_finer_guesses_find_no_more(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    found = json.loads(run(capsys, "audit", folder / "kink.json", "--data", folder / "sample.csv", "--json"))
    wage = found["features"]["wage"]
    assert max(wage["measured"], *wage["finer"].values()) <= wage["certified"] <= 0.5
    assert wage["measured"] > 0.3
    assert "WARNING" not in run(capsys, "audit", folder / "kink.json", "--data", folder / "sample.csv")


def test_an_audit_by_ranges_still_finds_what_breaks_the_promise(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Power: people of whom the quarter tells more than it did in the sample."""
    wages(kink=20.0).assign(part=lambda frame: (frame["wage"] < 25).astype(int)).to_csv(
        folder / "others.csv", index=False
    )
    told = run(capsys, "audit", folder / "quarters.json", "--data", folder / "others.csv", code=1)
    assert "the certificate does NOT hold for this population" in told
    assert "moves the odds of wage 0 to 25 against" in told or "against 0 to 25" in told


def test_the_device_as_it_runs_is_judged_by_ranges_too(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    told = run(capsys, "audit", folder / "quarters.json", "--data", folder / "sample.csv", "--runs", 100_000)
    assert "the device as it runs" not in told


def test_a_plan_from_a_sample_shows_what_finer_guesses_gain_on_it(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    told = run(capsys, "plan", folder / "quarters.yaml")
    assert f"{QUARTERS}" in told
    assert "tell more; on the sample x" in told
    found = json.loads(run(capsys, "plan", folder / "quarters.yaml", "--json"))["features"]
    assert 1.0 < found["wage"]["finer"]["16"] <= found["wage"]["finer"]["64"] <= 2.0
    assert found["wage"]["ranges"] == [25.0, 50.0, 75.0]
    assert "finer" not in found["part"]


def test_the_report_and_the_check_say_which_guesses(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = folder / "page.html"
    run(capsys, "report", folder / "quarters.json", "--audit", folder / "sample.csv", "-o", page)
    text = page.read_text()
    assert text.count(f"{QUARTERS}.</li>") == 1  # stated once, and named in the sentence and in the table:
    assert text.count('href="#condition-a"') >= 3
    plan = Plan.load(folder / "quarters.json")
    level = audit_plan(plan, population_from_records(plan, [wages()])).finer["wage"][64]
    assert f"x{odds(level)} between 64: an observation on these records" in text
    told = run(capsys, "verify", folder / "kink.json", "--max-delta", "wage=0.5")
    assert KINK in told
    found = json.loads(run(capsys, "verify", folder / "kink.json", "--json"))["features"]
    assert (found["wage"]["ranges"], found["part"]["ranges"]) == ([5.0, 25.0], None)
    assert verify_limits(plan.text).ranges == {"wage": (25.0, 50.0, 75.0)}


def test_a_browser_says_which_guesses(folder: Path) -> None:
    script = (
        "import { readFileSync } from 'node:fs';"
        "import { explain, parsePlan, verifyPlan } from './src/bcdp/web/bcdp.js';"
        "const plan = await parsePlan(readFileSync(0, 'utf8')); verifyPlan(plan);"
        "console.log(explain(plan, { menu: 0, answer: 0 }).sentences.join('\\n'));"
    )
    told = node("--input-type=module", "--eval", script, given=Plan.load(folder / "kink.json").text)
    wage, part = (
        next(line for line in told.splitlines() if f"guess about “{name}”" in line) for name in ("wage", "part")
    )
    assert f"{KINK}. If that is wrong:" in wage
    assert "ranges" not in part


def test_an_assumed_q_speaks_of_all_guesses(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    """The audit of such a plan is by fine bins, as before, and fails where these tell more than was assumed."""
    policy = Policy.parse(policy_with([5, 25]) | {"correlation": 0.02})
    plan = make_plan(policy)
    assert promises(plan)["wage"].condition == "if the other answers move by at most q = 2 percentage points with it"
    plan.save(tmp_path / "plan.json")
    wages().to_csv(tmp_path / "people.csv", index=False)
    told = run(capsys, "audit", tmp_path / "plan.json", "--data", tmp_path / "people.csv", code=1)
    assert "ranges" not in told
    assert "ranges" not in run(capsys, "verify", tmp_path / "plan.json")


def test_rare_parts_are_left_out() -> None:
    """Ten people in a part of their own, all of one kind, show nothing; a hundred do."""
    policy = Policy.parse(policy_with([50]) | {"correlation": 1, "tasks": [{"mean": ["part"]}]})
    plan = make_plan(policy, Listed({("wage", frozenset({"part"})): 0.1}, "a sample", ranges={"wage": (50.0,)}))
    for few, seen in ((10, False), (100, True)):
        wage = np.concatenate([np.full(few, 1.0), np.repeat([10.0, 60.0], 5000)])
        part = np.concatenate([np.ones(few), np.tile([0, 1], 5000)])
        found = finer_levels(plan, population_from_records(plan, [{"wage": wage, "part": part.astype(int)}]))
        assert (found["wage"][64] > 0.1) == seen
    assert finer_levels(plan, population_from_records(plan, [{"wage": [1, 60] * 99, "part": [0, 1] * 99}])) == {}


def test_a_prior_over_fine_bins_is_judged_by_the_ranges_too() -> None:
    """Eight bins of a number, given as a law: within the lower half the number tells everything, the halves nothing."""
    policy = Policy.parse(policy_with([50]) | {"correlation": 1})
    plan = make_plan(policy, Listed({("wage", frozenset({"part"})): 0.0}, "a sample", ranges={"wage": (50.0,)}))
    law = np.zeros((8, 2))
    law[:2, 0], law[2:4, 1], law[4:] = 1 / 8, 1 / 8, 1 / 16
    found = audit_plan(plan, population_of(["wage", "part"], law))
    assert found.delta["wage"].kept
    assert found.finer["wage"][16] > found.delta["wage"].certified
