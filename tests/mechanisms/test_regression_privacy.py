"""Product questions: what they are, that devices answer them as stated, and that their certificate is exact."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from scipy.stats import chisquare

from bcdp import InputError, Plan, Policy, Tally, make_plan, privatize
from bcdp.correlation import FinitePrior
from bcdp.exact import TOTAL
from bcdp.notions import levels
from bcdp.plan import Certified, certify
from bcdp.randomizers import binary, numeric
from support.helpers import (
    ROUNDING,
    exact_q,
    exceeded,
    full_kernel,
    listed,
    random_prior,
    random_product_document,
    sizes_of,
    survey,
    with_q,
    worst_prior,
)

pytestmark = pytest.mark.slow

FEATURES: dict[str, Any] = {
    "ill": {"type": "binary", "delta": 2.0},
    "age": {"type": "numeric", "bounds": [0, 100], "delta": 2.0},
    "region": {"type": "categorical", "values": ["n", "s", "e"], "delta": 2.0},
}


def question(features: list[str], categories: list[int | None], levels: int = 2) -> dict[str, Any]:
    return {"features": features, "levels": [levels], "table": 0, "kind": "product", "categories": categories}


def one_question(asked: dict[str, Any], budget: float = 1.0) -> dict[str, Any]:
    table = binary(budget) if asked["levels"] == [2] else numeric(budget)
    return survey(FEATURES, [table.to_dict()], [asked], [{"weight": TOTAL, "questions": [0]}], q=0.3)


def within(rng: np.random.Generator) -> tuple[Plan, np.ndarray]:
    """A random plan with products, and a prior within the correlation that it states."""
    document = random_product_document(rng)
    draft = Plan.build(document)
    prior = random_prior(rng, sizes_of(draft))
    return Plan.build({**document, "correlation": listed(exact_q(draft, prior))}), prior


def test_no_prior_within_q_exceeds_the_certificate() -> None:
    """1,000 random plans with products, alone and beside other questions, each under a prior that it allows."""
    rng = np.random.default_rng(1)
    for _ in range(1000):
        plan, prior = within(rng)
        assert exceeded(certify(plan), prior, full_kernel(plan)) == []


def test_the_certificate_is_attained() -> None:
    """The worst prior of every plan and feature stays within the certified level, and mostly reaches it.

    Numbers on the grid of the enumeration do not always reach the extremes of a table.
    """
    rng, attained, whole = np.random.default_rng(2), 0, 0
    for _ in range(200):
        plan = with_q(within(rng)[0], float(rng.choice([0.05, 0.3, 1.0])))
        kernel, claims = full_kernel(plan), certify(plan)
        for i, name in enumerate(plan.policy.features):
            if math.isfinite(claims.delta[name]):
                level = levels(worst_prior(plan, name), kernel).bcdp[i]
                assert level <= claims.delta[name] + ROUNDING
                whole, attained = whole + 1, attained + (level >= claims.delta[name] - 1e-6)
    assert attained >= 0.75 * whole


def ignores_the_second(plan: Plan) -> Certified:
    """Only the first factor pays."""
    claims, c, delta = certify(plan), {}, {}
    firsts = {plan.questions[number].features[0] for menu in plan.menus for number in menu.questions}
    for name in plan.policy.features:
        c[name] = claims.c[name] if name in firsts else 0.0
        delta[name] = claims.delta[name] if name in firsts else 0.0
    return Certified(claims.epsilon, c, delta)


def halves(plan: Plan) -> Certified:
    """Each factor pays half."""
    claims = certify(plan)
    return Certified(claims.epsilon, {name: level / 2 for name, level in claims.c.items()}, claims.delta)


@pytest.mark.parametrize("broken", [ignores_the_second, halves])
def test_a_broken_certificate_is_caught(broken: Callable[[Plan], Certified]) -> None:
    rng, caught = np.random.default_rng(3), 0
    for _ in range(60):
        plan, prior = within(rng)
        caught += bool(exceeded(broken(plan), prior, full_kernel(plan)))
    assert caught > 20


@pytest.mark.parametrize("interactions", [None, [["a", "k"]]])
def test_planned_products_keep_every_demand_under_the_true_prior(interactions: list[list[str]] | None) -> None:
    """A regression planned from a known prior: exact levels by enumeration are within every demand."""
    rng = np.random.default_rng(4)
    names = ("a", "b", "k", "y")
    prior = 0.8 * np.einsum("i,j,k,l->ijkl", [0.3, 0.7], [0.5, 0.5], [0.2, 0.3, 0.5], [0.4, 0.6])
    prior = prior + 0.2 * rng.dirichlet(np.ones(24)).reshape(2, 2, 3, 2)
    features: dict[str, Any] = {name: {"type": "binary", "delta": 0.4} for name in ("a", "b")}
    features |= {"k": {"type": "categorical", "values": ["u", "v", "w"], "delta": 1.0}, "y": {"type": "binary"}}
    task = {"regression": {"target": "y", "features": ["a", "b", "k"], "interactions": interactions}}
    model = FinitePrior(names, prior, "test")
    plan = make_plan(Policy(epsilon=1.5, features=features, tasks=[task]), model)
    assert {question.kind for question in plan.questions} == {"values", "product"}
    assert any(len(question.features) == 3 for question in plan.questions) or interactions is None
    true = levels(prior, full_kernel(plan))
    assert true.ldp <= 1.5
    for i, name in enumerate(names):
        assert true.bcdp[i] <= plan.certificate.features[name].certified + ROUNDING <= features[name].get("delta", 1.5)


@pytest.mark.parametrize(
    ("asked", "worth"),
    [
        (question(["ill", "age"], [None, None], 17), lambda r: (2 * r["ill"] - 1) * (r["age"] / 50 - 1)),
        (question(["age"], [None], 17), lambda r: 2 * (r["age"] / 50 - 1) ** 2 - 1),
        (question(["region", "ill"], [1, None]), lambda r: (1 if r["region"] == "s" else -1) * (2 * r["ill"] - 1)),
        (question(["age", "region"], [None, 2], 17), lambda r: (r["age"] / 50 - 1) * (1 if r["region"] == "e" else -1)),
    ],
)
def test_devices_answer_about_the_product(asked: dict[str, Any], worth: Callable[[Any], float]) -> None:
    """A chi-squared test at a false-alarm rate of 1e-9 for each record; the wrong sign is noticed in at least one."""
    plan = Plan.build(one_question(asked))
    (size,), people, noticed = asked["levels"], 40_000, 0
    weights = plan.tables[0].dense().weights / TOTAL
    for record in ({"ill": 1, "age": 31, "region": "s"}, {"ill": 0, "age": 90, "region": "e"}):
        reports = privatize(plan, {name: [value] * people for name, value in record.items()})
        counts = Tally(plan).add(reports).counts(0)  # type: ignore[attr-defined]
        for sign in (1, -1):
            near = np.maximum(0.0, 1 - np.abs((sign * worth(record) + 1) / 2 * (size - 1) - np.arange(size)))
            alarm = chisquare(counts, people * (near @ weights)).pvalue < 1e-9
            noticed += sign < 0 and alarm
            assert sign < 0 or not alarm
    assert noticed


def test_a_question_about_values_is_written_as_ever() -> None:
    """The kind is left out of the JSON unless it is a product, so that no plan without one changes its id."""
    features = {"a": {"type": "binary", "delta": 1.0}}
    plain = {"features": ["a"], "levels": [2], "table": 0}
    document = survey(features, [binary(1.0).to_dict()], [plain], [{"weight": TOTAL, "questions": [0]}])
    assert json.loads(Plan.build(document).text)["questions"] == [plain]
    asked = question(["ill", "region"], [None, 1])
    assert json.loads(Plan.build(one_question(asked)).text)["questions"] == [asked]


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"features": ["ill"], "categories": [None]}, "a numeric feature, to be squared, or two features"),
        ({"features": ["ill", "age", "region"], "categories": [None, None, 0]}, "one or two, and one"),
        ({"levels": [2, 2]}, "one or two, and one"),
        ({"categories": [None]}, "null or the number of a value, for each feature"),
        ({"categories": [None, None]}, "the number of a value of region, null for a number and for one of two values"),
        ({"categories": [None, 3]}, "the number of a value of region, null for a number and for one of two values"),
        ({"categories": [0, 0]}, "the number of a value of ill, null for a number and for one of two values"),
        ({"features": ["ill", "ill"], "categories": [None, None]}, "different features of the policy"),
        ({"levels": [3]}, "3 levels"),
        ({"kind": "values"}, "one number for each feature, and no categories"),
    ],
)
def test_what_is_refused(change: dict[str, Any], named: str) -> None:
    document = one_question(question(["ill", "region"], [None, 1]))
    document["questions"][0] |= change
    with pytest.raises(InputError) as caught:
        Plan.build(document).verify()
    assert named in str(caught.value)
