"""Odds where a plan is tried on data: audit, simulation, the mechanisms beside it, the leakage matrix."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bcdp import Policy, make_plan
from bcdp.audit import audit_plan, population_of
from bcdp.cli.app import main
from bcdp.compare.baselines import compare
from bcdp.compare.simulation import PAPER, SURVEY, simulate
from bcdp.correlation import FinitePrior, PerFeature, correlation_of
from bcdp.correlation.leakage import leakage
from bcdp.notions import bcdp_from

FEATURES: dict[str, Any] = {
    "smoker": {"type": "binary", "delta": 0.2},
    **{name: {"type": "binary"} for name in ("cough", "jogger", "tea", "car", "dog", "pipe", "piano", "boat")},
}


def policy(correlation: Any) -> Policy:
    return Policy(epsilon=2, features=FEATURES, correlation=correlation)


def population(odds: float) -> FinitePrior:
    """Whether somebody coughs moves the odds that she smokes by so much either way; the rest is chance."""
    share = odds / (1 + odds)
    pair = np.array([[share, 1 - share], [1 - share, share]]) / 2
    rest = np.full((2,) * (len(FEATURES) - 2), 0.5 ** (len(FEATURES) - 2))
    return FinitePrior(tuple(FEATURES), np.multiply.outer(pair, rest), "test")


def test_the_audit_finds_what_odds_allow_and_what_they_do_not() -> None:
    """In a population at the stated odds the promise is kept and nearly used up; beyond them it is seen broken."""
    plan = make_plan(policy({"odds": 1.5}))
    within, beyond = (population(odds) for odds in (1.5, 4.0))
    assert within.odds("smoker", set(FEATURES) - {"smoker"}) == pytest.approx(1.5)
    found = audit_plan(plan, population_of(within.names, within.probabilities)).delta["smoker"]
    assert found.measured <= found.certified <= 0.2
    assert found.measured > 0.85 * found.certified
    broken = audit_plan(plan, population_of(beyond.names, beyond.probabilities)).delta["smoker"]
    assert broken.measured > 0.25 > broken.certified


def test_the_command_fails_where_records_exceed_the_odds(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    features = {name: FEATURES[name] for name in ("smoker", "cough", "jogger")}
    make_plan(Policy(epsilon=2, features=features, correlation={"odds": 1.5})).save(tmp_path / "plan.json")
    for name, ones, failing in (("within", 60, 0), ("beyond", 95, 1)):
        pairs = {(0, 0): ones, (1, 1): ones, (0, 1): 100 - ones, (1, 0): 100 - ones}
        rows = [f"{s},{c},{j}" for (s, c), count in pairs.items() for j in (0, 1) for _ in range(count)]
        data = tmp_path / f"{name}.csv"
        data.write_text("smoker,cough,jogger\n" + "\n".join(rows) + "\n")
        assert main(["audit", str(tmp_path / "plan.json"), "--data", str(data), "--json"]) == failing
        found = json.loads(capsys.readouterr().out)["features"]["smoker"]
        assert (found["measured"] > found["certified"]) == bool(failing)


def test_plan_paper_and_simulation_gain_by_odds_alike() -> None:
    """The paper's mechanism is planned under the same odds; simulated errors are what both foretell."""
    stated, without = policy({"odds": 1.3}), policy(1.0)
    foretold = [compare(make_plan(one), correlation_of(one))["cough"] for one in (stated, without)]
    assert foretold[0].plan < 0.3 * foretold[1].plan
    assert foretold[0].paper < 0.8 * foretold[1].paper
    assert foretold[0].uniform == foretold[1].uniform
    data = {name: [0, 1] * 50 for name in FEATURES}
    rows = simulate(stated, data, users=40_000, trials=12)
    for curve, error in ((SURVEY, foretold[0].plan), (PAPER, foretold[0].paper)):
        (found,) = [r for r in rows if (r.panel, r.curve, r.n) == ("mean of cough", curve, max(r.n for r in rows))]
        expected = math.sqrt(error / found.n) / 2  # of shares; the median of |N(0, 1)| is 0.674
        assert 0.25 * 0.674 * expected < found.median < 2.5 * 0.674 * expected


def test_the_leakage_matrix_is_the_theorem() -> None:
    """Under q and odds together, under odds of 1, and without odds."""
    budgets = dict.fromkeys(FEATURES, 0.7)
    model = PerFeature(0.3, {}, "assumed", 2.0, {"cough": 1.0})
    found = leakage(policy({"q": 0.3, "odds": 2}), model, budgets)
    for i, name in enumerate(FEATURES):
        odds = 1.0 if name == "cough" else 2.0
        for j in range(len(FEATURES)):
            told = 0.7 if i == j else float(bcdp_from(0.0, 0.7, 0.3, odds))
            assert found[i, j] == pytest.approx(told, rel=1e-9)
    free = leakage(policy(0.3), PerFeature(0.3, {}), budgets)
    assert free[0, 1] == pytest.approx(float(bcdp_from(0.0, 0.7, 0.3)))
    assert free[0, 1] > found[0, 1]
