"""The certificate against enumeration: never too low for any prior within q, attained by the worst one."""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

from bcdp.correlation import FinitePrior
from bcdp.exact import TOTAL
from bcdp.mechanisms.planning import make_plan
from bcdp.notions import bcdp_from, dobrushin, levels
from bcdp.plan import Certified, Plan, certify
from bcdp.policy import Policy
from bcdp.randomizers import binary, joint
from support.helpers import (
    ROUNDING,
    Array,
    asked_sets,
    brute_ratios,
    exact_q,
    exceeded,
    full_kernel,
    listed,
    log,
    random_dense,
    random_document,
    random_prior,
    sizes_of,
    stated_q,
    survey,
    with_q,
    worst_prior,
)
from support.sweeps import some

pytestmark = pytest.mark.slow

BINARY = {"type": "binary", "delta": 20.0}
NUMBER = {"type": "numeric", "bounds": [-1, 1], "delta": 20.0}


def plan_within(rng: np.random.Generator, slack: bool = True) -> tuple[Plan, Array]:
    """A random plan and a prior that is within the correlation that the plan assumes."""
    document = random_document(rng)
    draft = Plan.build(document)
    prior = random_prior(rng, sizes_of(draft))
    bounds = exact_q(draft, prior)
    if slack and rng.random() < 0.2:
        bounds = {key: float(q + (1 - q) * rng.random() / 10) for key, q in bounds.items()}
    document["correlation"] = listed(bounds)
    if rng.random() < 0.3:
        largest = {
            name: max((q for (f, _), q in bounds.items() if f == name), default=0.0) for name in draft.policy.features
        }
        document["correlation"] = {"kind": "per feature", "default": 1.0, "named": largest, "source": "test"}
    return Plan.build(document), prior


def tight(claimed: float, ratio: Fraction | float) -> bool:
    """Whether a claim is at least the logarithm of the ratio, and hardly above."""
    return claimed == log(ratio) or -Decimal("1e-25") <= Decimal(claimed) - log(ratio) <= Decimal("1e-9")


def test_no_prior_within_q_exceeds_the_certificate() -> None:
    """1,500 random plans and priors, three kinds of feature, joint and ad-hoc tables; broken ones are caught below."""
    rng = np.random.default_rng(1)
    for _ in some(1500):
        plan, prior = plan_within(rng)
        assert exceeded(certify(plan), prior, full_kernel(plan)) == []


def test_the_certificate_is_attained_by_the_worst_prior() -> None:
    """For every feature of 400 random plans there is a prior within its q that has exactly the certified level."""
    rng = np.random.default_rng(2)
    for _ in some(400):
        plan, _ = plan_within(rng)
        claims = certify(plan)
        for i, (name, feature) in enumerate(plan.policy.features.items()):
            prior = worst_prior(plan, name)
            stated = [stated_q(plan.correlation, name, asked - {name}) for asked in asked_sets(plan)]
            assert dobrushin(prior, i) <= max(stated) + 1e-12
            level = float(levels(prior, full_kernel(plan)).bcdp[i])
            if feature.type == "numeric":  # its worst case may be two numbers nearer to each other than the grid
                continue
            assert level == claims.delta[name] or level >= claims.delta[name] - 1e-6


@pytest.mark.parametrize("correlation", [0.0, 0.03, 0.4, 1.0])
def test_the_certificate_of_a_made_plan_is_attained(correlation: float) -> None:
    """Planner-made plans, joint tables among them: certified levels are true and cannot be lowered."""
    features: dict[str, Any] = {f"s{i}": {"type": "binary", "delta": 0.3} for i in range(2)}
    features |= {"b": {"type": "binary"}, "k": {"type": "categorical", "values": ["u", "v", "w"], "delta": 1.0}}
    plan = make_plan(Policy(epsilon=1.5, features=features, correlation=correlation))
    kernel, claims = full_kernel(plan), certify(plan)
    for i, name in enumerate(plan.policy.features):
        level = levels(worst_prior(plan, name), kernel).bcdp[i]
        assert claims.delta[name] - 1e-6 <= level <= claims.delta[name] + ROUNDING


def test_a_numeric_question_is_attained() -> None:
    """A number's seventeen levels beside a sensitive bit, as the planner makes them."""
    features = {"age": {"type": "numeric", "bounds": [0, 1]}, "ill": {"type": "binary", "delta": 0.4}}
    plan = make_plan(Policy(epsilon=2.0, features=features, correlation=0.1))
    kernel, claims = full_kernel(plan), certify(plan)
    for i, name in enumerate(plan.policy.features):
        level = levels(worst_prior(plan, name), kernel).bcdp[i]
        assert claims.delta[name] - 1e-6 <= level <= claims.delta[name] + ROUNDING


def test_a_second_opinion_agrees() -> None:
    """The formula in fractions over every z, a, a' and output is never above the certificate, nor 1e-9 below it."""
    rng = np.random.default_rng(3)
    for _ in some(120):
        plan, _ = plan_within(rng)
        claims, (epsilon, c, delta) = certify(plan), brute_ratios(plan)
        pairs = [(epsilon, claims.epsilon)]
        for name in plan.policy.features:
            pairs += [(c[name], claims.c[name]), (delta[name], claims.delta[name])]
        for ratio, claimed in pairs:
            assert tight(claimed, ratio)


def test_independent_questions_meet_the_inequality_and_joint_ones_stay_below() -> None:
    """(*) of theory.md, section 2: an equality for independent questions, an upper bound for joint tables."""
    rng, below = np.random.default_rng(4), 0
    for _ in some(300):
        plan, _ = plan_within(rng)
        for number, menu in enumerate(plan.menus):
            one = Plan.build({**plan.model_dump(mode="json", by_alias=True),
                              "menus": [{"weight": TOTAL, "questions": list(menu.questions)}]})  # fmt: skip
            claims, independent = certify(one), all(len(plan.questions[g].features) == 1 for g in menu.questions)
            if claims.epsilon == math.inf:
                continue
            asked = {name for g in menu.questions for name in plan.questions[g].features}
            for name in plan.policy.features:
                q = stated_q(plan.correlation, name, frozenset(asked - {name}))
                bound = float(bcdp_from(claims.c[name], claims.epsilon, q))
                assert claims.delta[name] <= bound + 1e-9, number
                if independent:
                    assert claims.delta[name] == pytest.approx(bound, abs=1e-9)
                below += claims.delta[name] < bound - 1e-3
    assert below > 20  # the exact certificate is worth having


# -- broken by design -------------------------------------------------------------------------------------------------


def ignores_q(plan: Plan) -> Certified:
    return certify(with_q(plan, 0.0))


def averages_menus(plan: Plan) -> Certified:
    """Levels weighted by how often a menu is drawn: wrong, because the menu is public."""
    document = plan.model_dump(mode="json", by_alias=True)
    singles = [
        certify(Plan.build({**document, "menus": [{"weight": TOTAL, "questions": list(menu.questions)}]}))
        for menu in plan.menus
    ]
    shares = [menu.weight / TOTAL for menu in plan.menus]
    mean = {name: sum(p * s.delta[name] for p, s in zip(shares, singles, strict=True)) for name in plan.policy.features}
    return Certified(certify(plan).epsilon, certify(plan).c, mean)


def pairs_for_sets(plan: Plan) -> Certified:
    """The largest pairwise q in place of the q of the set: wrong, because of x1 = x2 xor x3."""
    return certify(with_q(plan, 1e-12))


def own_budget_only(plan: Plan) -> Certified:
    honest = certify(plan)
    return Certified(honest.epsilon, honest.c, honest.c)


@pytest.mark.parametrize("broken", [ignores_q, averages_menus, own_budget_only])
def test_a_broken_certificate_is_caught(broken: Any) -> None:
    """The check of the 1,500 plans, on 40 of them, fails certificates that are wrong by design."""
    rng, caught = np.random.default_rng(5), 0
    for _ in range(40):
        plan, prior = plan_within(rng)
        caught += bool(exceeded(broken(plan), prior, full_kernel(plan)))
    assert caught > 10


def test_a_certificate_that_adds_menus_up_is_caught() -> None:
    """Sums over menus are above what any prior reaches: the test of attainment refuses them."""
    tables = [binary(0.5).to_dict()]
    questions = [{"features": [name], "levels": [2], "table": 0} for name in "ab"]
    menus = [{"weight": TOTAL // 2, "questions": [number]} for number in range(2)]
    plan = Plan.build(survey({"a": BINARY, "b": BINARY}, tables, questions, menus, q=0.5))
    level = levels(worst_prior(plan, "a"), full_kernel(plan)).bcdp[0]
    honest = certify(plan).delta["a"]
    assert level == pytest.approx(honest, abs=1e-9)
    assert level < honest + math.log(1 - 0.5 + 0.5 * math.exp(0.5)) - 0.1


def test_pairwise_numbers_do_not_certify_a_set() -> None:
    """x1 = x2 xor x3: asked together, x2 and x3 tell all about x1, though neither does alone."""
    prior = np.zeros((2, 2, 2))
    for b, c in np.ndindex(2, 2):
        prior[b ^ c, b, c] = 0.25
    questions = [{"features": [name], "levels": [2], "table": 0} for name in "bc"]
    document = survey(dict.fromkeys("abc", BINARY), [binary(2.0).to_dict()], questions,
                      [{"weight": TOTAL, "questions": [0, 1]}])  # fmt: skip
    pairs = {(i, frozenset(j)): 0.0 for i in "abc" for j in "abc" if i != j}
    plan = Plan.build({**document, "correlation": listed(pairs)})
    assert exceeded(certify(plan), prior, full_kernel(plan)) == []
    assert certify(plan).delta["a"] == pytest.approx(4.0, abs=1e-8)  # nothing is known of {b, c} together: all of it
    assert "delta a" in exceeded(pairs_for_sets(plan), prior, full_kernel(plan))


@pytest.mark.parametrize(
    ("feature", "coding"),
    [
        (NUMBER, [[1, 0], [0.9995, 0.0005]]),  # the numbers -1 and -0.999
        (BINARY | {"missing": 0}, [[1, 0], [1, 0]]),  # the value 0, and no value
    ],
)
def test_two_values_that_share_a_level_are_told_apart_by_the_others(feature: Any, coding: list[list[float]]) -> None:
    """Two values coded as one level, almost always: yet the others may differ as far as q allows."""
    part = TOTAL // 11
    weights = [[weight, TOTAL - weight] for weight in (part, 10 * part, 3 * part, 3 * part)]
    question = {"features": ["x", "y"], "levels": [2, 2], "table": 0}
    table = {"family": "dense", "weights": weights}
    menus = [{"weight": TOTAL, "questions": [0]}]
    claims = certify(Plan.build(survey({"x": feature, "y": BINARY}, [table], [question], menus)))
    kernel = np.tensordot(np.array(coding), np.array(weights).reshape(2, 2, 2) / TOTAL, axes=(1, 0))
    level = levels(np.diag([0.5, 0.5]), kernel).bcdp[0]
    assert math.log(10) - 1e-3 < level <= claims.delta["x"] + ROUNDING
    two_values = certify(Plan.build(survey({"x": BINARY, "y": BINARY}, [table], [question], menus))).delta["x"]
    assert level > two_values + 0.2  # what would be claimed if there were as many values as levels


def test_an_answer_that_is_impossible_for_some_is_infinite() -> None:
    """Weight 0 for one value only: infinite for it; for the others as far as they are correlated with it."""
    table = {"family": "dense", "weights": [[TOTAL, 0], [TOTAL // 2, TOTAL // 2]]}
    document = survey({"a": BINARY, "b": BINARY}, [table], [{"features": ["a"], "levels": [2], "table": 0}],
                      [{"weight": TOTAL, "questions": [0]}])  # fmt: skip
    for q, other in ((0.0, 0.0), (0.5, math.inf)):
        claims = certify(with_q(Plan.build(document), q))
        assert (claims.epsilon, claims.c["a"], claims.delta["a"], claims.delta["b"]) == (math.inf,) * 3 + (other,)


def test_extreme_q_and_ratios_stay_above_the_truth() -> None:
    """Doubles near 0 and 1, ratios near 2^32, a joint table beside strong questions: never below the fractions."""
    features = dict.fromkeys("abc", BINARY)
    rng = np.random.default_rng(6)
    for q in (5e-324, 1e-300, 1e-17, 1e-9, math.nextafter(1.0, 0.0), 1 - 1e-9, 1.0):
        for table in (joint((2, 2), 22.0), random_dense(rng, 4, 3, 8.0), joint((2, 2), 1e-9)):
            plan = Plan.build(
                survey(
                    features,
                    [table.to_dict(), binary(22.0).to_dict()],
                    [
                        {"features": ["a", "b"], "levels": [2, 2], "table": 0},
                        {"features": ["c"], "levels": [2], "table": 1},
                    ],
                    [{"weight": TOTAL, "questions": [0, 1]}],
                    q=q,
                )
            )
            claims, (_, _, delta) = certify(plan), brute_ratios(plan)
            for name in features:
                assert tight(claims.delta[name], delta[name])


def test_a_known_prior_gives_exact_bounds() -> None:
    """FinitePrior against the definition, for every set of others; its restriction keeps them."""
    rng = np.random.default_rng(7)
    prior = random_prior(rng, (2, 3, 2))
    model = FinitePrior(("a", "b", "c"), prior, "test")
    sets = [("a", frozenset("b")), ("a", frozenset("bc")), ("b", frozenset("ac")), ("c", frozenset("a"))]
    kept = model.restricted(sets)
    for name, others in sets:
        exact = dobrushin(prior, "abc".index(name), tuple(sorted(map("abc".index, others))))
        assert exact <= model.q(name, others) == kept.q(name, others) <= min(1.0, exact + 1e-11)
    assert model.q("a", frozenset()) == 0
    assert model.q("a", frozenset({"unknown"})) == model.q("unknown", frozenset("a")) == 1
