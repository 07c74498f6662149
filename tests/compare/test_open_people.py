"""The equivalent open sample size: what protected answers are worth, by the textbook variances of open ones."""

from __future__ import annotations

import math

import pytest

from bcdp import Policy, make_plan
from bcdp.correlation import correlation_of
from bcdp.present.plan_summary import planned

FEATURES = {
    "ill": {"type": "binary"},
    "pay": {"type": "numeric", "bounds": [0, 9]},
    "region": {"type": "categorical", "values": list("abcde")},
}
VARIANCES = {"ill": 0.5 * 0.5, "pay": 4.5**2, "region": 0.2 * 0.8}  # of one open answer, in the worst population


@pytest.mark.parametrize("epsilon", [0.5, 2.0, 6.0])
def test_so_many_open_answers_have_the_same_standard_error(epsilon: float) -> None:
    policy = Policy(epsilon=epsilon, features=FEATURES)
    features = planned(make_plan(policy), correlation_of(policy), 50_000).document["features"]
    for name, variance in VARIANCES.items():
        worth = variance / features[name]["standard_error"] ** 2
        assert features[name]["open_people"] == math.floor(worth * (1 + 1e-12))
        assert 0 < features[name]["open_people"] < 50_000


def test_a_feature_that_is_not_asked_is_worth_nothing() -> None:
    policy = Policy(epsilon=1, features=FEATURES, tasks=[{"mean": ["pay"]}])
    assert planned(make_plan(policy), correlation_of(policy), 50_000).document["features"]["ill"]["open_people"] == 0
