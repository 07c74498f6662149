"""Known priors: exact distances, exact levels, and the plans that they allow."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from bcdp.compare.leak import paper_prior
from bcdp.correlation import FinitePrior, Listed, PerFeature, correlation_from_dict, pairwise
from bcdp.errors import InputError
from bcdp.exact import TOTAL
from bcdp.mechanisms.planning import make_plan
from bcdp.mechanisms.survey.design.budget_limits import binding
from bcdp.mechanisms.survey.design.budgets_from_laws import exact_limit
from bcdp.notions import levels
from bcdp.plan import Plan, certify
from bcdp.policy import Policy
from bcdp.randomizers import Table, binary, categorical
from support.helpers import (
    Array,
    asked_sets,
    brute_distance,
    full_kernel,
    paper_policy,
    random_dense,
    random_prior,
    survey,
)

pytestmark = pytest.mark.slow

NAMES = tuple(f"x{i}" for i in range(10))


@pytest.mark.parametrize("sizes", [(2, 2), (2, 3, 4), (3, 2, 2, 2)])
def test_distances_are_the_definition(sizes: tuple[int, ...]) -> None:
    rng = np.random.default_rng(0)
    names = "abcd"[: len(sizes)]
    for _ in range(60):
        prior = random_prior(rng, sizes)
        model = FinitePrior(tuple(names), prior, "test")
        for i in range(len(sizes)):
            rest = [j for j in range(len(sizes)) if j != i]
            for others in (s for r in range(1, len(rest) + 1) for s in itertools.combinations(rest, r)):
                exact = brute_distance(prior, i, others)
                assert exact <= model.q(names[i], {names[j] for j in others}) <= min(1.0, exact + 3e-12)


def test_twelve_binary_features() -> None:
    prior = random_prior(np.random.default_rng(1), (2,) * 12)
    names = tuple(f"x{i}" for i in range(12))
    model = FinitePrior(names, prior, "test")
    assert len({model.q(i, {j}) for i in names for j in names if i != j}) > 100
    assert model.q("x3", set(names) - {"x3"}) == pytest.approx(
        brute_distance(prior, 3, tuple(j for j in range(12) if j != 3)), abs=3e-12
    )


@pytest.mark.parametrize("q", [0.0, 0.05, 0.15, 0.9])
def test_the_papers_prior_has_exactly_its_q(q: float) -> None:
    model = FinitePrior(NAMES, paper_prior(10, q), "test")
    for others in (NAMES[1:], NAMES[4:6], NAMES[9:]):
        assert q <= model.q("x0", others) <= q + 3e-12
    means = np.asarray(model.laws("x0", "x5")) @ [-1, 1]
    assert sorted(means) == pytest.approx([-q, q], abs=1e-12)


# -- exact levels -----------------------------------------------------------------------------------------------------


def one_question(table: Table, values: int, others: tuple[int, ...], correlation: Any) -> Plan:
    """A plan that asks feature `told` alone; the others have so many values."""
    sizes = {"told": values, **{f"o{i}": size for i, size in enumerate(others)}}
    features = {
        name: {"type": "categorical", "values": list(range(size)), "delta": 20.0} for name, size in sizes.items()
    }
    question = {"features": ["told"], "levels": [values], "table": 0}
    document = survey(features, [table.to_dict()], [question], [{"weight": TOTAL, "questions": [0]}])
    return Plan.build({**document, "correlation": correlation})


def random_case(rng: np.random.Generator) -> tuple[Plan, Array]:
    values, others = int(rng.integers(2, 5)), tuple(int(size) for size in rng.integers(2, 5, 2))
    prior = random_prior(rng, (values, *others))
    family, budget = rng.integers(3), float(rng.exponential(1.0)) + 0.01
    tables = (categorical(values, budget), random_dense(rng, values, 3, budget))
    table: Table = tables[0] if family else tables[1]
    model = FinitePrior(("told", "o0", "o1"), prior, "test")
    sets = [(name, frozenset({"told"})) for name in ("o0", "o1")]
    return one_question(table, values, others, model.restricted(sets).to_dict()), prior


def true_levels(plan: Plan, names: tuple[str, ...], prior: Array) -> dict[str, float]:
    """The exact level of every feature; the axes of the prior are the features as named."""
    order = list(plan.policy.features)
    exact = levels(prior.transpose([names.index(name) for name in order]), full_kernel(plan)).bcdp
    return dict(zip(order, exact.tolist(), strict=True))


def wrong_levels(plan: Plan, prior: Array) -> list[str]:
    """The features, other than the one asked, whose certified level is not the true one."""
    claims, true = certify(plan).delta, true_levels(plan, ("told", "o0", "o1"), prior)
    others = [name for name in true if name != "told"]
    return [name for name in others if claims[name] != true[name] and abs(claims[name] - true[name]) > 1e-12]


def test_the_certificate_of_single_questions_is_the_exact_level() -> None:
    """600 random priors and tables: the laws in the plan give the level of the enumeration, to 1e-12."""
    rng = np.random.default_rng(2)
    for _ in range(600):
        plan, prior = random_case(rng)
        assert wrong_levels(plan, prior) == []
        assert correlation_from_dict(plan.correlation).to_dict() == plan.correlation


def test_laws_that_are_too_narrow_are_caught() -> None:
    """The same check with the laws moved a tenth of the way to their mean, and with inequality (*) in their place."""
    rng, narrow, without = np.random.default_rng(3), 0, 0
    for _ in range(100):
        plan, prior = random_case(rng)
        document = plan.model_dump(mode="json", by_alias=True)
        rows = [
            [i, j, (0.9 * np.array(laws) + 0.1 * np.mean(laws, axis=0)).tolist()]
            for i, j, laws in plan.correlation["laws"]
        ]
        bare = {key: value for key, value in plan.correlation.items() if key not in ("laws", "odds")}
        narrow += bool(wrong_levels(Plan.build({**document, "correlation": {**bare, "laws": rows}}), prior))
        without += bool(wrong_levels(Plan.build({**document, "correlation": bare}), prior))
    assert narrow > 60
    assert without > 60


def test_one_bit_has_the_closed_form() -> None:
    """theory.md, section 4.5, with the contrast of the integer table."""
    table = binary(1.3)
    weight = table.row(1)[1] / TOTAL
    t, low, high = 2 * weight - 1, -0.3, 0.5
    laws = [[(1 - mean) / 2, (1 + mean) / 2] for mean in (low, high)]
    stated = Listed({("o0", frozenset({"told"})): 1.0}, "test", {("o0", "told"): tuple(map(tuple, laws))})
    plan = one_question(table, 2, (2,), stated.to_dict())
    exact = max(math.log((1 + t * high) / (1 + t * low)), math.log((1 - t * low) / (1 - t * high)))
    assert certify(plan).delta["o0"] == pytest.approx(exact, abs=1e-12)


def test_exact_limits_are_kept_and_reached() -> None:
    """Random laws of two to four values: the budget found keeps the demand, and one a little larger breaks it."""
    rng = np.random.default_rng(4)
    reached = 0
    for _ in range(150):
        values, demand = int(rng.integers(2, 5)), float(rng.uniform(0.05, 1.0))
        laws = rng.dirichlet(np.full(values, 1.0), size=3)
        budget = exact_limit(laws, demand, 4.0)

        def leak(b: float, laws: Array = laws, values: int = values) -> float:
            given = laws @ (categorical(values, b).dense().weights / TOTAL)
            return float(np.log(given.max(axis=0) / given.min(axis=0)).max())

        assert leak(budget) <= demand + 1e-8
        if budget < 4.0:
            reached += leak(budget + 0.01) > demand
    assert reached > 100


def test_known_laws_of_numbers_or_of_another_size_are_refused() -> None:
    laws = Listed({("o0", frozenset({"told"})): 1.0}, "test", {("o0", "told"): ((0.5, 0.5), (0.1, 0.9))}).to_dict()
    with pytest.raises(InputError, match=r"correlation\.laws of told.*accepted"):
        certify(one_question(categorical(3, 1.0), 3, (2,), laws))


# -- plans ------------------------------------------------------------------------------------------------------------


def singles(policy: Policy, model: Any) -> float:
    """n times the error of the best design of single questions."""
    return sum(1 / math.tanh(binding(policy, model, name).budget / 2) for name in policy.features) ** 2


def test_a_known_prior_is_worth_a_third_of_the_error() -> None:
    """The paper's setting: single questions reach 1031, against 1513 if only q is known, both by hand.

    A bit of contrast t tells log((1 + t q)/(1 - t q)) about a sensitive one if its mean given that is +-q
    (theory.md, section 4.5), and log(1 - q + q e^T) if only q is known (section 2); both may be 0.2.
    """
    q, policy, prior = 0.15, paper_policy(0.15), FinitePrior(NAMES, paper_prior(10, 0.15), "test")
    known, unknown = math.tanh(0.1) / q, math.tanh(math.log((math.exp(0.2) - 1 + q) / q) / 2)
    by_hand = [(2 / math.tanh(0.1) + 8 / contrast) ** 2 for contrast in (known, unknown)]
    assert by_hand[0] < 0.69 * by_hand[1]
    assert singles(policy, prior) == pytest.approx(by_hand[0], rel=1e-6)
    assert singles(policy, PerFeature(q, {})) == pytest.approx(by_hand[1], rel=1e-6)
    plan = Plan.parse(make_plan(policy, prior).text)  # read again and verified from the document alone
    assert plan.certificate.objective is not None
    assert plan.certificate.objective <= by_hand[0] * 1.001
    assert binding(policy, prior, "x5").by in ("x0", "x1")


@pytest.mark.parametrize("seed", range(6))
def test_plans_of_known_priors_keep_their_promises(seed: int) -> None:
    """Every demand holds under the prior itself, by enumeration of all reports of all records."""
    rng = np.random.default_rng(seed)
    features: dict[str, Any] = {f"x{i}": {"type": "binary", "delta": 0.3 if i < 2 else 1.5} for i in range(3)}
    features["k"] = {"type": "categorical", "values": ["u", "v", "w"]}
    prior = random_prior(rng, (2, 2, 2, 3))
    plan = make_plan(Policy(epsilon=1.5, features=features), FinitePrior(tuple(features), prior, "test"))
    true = true_levels(plan, tuple(features), prior)
    for name in features:
        claim = plan.certificate.features[name]
        assert true[name] <= claim.certified + 1e-12 <= claim.asked + 1e-12


def test_exclusive_or_is_never_asked_two_at_a_time() -> None:
    """x1 = x2 xor x3: every pair has q = 0, and still two of them together would tell the third."""
    features = {name: {"type": "binary", "delta": 0.5} for name in ("a", "b", "c")}
    zero = {i: {j: 0.0 for j in features if j != i} for i in features}
    plan = make_plan(Policy(epsilon=2.0, features=features, correlation={"pairs": zero}))
    assert all(len(asked) == 1 for asked in asked_sets(plan))
    prior = np.zeros((2, 2, 2))
    for b, c in np.ndindex(2, 2):
        prior[b ^ c, b, c] = 0.25
    assert max(true_levels(plan, ("a", "b", "c"), prior).values()) <= 0.5


def test_a_feature_of_delta_zero_leaves_single_questions() -> None:
    """Independent of each other one, though nothing is known of the others together: they are asked one by one."""
    features = {name: {"type": "binary", "delta": 0.0 if name == "a" else 1.0} for name in ("a", "b", "c")}
    model = pairwise({i: {j: 0.0 for j in features if j != i} for i in features}, "test")
    plan = make_plan(Policy(epsilon=2.0, features=features), model)
    assert set(asked_sets(plan)) == {frozenset("b"), frozenset("c")}
    assert plan.certificate.features["a"].certified == 0.0
    with pytest.raises(InputError, match=r"features\.a\.delta: got 0 .*accepted"):
        make_plan(Policy(epsilon=2.0, features=features, correlation=0.1))
