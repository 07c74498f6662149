"""Sums and differences of estimates of one collection: by the covariance of both, in every combination."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.estimates import Estimates
from bcdp.statistics.shared.target import Single

FEATURES: dict[str, Any] = {
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
    "smoker": {"type": "binary"},
    "age": {"type": "numeric", "bounds": [0, 100]},
    "mood": {"type": "ordinal", "values": ["bad", "fair", "good"]},
}
TASKS = [
    {"frequency": ["region", "smoker"]},
    {"mean": ["smoker", "age", "mood"]},
    {"share": {"mood": ["fair", "good"]}},
]


def people(rng: np.random.Generator, size: int) -> dict[str, Any]:
    return {
        "region": rng.choice(["north", "south", "east"], size, p=[0.5, 0.3, 0.2]),
        "smoker": rng.random(size) < 0.3,
        "age": rng.uniform(20, 60, size),
        "mood": rng.choice(["bad", "fair", "good"], size),
    }


@pytest.fixture(scope="module")
def plan() -> Plan:
    return make_plan(Policy(epsilon=6, features=FEATURES, tasks=TASKS))


@pytest.fixture(scope="module")
def tally(plan: Plan) -> Tally:
    return Tally(plan).add(privatize(plan, people(np.random.default_rng(4), 20_000)))


@pytest.fixture(scope="module")
def estimates(tally: Tally) -> Estimates:
    return estimate(tally)


def test_the_lead_of_a_value_has_the_variance_of_the_difference(tally: Tally, estimates: Estimates) -> None:
    shares = estimates.frequencies["region"]
    lead = shares["north"] - shares["south"]
    covariance = tally.decoder().together([Single("region")]).covariance  # type: ignore[union-attr]
    contrast = np.array([1.0, -1.0, 0.0])
    assert lead.se == pytest.approx(math.sqrt(contrast @ covariance @ contrast), rel=1e-12)
    assert lead.se > 1.1 * math.hypot(shares["north"].se, shares["south"].se)  # as if they were independent
    assert lead.raw == shares["north"].raw - shares["south"].raw
    assert lead.low < lead.value < lead.high


def test_all_shares_are_certain_together(estimates: Estimates) -> None:
    total = sum(estimates.frequencies["region"].values())
    assert total.value == pytest.approx(1.0, abs=1e-9)
    assert total.se < 1e-6


def test_different_features_vary_together_only_where_one_person_answers_both(estimates: Estimates) -> None:
    gap = estimates.means["age"] - estimates.means["age"]
    assert (gap.value, gap.se) == (0.0, 0.0)
    both = estimates.means["smoker"] + estimates.frequencies["smoker"][0]
    assert both.value == pytest.approx(1.0)
    assert both.se < 1e-9


def test_sums_stay_within_what_can_be(estimates: Estimates) -> None:
    at_least_fair = estimates.shares["mood"]["fair or good"]
    doubled = at_least_fair + at_least_fair
    assert doubled.se == pytest.approx(2 * at_least_fair.se, rel=0.05)
    assert 0 <= doubled.low <= doubled.value <= doubled.high <= 2


def test_intervals_of_differences_cover(plan: Plan) -> None:
    """1,000 collections: 95% cover between 89 and 99% but for a chance below 1e-9; intervals cut in half do not."""
    rng, hits, halved = np.random.default_rng(9), 0, 0
    for _ in range(1_000):
        shares = estimate(Tally(plan).add(privatize(plan, people(rng, 400)))).frequencies["region"]
        lead = shares["north"] - shares["south"]
        hits += lead.low <= 0.2 <= lead.high
        middle, half = (lead.low + lead.high) / 2, (lead.high - lead.low) / 4
        halved += middle - half <= 0.2 <= middle + half
    assert 890 <= hits <= 990
    assert halved < 890


def test_what_has_no_known_covariance_is_refused(plan: Plan, tally: Tally, estimates: Estimates) -> None:
    other = estimate(Tally(plan).add(privatize(plan, people(np.random.default_rng(5), 500))))
    with pytest.raises(InputError, match=r"sum: .* of one collection"):
        estimates.means["age"] + other.means["age"]
    assert (other.means["age"] - estimates.means["age"]).se > other.means["age"].se  # of different people
    with pytest.raises(TypeError):
        estimates.means["age"] + 1


def test_the_worth_of_a_share_is_that_of_as_many_open_answers(estimates: Estimates) -> None:
    north = estimates.frequencies["region"]["north"]
    assert north.open_people is not None
    assert math.sqrt(north.value * (1 - north.value) / north.open_people) == pytest.approx(north.se, rel=1e-2)
    assert north.to_dict()["open_people"] == north.open_people < 20_000


def test_cells_add_up_to_their_margin() -> None:
    features = {"a": {"type": "categorical", "values": [1, 2, 3]}, "b": {"type": "binary"}}
    tasks = [{"table": ["a", "b"]}, {"frequency": ["a"]}]
    plan = make_plan(Policy(epsilon=3, features=features, tasks=tasks))
    rng = np.random.default_rng(2)
    found = estimate(Tally(plan).add(privatize(plan, {"a": rng.integers(1, 4, 900), "b": rng.integers(0, 2, 900)})))
    first, second = found.tables["a", "b"].cells[0]
    margin, share = first + second, found.frequencies["a"][1]
    assert margin.raw == pytest.approx(share.raw, abs=1e-9)
    assert (margin - share).se < 1e-9
