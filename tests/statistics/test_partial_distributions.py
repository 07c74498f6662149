"""Distributions of numbers that not everybody has, and mean scores by group."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from bcdp import InputError, Plan, Policy, Tally, estimate, make_plan, privatize
from bcdp.audit import verify_limits
from bcdp.statistics import Below
from bcdp.statistics.shared.decoded_values import JointEstimate
from bcdp.statistics.shared.nonresponse import shares_of_last

PEOPLE = 100_000
FALSE_ALARM = 6.5  # standard errors: less than 1e-10, of fewer than 100 numbers
FEATURES: dict[str, Any] = {
    "income": {"type": "numeric", "bounds": [0, 100], "missing": "own", "delta": 1.5},
    "works": {"type": "binary", "values": ["no", "yes"], "delta": 1},
    "hours": {"type": "numeric", "bounds": [0, 80], "asked_if": {"works": "yes"}, "missing": "own"},
    "mood": {"type": "ordinal", "values": ["low", "middle", "high"]},
    "region": {"type": "categorical", "values": ["n", "s"]},
}


def planned(*tasks: dict[str, Any]) -> Plan:
    return make_plan(Policy(epsilon=2, features=FEATURES, correlation=0.1, tasks=list(tasks)))


def people(seed: int) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    works, region = rng.random(PEOPLE) < 0.6, rng.choice(["n", "s"], PEOPLE)
    hours = np.where(works & (rng.random(PEOPLE) < 0.9), 80 * rng.beta(4, 4, PEOPLE), np.nan)
    mood = np.where(region == "n", rng.choice(3, PEOPLE, p=[0.2, 0.3, 0.5]), rng.choice(3, PEOPLE, p=[0.5, 0.3, 0.2]))
    return {
        "income": np.where(rng.random(PEOPLE) < 0.7, 100 * rng.beta(2, 4, PEOPLE), np.nan),
        "works": np.where(works, "yes", "no"),
        "hours": hours,
        "mood": np.array(["low", "middle", "high"])[mood],
        "region": region,
    }


def test_distributions_are_among_those_who_have_a_number() -> None:
    plan, records = planned({"distribution": ["income", "hours"], "bins": 16}), people(1)
    assert not verify_limits(plan.text).objections
    estimates = estimate(Tally(plan).add(privatize(plan, records))).distributions
    assert (estimates["income"].rule, estimates["hours"].rule) == (
        "among those who answered",
        "among those asked who answered",
    )
    for name in ("income", "hours"):
        own, among = records[name][~np.isnan(records[name])], estimates[name]
        truths = np.array([np.mean(own < edge) for edge in among.edges[1:-1]])
        raw, se = (np.array([getattr(share, key) for share in among.cdf]) for key in ("raw", "se"))
        assert np.abs((raw - truths) / se).max() < FALSE_ALARM
        of_all = truths * len(own) / PEOPLE  # broken on purpose: not divided by the share of those who have one
        assert np.abs((raw - of_all) / se).max() > FALSE_ALARM
        assert abs(among.quantiles[0.5].value - np.median(own)) < 2 * (among.edges[1] - among.edges[0])
        assert abs(among.mean.raw - own.mean()) < FALSE_ALARM * among.mean.se + (among.edges[1] - among.edges[0]) / 2


def test_a_block_is_asked_in_steps_within_its_strictest_demand() -> None:
    plan = planned({"distribution": ["hours"], "bins": 16})
    (question,) = plan.questions
    assert (question.features, question.levels, question.kind) == (("works", "hours"), (2, 18), "block")
    assert plan.tables[0].levels == 18  # not applicable; with work 16 bins, and no answer
    assert 0.99 < plan.certificate.features["works"].certified <= 1


def test_the_numbers_of_a_distribution_are_those_of_every_input() -> None:
    policy = Policy(epsilon=2, features=FEATURES)
    target = Below("hours", (20.0, 40.0))
    codes = {"hours": np.array([-1.0, -0.5, 0.9, 2.0, 3.0])}  # 0, 20 and 76 hours, no answer, not applicable
    assert target.of(policy, codes).tolist() == [[1, 1, 1], [0, 1, 1], [0, 0, 1], [0, 0, 0], [0, 0, 0]]


def test_shares_of_the_last_vary_as_draws_do() -> None:
    rng = np.random.default_rng(4)
    root = rng.normal(size=(3, 3)) * 0.002
    joint = JointEstimate(np.array([0.2, 0.3, 0.5]), root @ root.T, (1000,))
    drawn = rng.multivariate_normal(joint.value, joint.covariance, 200_000)
    seen = np.cov((drawn[:, :2] / drawn[:, 2:]).T)
    assert shares_of_last(joint).covariance == pytest.approx(seen, rel=0.05)
    assert np.isnan(shares_of_last(JointEstimate(np.array([0.1, 0.0]), np.eye(2), (9,))).value).all()


def test_too_many_bins_for_a_block_are_refused() -> None:
    features = {
        **FEATURES,
        "often": {"type": "categorical", "values": ["a", "b", "c", "d"], "asked_if": {"works": "yes"}},
    }
    with pytest.raises(InputError, match=r"distribution of hours: got '?1029 combinations'?; accepted: at most 512"):
        make_plan(Policy(epsilon=2, features=features, tasks=[{"distribution": ["hours"], "bins": 256}]))


def test_mean_scores_by_group() -> None:
    plan, records = planned({"mean": ["mood"], "by": "region"}), people(2)
    groups = estimate(Tally(plan).add(privatize(plan, records))).groups["mood", "region"]
    scores = np.select([records["mood"] == "low", records["mood"] == "middle"], [1, 2], 3)
    for region, mean in groups.values.items():
        truth = float(scores[records["region"] == region].mean())
        assert abs(mean.raw - truth) < FALSE_ALARM * mean.se
        assert abs(mean.raw - (4 - truth)) > FALSE_ALARM * mean.se  # the scale the other way round
