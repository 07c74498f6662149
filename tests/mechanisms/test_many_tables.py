"""All tables of many features that differ: better than pair by pair, with an honest gap, and within a time if asked."""

from __future__ import annotations

import itertools
import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bcdp import InputError, Plan, Policy, make_plan
from bcdp.cli import main
from bcdp.mechanisms.survey.design import column_generation
from bcdp.mechanisms.survey.design.classes.many_classes import balanced, fewest
from bcdp.mechanisms.survey.design.column_generation import balance
from bcdp.mechanisms.survey.design.joint import candidates


def all_tables(features: int) -> Policy:
    """Features of which no two are asked alike: values and demands differ."""
    kinds = [{"type": "categorical", "values": [str(v) for v in range(k)]} for k in (3, 4, 5, 6)]
    kinds = [{"type": "binary"}, *kinds, {"type": "numeric", "bounds": [0, 10], "ranges": [3, 6]}]
    declared: dict[str, Any] = {f"f{i}": kinds[i % 6] | {"delta": (0.5, 2.0)[i // 6 % 2]} for i in range(features)}
    tasks = [{"table": [a, b]} for a, b in itertools.combinations(declared, 2)]
    return Policy(epsilon=2, features=declared, correlation=0.1, tasks=tasks)


@pytest.fixture(scope="module")
def planned() -> tuple[Plan, list[str]]:
    """The plan for all tables of twelve features, and what was said meanwhile."""
    said: list[str] = []
    return make_plan(all_tables(12), progress=said.append), said


@pytest.mark.slow
def test_many_tables_are_planned_better_and_to_a_small_gap(
    planned: tuple[Plan, list[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    plan, said = planned
    policy = plan.policy
    assert len(policy.tasks) > candidates.MANY_INTERACTIONS
    assert said[0] == "66 tables that differ, some 7 seconds"
    assert plan.certificate.optimality_gap is not None
    assert plan.certificate.optimality_gap <= 1.05
    errors = []
    for many in (20, 10**6):  # of 36 tables
        for module in (candidates, column_generation):
            monkeypatch.setattr(module, "MANY_INTERACTIONS", many)
        errors.append(make_plan(all_tables(9)).certificate.objective or 0.0)
    assert 0 < errors[0] < 0.98 * errors[1]


@pytest.mark.slow
def test_a_time_limit_gives_the_best_so_far_with_its_gap(
    planned: tuple[Plan, list[str]], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where no time is left after the first round, the gap is large and stated; every promise holds as always."""
    best, policy = planned[0], all_tables(12)
    rounds: list[str] = []
    plan = make_plan(policy, progress=rounds.append, seconds=1e-6)
    assert sum("round" in line for line in rounds) == 1
    plan.verify()
    first, last = plan.certificate, best.certificate
    gaps = [certificate.optimality_gap or 0.0 for certificate in (first, last)]
    errors = [certificate.objective or 0.0 for certificate in (first, last)]
    assert errors[0] > errors[1] > 0
    assert gaps[0] > gaps[1] >= 1
    assert errors[0] / gaps[0] <= errors[1] * (1 + 1e-9)  # what it says of the best is true
    (tmp_path / "policy.yaml").write_text("epsilon: 1\nfeatures: {a: {type: binary}, b: {type: binary}}\n")
    assert main(["plan", str(tmp_path / "policy.yaml"), "--seconds", "5", "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["features"]
    assert main(["plan", str(tmp_path / "policy.yaml"), "--seconds", "-1"]) == 2
    assert "seconds" in capsys.readouterr().err
    with pytest.raises(InputError, match="seconds: got nan; accepted: a positive number"):
        make_plan(policy, seconds=float("nan"))


def test_the_multiplicative_rule_and_newton_agree() -> None:
    rng = np.random.default_rng(3)
    for menus, classes in ((4, 3), (30, 10), (60, 40)):
        informations = rng.random((menus, classes)) * (rng.random((menus, classes)) < 0.5) + 1e-3
        sizes, weights = rng.integers(1, 4, classes), rng.random(classes) + 0.1
        objectives = [
            column_generation._objective(informations, sizes, weights, found)[0]
            for found in (
                balance(informations, sizes, weights),
                balanced(informations, sizes, weights, np.full(menus, 1 / menus), 1e-4),
            )
        ]
        assert objectives[0] <= objectives[1] * (1 + 1e-7)
        assert objectives[1] <= objectives[0] * (1 + 1e-4)


def test_the_fewest_menus_are_the_most_frequent() -> None:
    probabilities = np.array([0.1, 0.4, 0.05, 0.45])
    assert fewest(probabilities, lambda kept: len(kept) >= 2).tolist() == [1, 3]
    assert fewest(probabilities, lambda kept: False).tolist() == [0, 1, 2, 3]
