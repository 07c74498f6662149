"""Tables and group means of follow-ups, of items of lists and of numbers without an answer."""

from __future__ import annotations

import json
import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from bcdp import Estimates, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.audit import verify_limits
from bcdp.correlation import correlation_of
from bcdp.mechanisms.survey.design.budget_limits import BudgetLimits
from bcdp.mechanisms.survey.design.classes.crossed_classes import crossed_classes, own_level, rises
from bcdp.plan.worst_prior import Within, joint_ratio
from bcdp.statistics.shared.block_targets import block_moment
from bcdp.statistics.shared.cell_targets import TableAxis, TableCells
from support.node import node

FEATURES: dict[str, Any] = {
    "drugs": {"type": "binary", "values": ["no", "yes"], "delta": 1},
    "often": {"type": "categorical", "values": ["monthly", "weekly"], "asked_if": {"drugs": "yes"}, "delta": 1.5},
    "spent": {"type": "numeric", "bounds": [0, 100], "asked_if": {"drugs": "yes"}, "delta": 1.5},
    "media": {"type": "multiple", "values": ["tv", "radio", "web"], "at_most": 2, "items": {"tv": {"delta": 1}}},
    "region": {"type": "categorical", "values": ["n", "s"]},
    "age": {"type": "numeric", "bounds": [18, 98], "ranges": [50]},
    "income": {"type": "numeric", "bounds": [0, 100], "missing": "own"},
}
PEOPLE = 100_000
SIGMAS = 7  # a false alarm once in 4e11 numbers


def _population() -> dict[str, Any]:
    rng = np.random.default_rng(34)
    region, drugs = rng.choice(["n", "s"], PEOPLE), rng.random(PEOPLE) < 0.4
    weekly = rng.random(PEOPLE) < np.where(region == "n", 0.8, 0.3)
    income = np.where(region == "n", 30.0, 60.0) + rng.integers(-20, 20, PEOPLE)
    ticked = rng.random((PEOPLE, 3)) < np.where(region == "n", 0.5, 0.2)[:, None]
    return {
        "region": region,
        "drugs": np.where(drugs, "yes", "no"),
        "often": np.where(drugs, np.where(weekly, "weekly", "monthly"), None),
        "spent": np.where(drugs, np.where(weekly, 70.0, 30.0), np.nan),
        "media": [[item for item, has in zip(("tv", "radio", "web"), row, strict=True) if has][:2] for row in ticked],
        "age": np.where(region == "n", 30.0, 70.0) + rng.integers(-10, 10, PEOPLE),
        "income": np.where(rng.random(PEOPLE) < np.where(region == "n", 0.9, 0.6), income, np.nan),
    }


DATA = _population()


def _collected(*tasks: dict[str, Any]) -> tuple[Plan, Estimates]:
    plan = make_plan(Policy(epsilon=3, features=FEATURES, correlation=0.1, tasks=tasks))
    assert not verify_limits(plan.text).objections
    return plan, estimate(Tally(plan).add(privatize(plan, DATA)))


def _shares(
    rows: npt.NDArray[Any], columns: npt.NDArray[Any], values: tuple[tuple[Any, ...], ...]
) -> list[list[float]]:
    return [[float(np.mean((rows == a) & (columns == b))) for b in values[1]] for a in values[0]]


def _near(table: Any, truth: list[list[float]]) -> None:
    for row, true_row in zip(table.cells, truth, strict=True):
        for cell, share in zip(row, true_row, strict=True):
            assert abs(cell.raw - share) <= SIGMAS * cell.se + 1e-12  # nobody has what cannot occur
            assert cell.se < 0.05  # a truth that depends on the region is not covered by chance


def test_tables_of_a_follow_up_of_an_item_and_inside_a_block() -> None:
    plan, estimates = _collected(
        {"table": ["often", "region"]},
        {"table": ["media", "region"], "items": {"media": ["radio"]}},
        {"table": ["drugs", "often"]},
        {"table": ["drugs", "age"]},
    )
    often, region = np.where(DATA["often"] == None, "not applicable", DATA["often"]), DATA["region"]  # noqa: E711
    table = estimates.tables["often", "region"]
    assert table.values == (("monthly", "weekly", "not applicable"), ("n", "s"))
    _near(table, _shares(often, region, table.values))
    assert table.independence.p < 1e-6
    radio = np.array(["ticked" if "radio" in ticked else "not ticked" for ticked in DATA["media"]])
    table = estimates.tables["media: radio", "region"]
    _near(table, _shares(radio, region, table.values))
    table = estimates.tables["drugs", "often"]
    _near(table, _shares(DATA["drugs"], often, table.values))
    older = np.where(DATA["age"] < 50, "18 to 50", "50 to 98")
    _near(estimates.tables["drugs", "age"], _shares(DATA["drugs"], older, (("no", "yes"), ("18 to 50", "50 to 98"))))
    assert json.loads(node("tests/js/verify.js", given=json.dumps([plan.text]))) == ["kept"]


def test_a_list_without_items_has_a_table_for_each() -> None:
    plan, estimates = _collected({"table": ["region", "media"]})
    assert list(estimates.tables) == [("region", f"media: {item}") for item in ("tv", "radio", "web")]
    assert [document["features"] for document in estimates.to_dict()["tables"]] == [*map(list, estimates.tables)]
    assert plan.certificate.features["media"].items["tv"].certified <= 1


def test_means_by_group_of_who_was_asked_and_who_answered() -> None:
    _, estimates = _collected({"mean": ["spent", "income"], "by": "region"}, {"mean": ["age"], "by": "often"})
    for name in ("spent", "income"):
        for group, mean in estimates.groups[name, "region"].values.items():
            truth = float(np.nanmean(DATA[name][DATA["region"] == group]))
            assert abs(mean.raw - truth) < SIGMAS * mean.se < 70
    assert estimates.groups["spent", "region"].values["n"].rule == "spent: among those asked"
    assert estimates.groups["income", "region"].values["n"].rule == "income: among those who answered"
    difference = estimates.groups["income", "region"].differences["n", "s"]
    assert difference.high < 0  # about -30
    for group in ("monthly", "weekly"):
        mean = estimates.groups["age", "often"].values[group]
        truth = float(DATA["age"][DATA["often"] == group].mean())
        assert abs(mean.raw - truth) < SIGMAS * mean.se < 40


@pytest.mark.parametrize(
    ("sizes", "delta", "q", "epsilon"),
    [((2, 2), 0.3, 0.2, 2), ((2, 2), 0.3, 0.0, 2), ((2, 3), 0.5, 0.05, 2), ((2, 3), 0.5, 1.0, 2), ((3, 3), 1, 0.3, 1)],
)
def test_the_design_is_as_good_as_that_of_features_by_themselves(
    sizes: tuple[int, int], delta: float, q: float, epsilon: float
) -> None:
    """Of two features outside blocks both designs are known: n times the squared errors of all cells within 6%."""
    features = {
        name: {"type": "categorical", "values": [f"{name}{value}" for value in range(size)]}
        for name, size in zip("ab", sizes, strict=True)
    }
    features["a"]["delta"] = delta  # type: ignore[assignment]
    policy = Policy(epsilon=epsilon, features=features, correlation=q, tasks=[{"table": ["a", "b"]}])
    usual = make_plan(policy).certificate.objective
    (crossed,) = crossed_classes(
        BudgetLimits(policy, correlation_of(policy)), {TableCells((TableAxis("a"), TableAxis("b"))): 1.0}
    )
    assert usual is not None
    assert crossed.kind.aim is not None
    error = block_moment(crossed.kind.aim, crossed.kind.aim.largest) - 1 / math.prod(sizes)
    assert error < 1.06 * usual


def test_both_ways_to_keep_a_demand_keep_it() -> None:
    """The limits of the design against the exact worst prior, for columns that use them up: mostly they are reached."""
    rng = np.random.default_rng(8)
    reached = 0
    for _ in range(200):
        q, odds = float(rng.random()), float(rng.choice([1.5, 3.0, 20.0, math.inf]))
        within, demand, fall = (
            Within(min(q, Within(1.0, odds).odds_q), odds),
            float(rng.uniform(0.1, 2)),
            float(rng.uniform(0.1, 3)),
        )
        upper, lower = rises(demand, fall, within)
        if lower > 0:
            column = np.array([[1.0, math.exp(-fall)], [math.exp(upper), math.exp(lower - fall)]])
            assert _worst(column, within) <= demand + 1e-6
            reached += _worst(column, within) > demand - 1e-4
        own = own_level(demand, demand + fall, within)
        column = np.array([[1.0, math.exp(demand + fall - own)], [math.exp(own), math.exp(demand + fall)]])
        if own > 0:
            assert _worst(column, within) == pytest.approx(demand, abs=1e-6)
            reached += 1
    assert reached > 100


def _worst(column: npt.NDArray[np.float64], within: Within) -> float:
    weights = np.round(column * 2**40).astype(np.int64)[:, :, None]
    return math.log(joint_ratio(weights, weights, Fraction(1), within, ()))
