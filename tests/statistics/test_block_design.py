"""The question about a block: near the best table that any design has, and unbiased among all and among those asked."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from scipy.optimize import minimize

from bcdp import Policy, Tally, estimate, make_plan, privatize
from bcdp.statistics.shared.follow_ups import AskedMean, AskedShare

Array = npt.NDArray[np.float64]


def extreme_columns(limits: Array) -> list[Array]:
    """All extreme columns whose entries differ by at most the limits: as many as can are at theirs."""
    size = len(limits)
    pairs = list(itertools.permutations(range(size), 2))
    found = {}
    for tight in itertools.combinations(pairs, size - 1):
        system = np.zeros((size, size))
        system[0, 0] = 1.0
        for row, (a, b) in enumerate(tight, start=1):
            system[row, a], system[row, b] = 1.0, -1.0
        if np.linalg.matrix_rank(system) < size:
            continue
        logs = np.linalg.solve(system, np.array([0.0, *(limits[a, b] for a, b in tight)]))
        if all(logs[a] - logs[b] <= limits[a, b] + 1e-12 for a, b in pairs):
            found[tuple(np.round(logs - logs.max(), 9))] = np.exp(logs - logs.max())
    return list(found.values())


def least_criterion(criterion: Array, limits: Array) -> float:
    """The least `tr(C M^-1)` of any table within the limits, by a general solver over all extreme columns."""
    columns = np.array([np.ones(len(limits)), *extreme_columns(limits)]).T

    def value(used: Array) -> float:
        table = columns * used
        return float(np.trace(criterion @ np.linalg.pinv((table / table.mean(axis=0)) @ table.T)))

    start = np.linalg.lstsq(columns, np.ones(len(limits)), rcond=None)[0].clip(0.01)
    rows: Any = {"type": "eq", "fun": lambda used: columns @ used - 1}
    best = math.inf
    for seed in range(5):
        begin = start * np.random.default_rng(seed).uniform(0.5, 1.5, len(start))
        solved = minimize(
            value, begin, constraints=[rows], bounds=[(1e-9, None)] * len(start), options={"maxiter": 500}
        )
        if np.abs(columns @ solved.x - 1).max() < 1e-6:
            best = min(best, float(solved.fun))
    return best


def test_a_follow_up_is_asked_nearly_as_well_as_can_be() -> None:
    features: dict[str, Any] = {
        "drugs": {"type": "binary", "values": ["no", "yes"], "delta": 0.3},
        "often": {"type": "categorical", "values": ["monthly", "weekly"], "asked_if": {"drugs": "yes"}, "delta": 0.5},
    }
    tasks = [{"share": {"drugs": ["yes"]}}, {"frequency": ["often"]}]
    plan = make_plan(Policy(epsilon=2, features=features, tasks=tasks))
    drugs, often = np.array([[0.0], [1], [1]]), np.array([[0.0, 0, 1], [1, 0, 0], [0, 1, 0]])  # no; monthly; weekly
    limits = np.array([[0, 0.3, 0.3], [0.3, 0, 0.5], [0.3, 0.5, 0]])
    table = plan.tables[0].dense().weights / 2.0**32
    inverse = np.linalg.inv((table / table.mean(axis=0)) @ table.T)
    weights = _design_weights(plan.policy)
    criterion = sum(weight * target @ target.T for weight, target in zip(weights, (drugs, often), strict=True))
    assert float(np.trace(criterion @ inverse)) < 1.03 * least_criterion(np.asarray(criterion), limits)


def _design_weights(policy: Policy) -> list[float]:
    """How much each task's squared error counts: a share four times, frequencies by those of two values."""
    (share, frequency) = policy.tasks
    ((first, _),), ((second, _),) = list(share.targets(policy)), list(frequency.targets(policy))
    return [share.scale(policy, first, 0.3), frequency.scale(policy, second, 0.5)]


@pytest.mark.parametrize("missing", [None, "own"])
def test_estimates_of_all_and_among_those_asked(missing: str | None) -> None:
    rule = {"missing": missing} if missing else {}
    features: dict[str, Any] = {
        "kind": {"type": "categorical", "values": ["a", "b", "c"]},
        "more": {"type": "ordinal", "values": [1, 2, 3], "asked_if": {"kind": ["b", "c"]}, **rule},
        "flag": {"type": "binary", "asked_if": {"kind": "c"}},
        "much": {"type": "numeric", "bounds": [0, 8], "asked_if": {"more": 3}, **rule},
    }
    plan = make_plan(Policy(epsilon=3, features=features, tasks=[
        {"mean": ["more", "flag", "much"]}, {"frequency": ["kind", "more"]}, {"share": {"more": [2, 3]}},
    ]))  # fmt: skip
    rng = np.random.default_rng(3)
    people = 60_000
    kind = rng.choice(["a", "b", "c"], people, p=[0.3, 0.3, 0.4])
    more: Array = np.where(kind == "a", np.nan, rng.choice([1, 2, 3], people, p=[0.2, 0.3, 0.5]))
    silent = rng.random(people) < (0.2 if missing else 0.0)
    more = np.where(silent, np.nan, more)
    flag = np.where(kind == "c", rng.random(people) < 0.7, np.nan)
    much = np.where(more == 3, rng.uniform(2, 6, people), np.nan)
    records = {"kind": kind.tolist(), **{name: [None if math.isnan(v) else v for v in column] for name, column in
               {"more": more, "flag": flag, "much": much}.items()}}  # fmt: skip
    found = estimate(Tally(plan).add(privatize(plan, records)))
    for name, column in (("more", more), ("flag", flag), ("much", much)):
        mean = found.means[name]
        assert isinstance(mean, AskedMean)
        assert abs(mean.value - np.nanmean(column)) < 6.2 * mean.se  # two false alarms in 10^9
        assert abs(mean.asked.raw - np.isfinite(column).mean()) < 6.2 * mean.asked.se
    for value in (1, 2, 3):
        share = found.frequencies["more"][value]
        assert isinstance(share, AskedShare)
        assert abs(share.raw - np.mean(more == value)) < 6.2 * share.se
        assert abs(share.among.raw - np.mean(more[np.isfinite(more)] == value)) < 6.2 * share.among.se
    assert list(found.frequencies["more"]) == [1, 2, 3, *(["no answer"] if missing else []), "not applicable"]
    assert (
        abs(found.frequencies["more"]["not applicable"].raw - np.mean(kind == "a"))
        < 6.2 * found.frequencies["more"]["not applicable"].se
    )
    share = found.shares["more"]["2 or 3"]
    assert abs(share.raw - np.mean(np.isin(more, [2, 3]))) < 6.2 * share.se
    assert [section.subject for section in found.sections()].count("more: asked") == 1
