"""A second demand, `if_wrong`: kept exactly where q and odds are larger than stated, and planned for at little cost."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

from bcdp import InputError, Plan, Policy, make_plan
from bcdp.audit import verify_limits
from bcdp.notions import levels
from bcdp.plan import demands_if_wrong, levels_if_wrong
from bcdp.policy.base_feature import IfWrong
from bcdp.present.plan_summary import planned
from bcdp.present.promise import promises
from support.enumeration import below_truth, enumerated, where_wrong
from support.helpers import full_kernel, sizes_of, with_q, worst_prior

SECOND = {"times": 2, "delta": 1.5}
ROUNDING = 1e-9  # of levels that are computed in doubles
PUBLISHED = {  # n x error of ten binary features, two of them sensitive, by delta and q: with the second demand
    (0.2, 0.05): {1.0: 868.6, 1.1: 765.4, 1.25: 680.0, 1.5: 623.7, 1.75: 585.4},
    (0.2, 0.12): {1.0: 1840.8, 1.1: 1567.1, 1.25: 1398.4, 1.5: 1204.9, 1.75: 1084.2},
    (0.5, 0.1): {1.0: 372.6, 1.1: 325.4, 1.25: 258.1, 1.5: 227.3, 1.75: 213.4},
}


def paper(delta: float, q: float, **more: Any) -> Policy:
    """Ten binary features, two of them sensitive."""
    features = {f"x{i}": {"type": "binary", **({"delta": delta} if i < 2 else {})} for i in range(10)}
    return Policy(epsilon=2, features=features, correlation=q, **more)


def random_policy(rng: np.random.Generator) -> Policy:
    """Two to four features, each with a delta and perhaps a second demand of its own, q for all."""
    features: dict[str, Any] = {}
    for i in range(int(rng.integers(2, 5))):
        kind = {"type": "binary"} if rng.random() < 0.6 else {"type": "categorical", "values": ["a", "b", "c"]}
        features[f"x{i}"] = kind | {"delta": round(float(rng.uniform(0.1, 1.2)), 3)}
        if i == 0 or rng.random() < 0.6:
            second = {"times": float(rng.choice([1.5, 2.0, 4.0])), "delta": float(rng.choice([1.0, 1.2, 1.5]))}
            features[f"x{i}"]["if_wrong"] = second
    return Policy(epsilon=2, features=features, correlation=round(float(rng.uniform(0.01, 0.2)), 3))


def pairs(rng: np.random.Generator, plans: int, others: int = 3) -> Iterator[tuple[Plan, str, float, float]]:
    """Plan, feature, its exact level and its claim, under priors whose q is the multiple that the plan names.

    The first prior of each is the worst; in the others everything else moves as far with the feature, at random.
    """
    for _ in range(plans):
        plan = make_plan(random_policy(rng))
        kernel, names = full_kernel(plan), list(plan.policy.features)
        for name, demand in demands_if_wrong(plan).items():
            q, axis = demand.moved(plan.correlation["default"], math.inf).q, names.index(name)
            claim = plan.certificate.features[name].if_wrong
            assert claim is not None
            priors = [
                worst_prior(with_q(plan, q), name),
                *(_moved(rng, sizes_of(plan), axis, q) for _ in range(others)),
            ]
            for prior in priors:
                yield plan, name, levels(prior, kernel).bcdp[axis], claim


def _moved(rng: np.random.Generator, sizes: tuple[int, ...], axis: int, q: float) -> Any:
    """A prior under which the others, given two values of a feature, differ by q: a common part, and one place each."""
    own, rest = sizes[axis], math.prod(sizes) // sizes[axis]
    common = np.zeros(rest)
    common[rng.permutation(rest)[: int(rng.integers(1, 3))]] = 1
    rows = np.tile((1 - q) * common / common.sum(), (own, 1))
    for row in rows:
        row[rng.integers(rest)] += q
    prior = (rows / own).reshape(own, *(size for place, size in enumerate(sizes) if place != axis))
    return np.moveaxis(prior, 0, axis)


def test_no_prior_exceeds_the_second_claim_and_the_worst_one_reaches_it() -> None:
    """Exact levels of random plans; without the second demand the worst priors exceed what it would have allowed."""
    found = list(pairs(np.random.default_rng(7), plans=8))
    assert all(level <= claim + ROUNDING for _, _, level, claim in found)
    reached = [level > claim - 1e-6 for _, _, level, claim in found[::4]]
    assert np.mean(reached) > 0.9
    plain = make_plan(paper(0.2, 0.05))
    broken = levels(worst_prior(with_q(_few(plain), 0.1), "x0"), full_kernel(_few(plain))).bcdp[0]
    assert broken > 1.6 * 0.2  # what would not pass


def _few(plan: Plan) -> Plan:
    """The planner's tables for three features, two of them sensitive, without a second demand."""
    features = {name: {"type": "binary", "delta": d} for name, d in (("x0", 0.2), ("x1", 0.2), ("x2", 2.0))}
    return make_plan(Policy(epsilon=2, features=features, correlation=plan.correlation["default"]))


@pytest.mark.parametrize(("delta", "q"), list(PUBLISHED))
def test_it_costs_as_little_as_is_known_to_be_possible(delta: float, q: float) -> None:
    for factor in (1.1, 1.5):
        plan = make_plan(paper(delta, q, if_wrong={"times": 2, "delta": factor}))
        objective, claim = plan.certificate.objective, plan.certificate.features["x0"]
        assert objective is not None
        assert claim.if_wrong is not None
        assert objective <= 1.01 * PUBLISHED[delta, q][factor]
        assert claim.certified <= delta
        assert claim.if_wrong <= factor * delta


def test_the_claim_is_the_level_of_an_enumeration() -> None:
    features = {
        "smoker": {"type": "binary", "delta": 0.3, "if_wrong": {"times": 1.7, "delta": 1.3}},
        "kind": {
            "type": "categorical",
            "values": ["a", "b", "c"],
            "delta": 0.8,
            "if_wrong": {"times": 3, "delta": 1.1},
        },
        "age": {"type": "numeric", "bounds": [0, 99]},
    }
    tasks = [{"mean": ["smoker", "age"]}, {"table": ["smoker", "kind"]}]
    for correlation in (0.07, {"q": 0.07, "odds": 2.5}):
        plan = make_plan(Policy(epsilon=2, features=features, correlation=correlation, tasks=tasks))
        document = json.loads(plan.text)
        _, _, delta = enumerated(where_wrong(document))
        for name, level in levels_if_wrong(plan).items():
            assert not below_truth(level, delta[name])
            assert below_truth(level - 1e-9, delta[name])
        assert verify_limits(plan.text).acceptable


def test_a_plan_that_breaks_the_second_demand_is_refused() -> None:
    plan = make_plan(paper(0.2, 0.05))
    document = json.loads(plan.text)
    for feature in document["collection"]["features"].values():
        feature["if_wrong"] = SECOND
    del document["certificate"]
    with pytest.raises(InputError, match=r"features\.x0\.if_wrong.*is above the 0\.3"):
        Plan.certified(document)


def test_a_cascade_keeps_it_or_is_refused() -> None:
    """It is planned for one assumption only."""
    features = {"a": {"type": "binary", "delta": 0.2}, "b": {"type": "binary"}}
    policy = Policy(epsilon=2, features=features, correlation=0.05, mechanism="cascade")
    kept = make_plan(policy.model_copy(update={"features": _second(policy, {"times": 2, "delta": 3})}))
    assert verify_limits(kept.text).acceptable
    document = json.loads(kept.text)
    document["certificate"]["features"]["a"]["if_wrong"] -= 1e-9
    assert not verify_limits(document).acceptable
    with pytest.raises(InputError, match=r"if_wrong.*is above"):
        make_plan(policy.model_copy(update={"features": _second(policy, {"times": 2, "delta": 1})}))


def _second(policy: Policy, demand: dict[str, float]) -> dict[str, Any]:
    stated = IfWrong(**demand)
    return {name: feature.model_copy(update={"if_wrong": stated}) for name, feature in policy.features.items()}


def test_the_default_of_a_policy_is_stated_by_every_feature() -> None:
    policy = Policy(
        epsilon=2, if_wrong=SECOND, correlation=0.1,
        features={"a": {"type": "binary", "if_wrong": {"times": 3, "delta": 2}}, "b": {"type": "binary"},
                  "c": {"type": "open", "values": ["x", "y"]}},
    )  # fmt: skip
    stated = {name: feature.if_wrong for name, feature in policy.features.items()}
    assert [demand and (demand.times, demand.delta) for demand in stated.values()] == [(3, 2), (2, 1.5)]
    assert Policy(**policy.to_dict()) == policy
    assert make_plan(policy).policy.features == policy.features


@pytest.mark.parametrize(
    ("changed", "sentence"),
    [
        ({"if_wrong": 2}, "if_wrong: got 2; accepted: "),
        ({"if_wrong": {"times": 1, "delta": 1.5}}, "if_wrong.times: got 1; accepted: a number above 1"),
        ({"if_wrong": {"times": 2, "delta": 0.5}}, "if_wrong.delta: got 0.5; accepted: a number from 1"),
        ({"if_wrong": {"times": 2}}, "if_wrong.delta: got nothing; accepted: a number from 1"),
        ({"if_wrong": {"times": 2, "delta": 1, "q": 1}}, "if_wrong.q: got an unknown key; accepted: times, delta"),
    ],
)
def test_mistakes_are_named(changed: dict[str, Any], sentence: str) -> None:
    with pytest.raises(InputError) as error:
        Policy(epsilon=2, features={"a": {"type": "binary"}}, correlation=0.1, **changed)
    assert sentence in str(error.value)


def test_mistakes_of_a_feature_are_named() -> None:
    with pytest.raises(InputError, match=r"features\.a\.if_wrong\.times: got 0\.5"):
        Policy(epsilon=2, features={"a": {"type": "binary", "if_wrong": {"times": 0.5, "delta": 1}}})
    listed = {"type": "multiple", "values": ["x", "y"], "items": {"x": {"delta": 0.1}}}
    with pytest.raises(InputError, match="no deltas of single items"):
        Policy(epsilon=2, features={"a": listed}, if_wrong=SECOND)
    with pytest.raises(InputError, match="no deltas of single items"):
        Policy(epsilon=2, features={"a": listed | {"if_wrong": SECOND}})


def test_it_is_said_in_place_of_at_twice() -> None:
    plan = make_plan(paper(0.2, 0.05, if_wrong={"times": 3, "delta": 1.5}))
    promise = promises(plan)["x0"]
    assert promise.if_wrong is not None
    assert promise.if_wrong[0] == 3
    assert "at 3 times q" in promise.left
    assert "twice" not in promise.left
    summary = planned(plan, plan.correlation_model, 10_000).document["features"]["x0"]
    assert summary["if_wrong"] == {"times": 3, "asked": pytest.approx(0.3), "certified": promise.if_wrong[1]}
    assert summary["certified_at_twice"] < promise.if_wrong[1]
    assert promises(make_plan(paper(0.2, 0.05)))["x0"].if_wrong is None
