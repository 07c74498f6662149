"""Blocks: what is certified of a follow-up is the worst of all priors, and every reader computes the same."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from bcdp import InputError, Plan, Policy, make_plan
from bcdp.audit import verify_limits
from bcdp.correlation import Listed
from bcdp.plan import certify
from bcdp.policy.blocks import blocks_of, combinations
from support.block_plans import random_crossed_plan, random_measured_plan, random_plan
from support.block_priors import worst_by_feature
from support.node import node

DRUGS: dict[str, Any] = {
    "drugs": {"type": "binary", "values": ["no", "yes"], "delta": 0.3},
    "often": {"type": "categorical", "values": ["monthly", "weekly"], "asked_if": {"drugs": "yes"}, "delta": 0.5},
}


@pytest.mark.parametrize(("q", "odds"), [(0.0, None), (0.3, None), (1.0, None), (0.8, 3.0)])
def test_the_certificate_is_the_worst_joint_prior(q: float, odds: float | None) -> None:
    rng = np.random.default_rng([int(q * 10), odds is None])
    for _ in range(3):
        plan = random_plan(rng, q, odds)
        for name, ratio in worst_by_feature(plan).items():
            assert math.log(ratio) == pytest.approx(plan.levels.delta[name], rel=1e-7, abs=1e-9)


def test_an_average_in_the_place_of_extremes_is_exceeded() -> None:
    plan = random_plan(np.random.default_rng(5), 0.3, None)
    weights = np.array(plan.tables_[0]["weights"], dtype=float)
    question = plan.questions[0]
    possible = combinations(plan.policy.features, question.features, question.levels)
    rows = [weights[possible[:, 0] == code].mean(axis=0) for code in np.unique(possible[:, 0])]
    averaged = max((one / other).max() for one in rows for other in rows)
    assert worst_by_feature(plan)[question.features[0]] > averaged * 1.01


@pytest.mark.parametrize(("q", "odds"), [(0.0, None), (0.3, None), (1.0, None), (0.8, 3.0)])
def test_the_certificate_of_a_block_with_others_is_the_worst_joint_prior(q: float, odds: float | None) -> None:
    rng = np.random.default_rng([int(q * 10), odds is None, 1])
    for _ in range(3):
        plan = random_crossed_plan(rng, q, odds)
        for name, ratio in worst_by_feature(plan).items():
            feature, _, item = name.partition(".")
            level = plan.levels.items[feature, item][1] if item else plan.levels.delta[feature]
            assert math.log(ratio) == pytest.approx(level, rel=1e-7, abs=1e-9)


def test_measured_bounds_of_a_block_are_never_exceeded_and_mostly_reached() -> None:
    """Between ranges of a number the certificate takes the whole number, which the worst prior need not do."""
    reached = []
    for seed in range(3):
        plan = random_measured_plan(np.random.default_rng([seed, 3]))
        for name, ratio in worst_by_feature(plan).items():
            feature, _, item = name.partition(".")
            level = plan.levels.items[feature, item][1] if item else plan.levels.delta[feature]
            assert math.log(ratio) <= level * (1 + 1e-7) + 1e-9
            reached.append(math.log(ratio) == pytest.approx(level, rel=1e-7, abs=1e-9))
    assert np.mean(reached) > 0.5


def test_ranges_taken_for_single_values_are_exceeded() -> None:
    """Broken on purpose: the level between single numbers, where the bounds are about ranges of them."""
    exceeded = 0
    for seed in range(40):
        plan = random_measured_plan(np.random.default_rng([seed, 4]))
        ranged = [name for name in plan.questions[0].features if name in plan.correlation_model.ranges]
        if not isinstance(plan.correlation_model, Listed) or not ranged:
            continue
        single = certify(plan, replace(plan.correlation_model, ranges={})).delta
        if any(single[name] < plan.levels.delta[name] - 1e-6 for name in ranged):
            worst = worst_by_feature(plan)
            exceeded += any(math.log(worst[name]) > single[name] + 1e-6 for name in ranged)
            if exceeded:
                return
    pytest.fail("no plan needs its ranges")


@pytest.mark.parametrize("drawn", [random_plan, random_crossed_plan, random_measured_plan])
def test_three_readers_agree_on_blocks(drawn: Callable[..., Plan]) -> None:
    rng = np.random.default_rng(17)
    plans = [drawn(rng, q, odds) for q, odds in ((0.0, None), (0.2, None), (0.5, 2.0), (1.0, None)) for _ in range(5)]
    documents = [json.loads(plan.text) for plan in plans]
    for plan, document in zip(plans, documents, strict=True):
        levels = plan.levels
        document["certificate"] |= {
            "epsilon": levels.epsilon,
            "features": {
                name: {"asked": 20.0, "certified": levels.delta[name], "c": levels.c[name]} for name in levels.delta
            },
        }
        for (name, item), (c, delta) in levels.items.items():
            claims = document["certificate"]["features"][name].setdefault("items", {})
            claims[item] = {"asked": plan.policy.features[name].items[item].delta, "certified": delta, "c": c}
    texts = [Plan.build(document).text for document in documents]
    in_browser = json.loads(node("tests/js/certify.js", given=json.dumps(texts)))
    for plan, text, (epsilon, c, delta) in zip(plans, texts, in_browser, strict=True):
        verdict = verify_limits(text)
        assert (verdict.epsilon, verdict.c, verdict.delta) == (plan.levels.epsilon, plan.levels.c, plan.levels.delta)
        assert float(epsilon) == plan.levels.epsilon
        assert {name: float(level) for name, level in c.items()} == plan.levels.c
        assert {name: float(level) for name, level in delta.items()} == plan.levels.delta


def test_a_follow_up_is_planned_within_every_demand() -> None:
    plan = make_plan(Policy(epsilon=2, features=DRUGS))
    (question,) = plan.questions
    assert (question.kind, question.features, question.levels) == ("block", ("drugs", "often"), (2, 3))
    assert plan.tables[0].levels == 3  # no; yes, monthly; yes, weekly
    assert 0.29 < plan.certificate.features["drugs"].certified <= 0.3
    assert 0.49 < plan.certificate.features["often"].certified <= 0.5


def test_what_is_asked_outside_a_block_counts_by_q() -> None:
    features = {**DRUGS, "age": {"type": "numeric", "bounds": [0, 100]}}
    plan = make_plan(Policy(epsilon=2, features=features, correlation=0.05))
    assert all(claim.certified <= claim.asked for claim in plan.certificate.features.values())
    assert not verify_limits(plan.text).objections


def test_nested_follow_ups_have_the_combinations_that_can_occur() -> None:
    policy = Policy(
        epsilon=1,
        features={
            "a": {"type": "categorical", "values": ["x", "y", "z"]},
            "b": {"type": "binary", "asked_if": {"a": ["x", "y"]}},
            "c": {"type": "binary", "asked_if": {"b": 1}},
            "d": {"type": "binary"},
        },
    )
    assert blocks_of(policy.features) == dict.fromkeys(["a", "b", "c"], ("a", "b", "c"))
    rows = combinations(policy.features, ("a", "b", "c"), (3, 3, 3)).tolist()
    assert rows == [[0, 0, 2], [0, 1, 0], [0, 1, 1], [1, 0, 2], [1, 1, 0], [1, 1, 1], [2, 2, 2]]


@pytest.mark.parametrize(
    ("changed", "told"),
    [
        ({"asked_if": {"drug": "yes"}}, "features.often.asked_if: got 'drug'; accepted: another feature"),
        ({"asked_if": {"often": "weekly"}}, "features.often.asked_if: got 'often'; accepted: another feature"),
        ({"asked_if": {"drugs": "maybe"}}, "features.often.asked_if.drugs: got 'maybe'; accepted: some of the values"),
        ({"asked_if": {"drugs": []}}, "features.often.asked_if.drugs: got []"),
        ({"asked_if": {}}, "features.often.asked_if: got {}"),
        ({"asked_if": {"age": 3}}, "features.often.asked_if: got 'age'; accepted: a protected feature with values"),
        ({"asked_if": {"town": "n"}}, "features.often.asked_if: got 'town'; accepted: a protected feature with values"),
        ({"values": ["weekly", "not applicable"]}, "features.often.values: got 'not applicable'"),
    ],
)
def test_conditions_that_cannot_be(changed: dict[str, Any], told: str) -> None:
    others = {"age": {"type": "numeric", "bounds": [0, 9]}, "town": {"type": "open", "values": ["n", "s"]}}
    features = {**DRUGS, **others, "often": {**DRUGS["often"], **changed}}
    with pytest.raises(InputError) as caught:
        Policy(epsilon=1, features=features)
    assert told in str(caught.value)


def test_a_circle_and_a_block_that_is_too_large() -> None:
    circle = {name: {"type": "binary", "asked_if": {other: 1}} for name, other in ("ab", "bc", "ca")}
    with pytest.raises(InputError, match="a -> b -> c -> a"):
        Policy(epsilon=1, features=circle)
    values = [f"v{k}" for k in range(9)]
    many = {f"f{k}": {"type": "categorical", "values": values, "asked_if": {"first": 1}} for k in range(3)}
    with pytest.raises(InputError, match=r"the block of f0, f1, f2, first: got '?730 combinations of answers"):
        Policy(epsilon=1, features={**many, "first": {"type": "binary"}})


@pytest.mark.parametrize(
    ("task", "offered"),
    [
        ({"regression": {"target": "sex", "features": ["drugs"]}}, "mean, frequency, share, table or mean by group"),
        ({"table": ["spent", "sex"]}, "a number's mean, also by group"),
        ({"mean": ["sex"], "by": "spent"}, "those with values, not numbers"),
        ({"table": ["drugs", "sex"], "items": {"often": ["weekly"]}}, "items of the lists of this table"),
    ],
)
def test_joint_statistics_of_a_block_are_refused_with_what_is_offered(task: dict[str, Any], offered: str) -> None:
    spent = {"type": "numeric", "bounds": [0, 9], "asked_if": {"drugs": "yes"}}
    with pytest.raises(InputError, match=offered):
        Policy(epsilon=1, features={**DRUGS, "spent": spent, "sex": {"type": "binary"}}, tasks=[task])


def test_no_policy_without_follow_ups_has_a_block() -> None:
    policy = Policy(epsilon=1, features={"a": {"type": "binary"}, "b": {"type": "binary"}})
    assert policy.blocks == {}
    assert "asked_if" not in make_plan(policy).text
