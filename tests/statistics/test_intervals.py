"""Intervals that cover, by enumeration where the answers are binomial; standard errors that are the largest there are.

Counts are made or drawn from the exact law of the answers. Every check is also shown an interval, or a prediction, that
is wrong by design, which it must catch.
"""

from __future__ import annotations

import math
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom, t

from bcdp import Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.compare.baselines import compare, standard_error
from bcdp.correlation import correlation_of
from bcdp.estimates import Estimate
from bcdp.exact import TOTAL
from bcdp.mechanisms.cascade import predicted_error
from bcdp.mechanisms.cascade.plans import coordinate_budgets
from bcdp.mechanisms.survey.estimation.tally import SurveyTally
from bcdp.randomizers import Response, Table

pytestmark = pytest.mark.slow

Z = 1.959964
NORMAL_6 = 6.2  # standard errors that a normal number leaves with a chance of 6e-10
# A count of 1 excludes expected counts below 0.1765, at which the count is 0 with a chance of 0.838: that is the least
# for many people who answer truly. Untrue answers make rare counts more frequent.
LEAST = {1.0: 0.93, 4.0: 0.89, 8.0: 0.835}


@cache
def plan_of(kind: str, size: int, epsilon: float) -> Plan:
    """The plan of one feature `x`: binary, a number in [-1, 1], or so many categories."""
    feature: dict[str, Any] = {
        "binary": {"type": "binary"},
        "numeric": {"type": "numeric", "bounds": [-1, 1]},
        "categorical": {"type": "categorical", "values": list(range(size))},
    }[kind]
    return make_plan(Policy(epsilon=epsilon, features={"x": feature}))


def table_of(plan: Plan) -> Table:
    (menu,) = plan.menus
    return plan.tables[plan.questions[menu.questions[0]].table]


def estimates_of(plan: Plan, counts: np.ndarray) -> list[Estimate]:
    """The mean or the frequencies of `x` from the counts of its symbols."""
    rows = [[0, symbol, int(count)] for symbol, count in enumerate(counts)]
    found = estimate(Tally.from_dict({"plan": plan.id, "people": int(counts.sum()), "counts": rows}, plan))
    return [found.means["x"]] if found.means else list(found.frequencies["x"].values())


class Enumerated:
    """The intervals of a share for every count of its answer, the Wald intervals, and the exact coverage of either.

    The other answers are spread evenly. Every estimate met on the way has a positive standard error and length, and
    lies in its interval.
    """

    def __init__(self, plan: Plan, people: int) -> None:
        table = table_of(plan)
        assert isinstance(table, Response)
        ends = []
        for count in range(people + 1):
            rest = np.diff(np.linspace(0, people - count, table.levels).round()).astype(int)
            every = estimates_of(plan, np.append(rest, count))
            assert all(one.se > 0 and 0 <= one.low <= one.value <= one.high <= 1 for one in every)
            assert all(one.low < one.high for one in every)
            ends.append((every[-1].low, every[-1].high))
        base, contrast = table.other / TOTAL, (table.keep - table.other) / TOTAL
        share = np.arange(people + 1) / people
        raw, error = (share - base) / contrast, np.sqrt(share * (1 - share) / (people - 1)) / contrast
        self.ours, self.wald = np.array(ends), np.stack([raw - Z * error, raw + Z * error], axis=1)
        self.chance = lambda truth: binom.pmf(np.arange(people + 1)[:, None], people, base + contrast * truth)

    def coverage(self, intervals: np.ndarray, truth: np.ndarray) -> np.ndarray:
        inside = (intervals[:, :1] <= truth) & (truth <= intervals[:, 1:])
        return np.asarray((self.chance(truth) * inside).sum(axis=0))

    def least(self, intervals: np.ndarray) -> float:
        """The least coverage at any share: it falls only where an interval ends, and between is lowest at the ends."""
        ends = intervals.ravel()
        truth = np.unique(np.clip(np.concatenate([ends - 1e-9, ends, ends + 1e-9]), 0, 1))
        return float(self.coverage(intervals, truth).min())


@pytest.mark.parametrize(
    ("people", "epsilon"), [*((people, epsilon) for people in (12, 30, 200) for epsilon in LEAST), (500, 8.0)]
)
def test_intervals_of_a_share_cover_at_every_share(people: int, epsilon: float) -> None:
    """Exact. On average over all shares 95% or more, and nowhere far below; the Wald interval fails both."""
    found = Enumerated(plan_of("binary", 2, epsilon), people)
    everywhere = np.linspace(0, 1, 1001)
    assert found.coverage(found.ours, everywhere).mean() > 0.9495
    assert found.least(found.ours) > LEAST[epsilon]
    assert found.coverage(found.wald, everywhere).mean() < 0.9495
    assert epsilon == 1 or found.least(found.wald) < LEAST[epsilon]


@pytest.mark.parametrize("epsilon", [4.0, 6.0, 8.0])
@pytest.mark.parametrize(("size", "people"), [(3, 30), (3, 200), (10, 30), (10, 200), (50, 30), (50, 200)])
def test_intervals_of_rare_categories_cover(size: int, people: int, epsilon: float) -> None:
    """Exact, at shares that fall like 1, 1/2, 1/3 .. and at 0: mean 93% or more, none below 81%.

    The Wald interval of a category that nobody answered is the single point 0.
    """
    truth = 1 / np.arange(1, size + 1)
    found = Enumerated(plan_of("categorical", size, epsilon), people)
    truth = np.append(truth / truth.sum(), 0.0)
    ours, wald = (found.coverage(intervals, truth) for intervals in (found.ours, found.wald))
    assert ours.mean() > 0.93
    assert ours.min() > 0.81
    assert wald.min() < 0.9
    assert size < 50 or people > 30 or wald.mean() < 0.75


@pytest.mark.parametrize(("size", "family"), [(10, "dense"), (50, "projective")])
def test_intervals_of_other_tables_cover(size: int, family: str) -> None:
    """600 collections of 30 people: no category is covered less often than 93% allows, false alarm 1e-9 in all.

    Intervals of half the length are caught.
    """
    plan, people, repeats = plan_of("categorical", size, 1.0), 30, 600
    table = table_of(plan)
    assert table.to_dict()["family"] == family
    truth = 1 / np.arange(1, size + 1)
    truth /= truth.sum()
    law = truth @ (table.dense().weights / TOTAL)
    hits, narrow = np.zeros(size), np.zeros(size)
    for counts in np.random.default_rng(1).multinomial(people, law / law.sum(), size=repeats):
        every = estimates_of(plan, counts)
        low, high, value, raw, se = np.array([(e.low, e.high, e.value, e.raw, e.se) for e in every]).T
        assert (se > 0).all()
        assert ((low <= value) & (value <= high) & (low < high)).all()
        hits += (low <= truth) & (truth <= high)
        narrow += np.abs(raw - truth) <= Z * se / 2
    least = binom.ppf(1e-9 / size, repeats, 0.93)
    assert hits.min() >= least
    assert narrow.max() < least


def test_few_answers_get_students_quantile() -> None:
    """2,000 collections of 6 people, a number spread evenly: 94% or more, false alarm 1e-9; the normal's is caught."""
    plan, people, repeats = plan_of("numeric", 0, 4.0), 6, 2_000
    table = table_of(plan)
    law = table.dense().weights.mean(axis=0) / TOTAL
    least, hits, normal = binom.ppf(1e-9, repeats, 0.94), 0, 0
    for counts in np.random.default_rng(2).multinomial(people, law / law.sum(), size=repeats):
        (mean,) = estimates_of(plan, counts)
        half = t.ppf(0.975, people - 1) * mean.se
        assert mean.low == pytest.approx(max(mean.value - half, -1))
        assert mean.high == pytest.approx(min(mean.value + half, 1))
        hits += mean.low <= 0 <= mean.high
        normal += abs(mean.raw) <= Z * mean.se
    assert hits >= least
    assert normal < least


def test_the_level_may_be_as_close_to_1_as_a_number_can_be() -> None:
    plan = plan_of("numeric", 0, 4.0)
    tally = SurveyTally(plan).add(privatize(plan, {"x": np.zeros(50)}))
    mean = estimate(tally, math.nextafter(1.0, 0.0)).means["x"]
    assert -1 <= mean.low < mean.value < mean.high <= 1


def test_a_projected_frequency_lies_in_its_interval() -> None:
    """200 categories: the simplex moves some frequencies out of the interval around the raw one, which is stretched."""
    plan = plan_of("categorical", 200, 1.0)
    law = 0.9 * table_of(plan).row(0) / TOTAL + 0.1 * table_of(plan).row(1) / TOTAL
    outside = 0
    for counts in np.random.default_rng(3).multinomial(20_000, law / law.sum(), size=20):
        for one in estimates_of(plan, counts):
            assert one.low <= one.value <= one.high
            outside += not one.raw - Z * one.se <= one.value <= one.raw + Z * one.se
    assert outside > 0


# -- the standard errors that a plan foretells -------------------------------------------------------------------------


def laws(levels: int) -> dict[str, np.ndarray]:
    """Populations over the levels of one feature."""
    ends, middle = np.zeros(levels), np.zeros(levels)
    ends[[0, -1]], middle[levels // 2] = 0.5, 1.0
    random = np.random.default_rng(4).dirichlet(np.full(levels, 0.5))
    return {"even": np.full(levels, 1 / levels), "ends": ends, "middle": middle, "random": random}


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 5.0])
@pytest.mark.parametrize(("kind", "size", "worst"), [("numeric", 0, "ends"), ("categorical", 5, "even")])
def test_no_population_has_a_larger_standard_error(kind: str, size: int, worst: str, epsilon: float) -> None:
    """Exact variances, times n; the worst population reaches what is foretold. The average over levels is no bound."""
    plan = plan_of(kind, size, epsilon)
    table = table_of(plan)
    foretold = compare(plan, correlation_of(plan.policy))["x"].plan
    decoded = table.decode(np.eye(size) if size else np.linspace(-1, 1, table.levels)[:, None])
    found = {}
    for name, law in laws(table.levels).items():
        answers = law @ (table.dense().weights / TOTAL)
        found[name] = float((answers @ decoded**2 - (answers @ decoded) ** 2).sum())
    assert max(found.values()) <= foretold * (1 + 1e-9)
    assert found[worst] == pytest.approx(foretold, rel=1e-6)
    if kind == "numeric" and epsilon > 1:
        assert plan.certificate.objective is not None
        assert found["ends"] > 1.2 * plan.certificate.objective


def test_a_cascades_largest_standard_error() -> None:
    """Three channels, 200,000 people at the bounds: within 6.2 standard errors of what is foretold, false alarm 6e-10.

    The error for records of 0, which leaves the people's own spread out of the sum over channels, is caught.
    """
    features = {"a": {"type": "binary", "delta": 1.0}, "b": {"type": "numeric", "bounds": [-1, 1], "delta": 3.0},
                "c": {"type": "categorical", "values": [0, 1, 2]}}  # fmt: skip
    policy = Policy(epsilon=6, features=features, correlation=0, mechanism="cascade")
    plan, people = make_plan(policy), 200_000
    assert len(plan.channels) == 3
    place = np.arange(people)
    records = {"a": place % 2, "b": 2.0 * (place // 2 % 2) - 1, "c": place // 4 % 3}
    reports = np.array(privatize(plan, records, bytes(range(32)), place)["estimate"].to_pylist())
    errors = compare(plan, correlation_of(policy))
    at_zero = predicted_error(coordinate_budgets(policy, correlation_of(policy)), 1)
    caught = []
    for name, scale, mine in (("a", 1.0, [0]), ("b", 1.0, [1]), ("c", 0.25, [2, 3, 4])):
        squares = scale * ((reports[:, mine] - reports[:, mine].mean(axis=0)) ** 2).sum(axis=1)
        spread = NORMAL_6 * squares.std() / math.sqrt(people)
        assert abs(squares.mean() - errors[name].plan) < spread
        assert errors[name].plan == errors[name].paper
        caught.append(abs(squares.mean() - scale * at_zero[mine].sum()) > spread)
    assert any(caught)
    assert standard_error(policy, "b", errors["b"].plan, people) == math.sqrt(errors["b"].plan / people)
