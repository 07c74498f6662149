"""Plans under q and odds: as accurate as is known to be possible, never worse than without odds, kept exactly."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bcdp import Policy, make_plan
from bcdp.correlation import PerFeature, correlation_of
from bcdp.correlation.leakage import leakage
from bcdp.mechanisms.survey import lower_bound
from bcdp.mechanisms.survey.design.budget_limits import binding
from bcdp.mechanisms.survey.design.classes.feature_classes import FeatureClass
from bcdp.mechanisms.survey.design.information import Kind
from bcdp.mechanisms.survey.design.joint.subset_families import SubsetFamily
from bcdp.mechanisms.survey.design.joint.tables import best_shape, shaped_table
from bcdp.mechanisms.survey.design.linear_programs import Demand
from bcdp.mechanisms.survey.design.menu_pricing import caps
from bcdp.notions import bcdp_from
from bcdp.plan import certify, joint_delta
from bcdp.statistics import Single
from support.sweeps import some

pytestmark = pytest.mark.slow

ROUNDING = 1e-9  # relative, of sums of doubles
PARTS = ((0.0, 0.2), (0.2, 0.7), (0.7, 1.0))


def paper_policy(q: float, odds: float | None) -> Policy:
    features = {f"x{i}": {"type": "binary", "delta": 0.2 if i < 2 else 2.0} for i in range(10)}
    stated = {"q": q} | ({} if odds is None else {"odds": odds})
    return Policy(epsilon=2, features=features, correlation=stated)


@pytest.mark.parametrize(
    ("q", "odds", "most"),
    [(1.0, 1.22, 599), (1.0, 2.0, 2029), (1.0, 5.0, 5414), (0.23, 3.0, 1617), (0.12, 1.5, 805)],
)
def test_the_paper_setting_is_planned_as_well_as_is_known(q: float, odds: float, most: float) -> None:
    plan = make_plan(paper_policy(q, odds))
    assert plan.certificate.objective is not None
    assert plan.certificate.objective <= most
    assert certify(plan).delta["x0"] <= 0.2
    assert plan.correlation["odds"] == {"default": odds}


def random_policy(rng: np.random.Generator) -> dict[str, Any]:
    kinds: list[dict[str, Any]] = [
        {"type": "binary"},
        {"type": "categorical", "values": [0, 1, 2]},
        {"type": "numeric", "bounds": [0, 1]},
    ]
    deltas = rng.choice([0.1, 0.2, 0.5, 1.0, 2.0], size=int(rng.integers(2, 5)))
    features = {
        f"x{i}": {**kinds[int(rng.integers(len(kinds)))], "delta": float(delta)} for i, delta in enumerate(deltas)
    }
    return {"epsilon": 2.0, "features": features}


def objective(document: dict[str, Any], correlation: object) -> float:
    found = make_plan(Policy(**{**document, "correlation": correlation})).certificate.objective
    assert found is not None
    return found


def ratios(policies: int, seed: int) -> Iterator[float]:
    """The error of random policies planned with odds over that without."""
    rng = np.random.default_rng(seed)
    for _ in range(policies):
        document, q, odds = random_policy(rng), float(rng.choice([0.05, 0.2, 0.5, 1.0])), float(rng.uniform(1, 5))
        yield objective(document, {"q": q, "odds": odds}) / objective(document, q)


def test_odds_never_cost_accuracy() -> None:
    """A few random policies; `make nightly` tries 200."""
    assert max(ratios(len(some(12, 3)), seed=0)) <= 1 + ROUNDING


@pytest.mark.parametrize("odds", [1.0, 1.1, 1.5, 4.0, 1e9])
def test_budgets_of_larger_menus_solve_the_theorem(odds: float) -> None:
    """At the cap the demand is met exactly; a hair more breaks it, unless the cap is the whole menu."""
    for delta, q in itertools.product((0.1, 0.5), (0.05, 0.4, 1.0)):
        of_class = FeatureClass((Single("x"),), Kind("binary"), delta, q, 1.0, 1.0, odds=odds)
        totals = np.linspace(0.02, 2.5, 40)
        for total, cap in zip(totals, caps(totals, of_class), strict=True):
            if cap == -math.inf:
                assert bcdp_from(0.0, total, q, odds) > delta - 1e-12
                continue
            assert bcdp_from(cap, total, q, odds) <= delta + 1e-9
            assert cap == pytest.approx(total) or bcdp_from(cap + 1e-4, total, q, odds) > delta


@pytest.mark.parametrize(
    ("place", "shared", "parts"),
    [
        (SubsetFamily(Kind("binary")), False, ()),
        (SubsetFamily(Kind("binary")), True, ()),
        (SubsetFamily(Kind("categorical", 4), 2), False, ()),
        (SubsetFamily(Kind("numeric")), True, PARTS),
    ],
)
def test_shapes_are_kept_exactly_and_use_what_odds_allow(place: SubsetFamily, shared: bool, parts: Any) -> None:
    """The integer table keeps the demand by its certificate, hardly mixed with noise, and tells more than without."""
    worth = {}
    for odds in (1.3, 2.0, math.inf):
        demands = (Demand(0.2, 0.2, shared, place, parts, odds), Demand(2.0, 0.0, False))
        prices = np.array([20.0, 1.0])
        shape = best_shape(prices, demands, 1.2, ((0.1, 0.5),))
        levels = tuple(demand.place.kind.values for demand in demands)
        level = joint_delta(shaped_table(shape), levels, 0, Fraction(1), 0.2, shared, parts, odds)
        assert 0.2 * (1 - 1e-4) < level <= 0.2
        worth[odds] = float(prices @ shape.information)
    assert worth[1.3] > worth[2.0] > worth[math.inf]


def test_a_question_is_limited_by_odds_where_they_say_more_than_q() -> None:
    """An unasked feature with odds of at most e^delta forbids nothing; with more, the theorem's limit."""
    features = {"smoker": {"type": "binary", "delta": 0.2}, "cough": {"type": "binary"}}
    for odds, free in ((1.2, True), (1.5, False)):
        policy = Policy(epsilon=2, features=features, correlation={"odds": odds})
        model = correlation_of(policy)
        found = binding(policy, model, "cough")
        assert (found.by is None) == free
        assert bcdp_from(0.0, found.budget, 1.0, odds) <= 0.2 + 1e-9
        told = leakage(policy, model, {"smoker": 0.2, "cough": found.budget})[0, 1]
        assert told == pytest.approx(float(bcdp_from(0.0, found.budget, 1.0, odds)))


def test_the_bound_on_all_mechanisms_knows_odds() -> None:
    policy = paper_policy(1.0, 1.5)
    plan = make_plan(policy)
    bound = lower_bound(policy, PerFeature(1.0, {}, "assumed", 1.5), plan)
    assert bound.numerical is not None
    assert plan.certificate.objective is not None
    assert bound.closed_form <= bound.numerical <= plan.certificate.objective <= 1.01 * bound.numerical
