"""Designed surveys: as good as the paper's setting allows, never worse than one question, within proven bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bcdp.correlation import FinitePrior, Listed
from bcdp.errors import InputError
from bcdp.mechanisms.planning import make_plan
from bcdp.mechanisms.survey.design.classes.feature_classes import FeatureClass
from bcdp.mechanisms.survey.design.column_generation import design
from bcdp.mechanisms.survey.design.information import Kind
from bcdp.mechanisms.survey.design.menu_pricing import MenuPricing
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.notions import dobrushin, ldp_limit
from bcdp.plan import Plan
from bcdp.policy import Policy
from bcdp.randomizers import binary_information, categorical_information, numeric_information
from bcdp.statistics import Single
from support.helpers import brute_ratios, log
from support.sweeps import some

pytestmark = pytest.mark.slow


def policy(deltas: list[float], epsilon: float, correlation: Any, **more: Any) -> Policy:
    features = {f"x{i}": {"type": "binary", "delta": delta} for i, delta in enumerate(deltas)}
    return Policy(epsilon=epsilon, features=features, correlation=correlation, **more)


# -- how good the designs are -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("q", "objective"),
    [(1e-9, 332), (0.01, 461), (0.12, 1070), (0.23, 1788), (0.45, 3672), (0.78, 7130), (1.0, 10068)],
)
def test_the_paper_s_setting(q: float, objective: float) -> None:
    """Ten bits, two of them sensitive: n times the error, at most what theory 4.1 reaches without joint tables."""
    certificate = make_plan(policy([0.2, 0.2] + [2.0] * 8, 2.0, q)).certificate
    assert certificate.objective is not None
    assert certificate.objective <= objective
    assert certificate.optimality_gap is not None
    assert certificate.optimality_gap <= 1.01


@pytest.mark.parametrize(("epsilon", "objective"), [(1.0, 468.3), (1.34, 292.3), (2.0, 132.5), (4.0, 42.5)])
def test_plain_ldp(epsilon: float, objective: float) -> None:
    certificate = make_plan(policy([epsilon] * 10, epsilon, 1.0)).certificate
    assert certificate.objective is not None
    assert certificate.objective <= objective


@pytest.mark.parametrize("q", [1e-9, 0.01, 0.12, 0.45, 1.0])
def test_the_gap_is_small_without_joint_questions(q: float) -> None:
    sensitive = FeatureClass((Single("a"), Single("b")), Kind("binary"), 0.2, q, 0.2, 1.0)
    limit = float(ldp_limit(0.2, q))
    alone = min(2.0, max(limit, 0.2))
    other = FeatureClass(tuple(map(Single, "cdefghij")), Kind("binary"), alone, q, alone, 1.0)
    assert 1 - 1e-9 <= design((sensitive, other), alone, groups=False).gap <= 1.001


@pytest.mark.parametrize(("sizes", "epsilon", "most"), [((2, 4), 3.0, 3.78), ((2, 4), 4.0, 2.57), ((3, 4), 4.0, 2.71)])
def test_features_of_different_sizes_share_a_response(sizes: tuple[int, ...], epsilon: float, most: float) -> None:
    """One randomized response over all combinations, its second moments from its own probabilities."""
    features = {
        f"x{size}": {"type": "categorical", "values": list(range(size))} if size > 2 else {"type": "binary"}
        for size in sizes
    }
    combinations = math.prod(sizes)
    truth, other = (weight / (math.exp(epsilon) + combinations - 1) for weight in (math.exp(epsilon), 1.0))
    moments = []
    for size in sizes:
        chance = other * combinations / size  # of one value under untrue answers
        squares = 1.0 if size == 2 else (1 - chance) ** 2 + (size - 1) * chance**2
        moments.append(squares / (truth - other) ** 2)
    certificate = make_plan(Policy(epsilon=epsilon, features=features, correlation=1.0)).certificate
    assert certificate.objective is not None
    assert certificate.objective <= sum(moments) * (1 + 1e-6) <= most


# -- never worse than one question ------------------------------------------------------------------------------------


def random_policy(rng: np.random.Generator) -> Policy:
    epsilon = float(rng.choice([0.5, 1.0, 2.0, 3.0]))
    features: dict[str, Any] = {}
    tasks = []
    for i in range(rng.integers(1, 4)):
        kind = str(rng.choice(["binary", "binary", "categorical", "numeric"]))
        more = {"categorical": {"values": list(range(rng.integers(2, 6)))}, "numeric": {"bounds": [0, 1]}}.get(kind, {})
        features[f"x{i}"] = {"type": kind, "delta": epsilon * float(rng.choice([0.2, 0.5, 1.0])), **more}
        target = "frequency" if kind == "categorical" else "mean"
        tasks.append({target: [f"x{i}"], "weight": float(rng.choice([1.0, 1.0, 3.0]))})
    correlation = {name: float(rng.choice([0.0, 0.02, 0.3, 1.0])) for name in features}
    return Policy(epsilon=epsilon, features=features, tasks=tasks, correlation=correlation)


def single_errors(asked: Policy) -> Iterator[tuple[str, float, float]]:
    """Of each task its feature, its error if everybody answers one question about it, and how much that counts.

    Worked out here from the inequality (*) alone. Frequencies count like the mean of a sign with the same budget.
    """
    for task in asked.tasks:
        name = task.features[0]  # type: ignore[attr-defined]
        budget = min(asked.features[name].delta, asked.epsilon)
        for other, feature in asked.features.items():
            q = asked.correlation.of(other)  # type: ignore[union-attr]
            if other != name and q > 0:
                budget = min(budget, max(math.log(1 + math.expm1(feature.delta) / q), feature.delta))
        feature, sign = asked.features[name], 1 / math.tanh(budget / 2) ** 2
        if feature.type == "categorical":
            moment = 1 / float(categorical_information(len(feature.values), budget))
            yield name, moment, task.weight * sign / moment
        else:
            yield name, 1 / float(numeric_information(budget)) if feature.type == "numeric" else sign, task.weight


def test_never_worse_than_one_question() -> None:
    """200 random policies of mixed kinds, demands, correlations and weights; curves of numbers are known to 0.5%."""
    rng = np.random.default_rng(1)
    better = 0
    for _ in (tried := some(200)):
        asked = random_policy(rng)
        told, found, errors = information(make_plan(asked)), 0.0, []
        for name, error, weight in single_errors(asked):
            found += weight / told[Single(name)]
            errors.append(weight * error)
        single = float(np.sqrt(errors).sum() ** 2)  # the best probabilities are as the roots
        assert found <= single * 1.006
        better += found < single * 0.95
    assert better > len(tried) / 10


# -- many values beside few -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("values", [3, 10, 100, 10_000])
@pytest.mark.parametrize("q", [0.05, 1.0])
def test_many_values_do_not_starve_a_feature_of_two(values: int, q: float) -> None:
    """Asked of everybody it has an error of 1/tanh^2(delta/2): beside any other feature, at most twice as much."""
    features = {
        "sick": {"type": "binary", "delta": 0.3},
        "page": {"type": "categorical", "values": list(range(values))},
    }
    told = information(make_plan(Policy(epsilon=4.0, features=features, correlation=q)))
    own = math.tanh(0.15) ** 2
    assert told[Single("sick")] >= own / 2.01
    heavy = Policy(epsilon=4.0, features=features, correlation=q, tasks=[
        {"mean": ["sick"]}, {"frequency": ["page"], "weight": 25}])  # fmt: skip
    assert information(make_plan(heavy))[Single("sick")] < own / 4 or q < 1  # the policy's word comes on top


def test_a_large_table_does_not_starve_a_mean() -> None:
    features = {
        "sick": {"type": "binary", "delta": 0.3},
        **{name: {"type": "categorical", "values": list(range(6))} for name in ("job", "town")},
    }
    tasks = [{"mean": ["sick"]}, {"table": ["job", "town"]}]
    plan = make_plan(Policy(epsilon=2.0, features=features, correlation=1.0, tasks=tasks))
    assert information(plan)[Single("sick")] >= math.tanh(0.15) ** 2 / 10
    assert plan.certificate.objective is not None
    assert plan.certificate.objective > 36  # the total error is told as it is, over all cells


# -- the bound is a bound ---------------------------------------------------------------------------------------------


def random_market(rng: np.random.Generator) -> tuple[tuple[FeatureClass, ...], float]:
    total = float(rng.uniform(0.3, 2.6))
    classes: list[FeatureClass] = []
    for number in range(rng.integers(1, 4)):
        delta = float(total * rng.choice([1.0, rng.uniform(0.05, 1.0)]))
        q = 0.0 if delta == total else float(rng.uniform(0, math.expm1(delta) / math.expm1(total)))
        members = tuple(Single(f"x{number}_{i}") for i in range(rng.integers(1, 5)))
        classes.append(FeatureClass(members, Kind("binary"), delta, q, delta, 1.0))
    return tuple(classes), total


def best_random_menu(rng: np.random.Generator, classes: tuple[FeatureClass, ...], total: float, prices: Any) -> float:
    """The value of the best of thousands of budget splits that keep every delta, equal and unequal, by (*) alone."""
    owner = np.repeat(np.arange(len(classes)), [len(c.members) for c in classes])
    delta, q = (np.array([getattr(classes[c], field) for c in owner]) for field in ("delta", "q"))
    spent = total * rng.uniform(0, 1, 4000)[:, None]
    spent[:1000] = total
    with np.errstate(divide="ignore", invalid="ignore"):
        cap = np.where(delta >= spent, spent, np.log((np.exp(delta) - q * np.exp(spent)) / (1 - q)))
    keeps = ~(np.isnan(cap) | (cap < 0)).any(axis=1)  # a total that an unasked feature can live with
    cap = np.where(keeps[:, None], cap, 0.0)
    share = rng.uniform(0, 1, cap.shape) ** rng.choice([0.0, 0.0, 0.2, 1.0], (len(cap), 1))
    share *= rng.random(cap.shape) < rng.uniform(0, 1, (len(cap), 1))
    budgets = cap * share
    left = np.maximum(spent[:, 0] - budgets.sum(axis=1), 0)
    first = rng.integers(len(owner), size=len(cap))
    rows = np.arange(len(cap))
    budgets[rows, first] = np.minimum(budgets[rows, first] + left, cap[rows, first])
    over = budgets.sum(axis=1, keepdims=True)
    budgets *= np.where(over > spent, spent / np.maximum(over, 1e-300), 1.0)
    return float((binary_information(budgets) @ prices[owner]).max())


def test_no_menu_is_worth_more_than_the_bound() -> None:
    """300 random markets, 4,000 feasible menus each, many near the bound; a coarse search's best is exceeded."""
    rng = np.random.default_rng(2)
    near, coarse_exceeded = 0, 0
    for _ in range(300):
        classes, total = random_market(rng)
        prices = rng.lognormal(0, 1, len(classes))
        market = MenuPricing(classes, total, groups=False)
        priced = market.best(prices, 1e-4)
        found = best_random_menu(rng, classes, total, prices)
        assert found <= priced.bound * (1 + 1e-9)
        assert priced.value <= priced.bound
        near += found > 0.99 * priced.bound
        coarse_exceeded += found > market.best(prices, 1.0).value * (1 + 1e-6)
    assert near > 100
    assert coarse_exceeded > 20


# -- every plan keeps what was asked ----------------------------------------------------------------------------------

names = st.sampled_from(["a", "b", "c", "d"])
levels_asked = st.sampled_from([0.05, 0.3, 1.0, 2.5, 6.0])
feature_documents = st.one_of(
    st.fixed_dictionaries({"type": st.just("binary"), "delta": levels_asked}),
    st.fixed_dictionaries(
        {
            "type": st.just("categorical"),
            "values": st.integers(1, 6).map(lambda k: list(range(k))),
            "delta": levels_asked,
        }
    ),
    st.fixed_dictionaries({"type": st.just("numeric"), "bounds": st.just([0, 1]), "delta": levels_asked}),
)


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    st.dictionaries(names, feature_documents, min_size=1, max_size=4),
    levels_asked,
    st.sampled_from([0.0, 1e-12, 0.01, 0.2, 0.7, 1.0]) | st.dictionaries(names, st.floats(0, 1), max_size=4),
)
def test_a_made_plan_keeps_every_demand(features: dict[str, Any], epsilon: float, correlation: Any) -> None:
    if isinstance(correlation, dict):
        correlation = {name: q for name, q in correlation.items() if name in features} | {"default": 0.1}
    asked = Policy(epsilon=epsilon, features=features, correlation=correlation)
    if all(len(feature.get("values", (0, 1))) < 2 for feature in features.values()):
        with pytest.raises(InputError, match="no feature can be asked"):
            make_plan(asked)
        return
    plan = make_plan(asked)
    assert Plan.parse(plan.text).id == plan.id
    assert plan.certificate.epsilon <= epsilon
    for name, claim in plan.certificate.features.items():
        assert claim.certified <= claim.asked == features[name]["delta"]


def test_pairs_never_speak_for_three() -> None:
    """x1 = x2 xor x3: pairwise q are 0; no menu asks two of the three beyond what min delta allows."""
    prior = np.zeros((2, 2, 2))
    for b, c in np.ndindex(2, 2):
        prior[b ^ c, b, c] = 0.25
    pairs = {(i, frozenset({j})): dobrushin(prior, i, (j,)) for i in range(3) for j in range(3) if i != j}
    assert set(pairs.values()) == {0.0}
    deltas = [0.3, 1.0, 1.5]
    inline = {f"x{i}": {f"x{j}": 0.0 for j in range(3) if j != i} for i in range(3)}
    known = FinitePrior(("x0", "x1", "x2"), prior, "known")
    by_pairs = make_plan(policy(deltas, 2.0, {"pairs": inline}))
    by_prior = make_plan(policy(deltas, 2.0, 1.0), known)
    for plan in (by_pairs, by_prior):
        epsilon, _, delta = brute_ratios(plan)
        assert log(epsilon) <= 2.0
        for menu in plan.menus:
            questions = [plan.questions[number] for number in menu.questions]
            asked = {name for question in questions for name in question.features}
            if len(asked) > 1:
                assert sum(plan.tables[question.table].level for question in questions) <= min(deltas)
        assert all(log(delta[f"x{i}"]) <= level for i, level in enumerate(deltas))
    assert by_pairs.certificate.epsilon > 1.4  # alone, each may still be asked at its own delta


# -- edges ------------------------------------------------------------------------------------------------------------


def asked_features(plan: Plan) -> set[str]:
    return {name for question in plan.questions for name in question.features}


def test_delta_zero() -> None:
    """Independent of the rest it is never asked; correlated with it, nothing could be asked at all."""
    plan = make_plan(policy([0.0, 1.0], 1.0, 0.0))
    assert asked_features(plan) == {"x1"}
    assert plan.certificate.features["x0"].certified == 0.0
    with pytest.raises(InputError, match=r"features\.x0\.delta: got 0 .*; accepted: a larger delta, or correlation 0"):
        make_plan(policy([0.0, 1.0], 1.0, 0.01))


def test_only_features_that_cannot_be_asked() -> None:
    with pytest.raises(InputError, match="no feature can be asked"):
        make_plan(policy([0.0], 1.0, 0.0))


@pytest.mark.parametrize("epsilon", [1e-3, 20.0])
@pytest.mark.parametrize("correlation", [0.0, 0.1, 1.0])
def test_small_and_large_budgets(epsilon: float, correlation: float) -> None:
    plan = make_plan(policy([epsilon, epsilon, epsilon / 2], epsilon, correlation))
    assert Plan.parse(plan.text).certificate.epsilon <= epsilon
    assert asked_features(plan) == {"x0", "x1", "x2"}


@pytest.mark.parametrize("feature", [
    {"type": "binary"}, {"type": "numeric", "bounds": [0, 1]}, {"type": "categorical", "values": [1, 2, 3]}
])  # fmt: skip
def test_a_single_feature(feature: dict[str, Any]) -> None:
    """One menu, one question, the whole budget; correlation has nobody to speak of."""
    plan = make_plan(Policy(epsilon=1.0, features={"only": feature}, correlation=1.0))
    assert [len(menu.questions) for menu in plan.menus] == [1]
    assert 1 - 1e-6 < plan.certificate.epsilon <= 1.0


def test_a_value_that_everybody_has_is_not_asked() -> None:
    features = {"same": {"type": "categorical", "values": ["x"]}, "b": {"type": "binary"}}
    assert asked_features(make_plan(Policy(epsilon=1.0, features=features))) == {"b"}


def test_features_in_no_task_are_protected_and_not_asked() -> None:
    asked = policy([1.0, 0.1, 1.0], 1.0, 0.3, tasks=[{"mean": ["x0"]}])
    plan = make_plan(asked)
    assert asked_features(plan) == {"x0"}
    assert 0 < plan.certificate.features["x1"].certified <= 0.1


def test_equal_features_are_asked_equally() -> None:
    plan = make_plan(policy([1.0] * 7, 1.0, 0.2))
    share = dict.fromkeys(plan.policy.features, 0)
    for menu in plan.menus:
        for number in menu.questions:
            for name in plan.questions[number].features:
                share[name] += menu.weight
    assert max(share.values()) - min(share.values()) <= 16


def test_ten_thousand_categories() -> None:
    features = {"page": {"type": "categorical", "values": list(range(10_000))}, "b": {"type": "binary", "delta": 0.5}}
    plan = make_plan(Policy(epsilon=1.0, features=features, correlation=0.1))
    assert asked_features(plan) == {"page", "b"}
    assert Plan.parse(plan.text).id == plan.id


def test_a_stated_model_stands_in_for_the_policy_s() -> None:
    """A feature of delta 0.1 whose only correlation, with one other, is known exactly."""
    pairs = Listed({("x0", frozenset({"x1"})): 0.01, ("x1", frozenset({"x0"})): 0.01}, "known")
    close, wide = (make_plan(policy([0.1, 2.0], 2.0, 1.0), model) for model in (pairs, None))
    assert close.certificate.objective is not None
    assert wide.certificate.objective is not None
    assert close.certificate.objective < wide.certificate.objective / 2
