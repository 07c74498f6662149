"""Regression from counts: exact where counts are exact, as precise as planned, never worse than predicting the mean.

Chance enters through counts drawn from the exact law of the answers with fixed seeds, so every test is deterministic.
"""

from __future__ import annotations

import json
import math
import re
from dataclasses import replace
from typing import Any

import numpy as np
import pandas
import pytest
from scipy.stats import binom, norm
from sklearn.base import clone, is_regressor
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import Pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils import estimator_checks
from sklearn.utils.validation import check_is_fitted

from bcdp import InputError, Plan, Policy, SurveyRegressor, Tally, estimate, make_plan, privatize
from bcdp.compare.regression import DELTA, EPSILON, RADIUS, THETA, equal_moments, excess_risk, population
from bcdp.compare.survey import survey_of
from bcdp.correlation import PerFeature
from bcdp.exact import TOTAL
from bcdp.mechanisms.cascade import trust_region
from bcdp.mechanisms.survey.design.column_generation import design
from bcdp.mechanisms.survey.design.joint.candidates import ShapeOffers
from bcdp.mechanisms.survey.design.planner import Setting, plan_evenly
from bcdp.mechanisms.survey.estimation.decoder import information
from bcdp.mechanisms.survey.estimation.tally import SurveyTally
from bcdp.present.plan_summary import expectations
from bcdp.statistics import Product, Single
from bcdp.statistics.regression.design_matrix import Column, Moments, by_target, moment_targets, moment_weights, moments
from bcdp.statistics.regression.fit import fit
from bcdp.statistics.regression.inference import HELPS, Counted
from bcdp.statistics.regression.least_squares import Noise, centred
from bcdp.statistics.regression.model import RegressionEstimate
from support.helpers import full_kernel, sizes_of, tally_of

pytestmark = pytest.mark.slow

FEATURES: dict[str, Any] = {
    "ill": {"type": "binary", "values": ["no", "yes"], "delta": 1.0},
    "age": {"type": "numeric", "bounds": [20, 80]},
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
    "hours": {"type": "numeric", "bounds": [0, 40]},
}
TASK = {"target": "hours", "features": ["ill", "age", "region"]}


def mixed_policy(**changes: Any) -> Policy:
    return Policy(epsilon=3, features=FEATURES, tasks=[{"regression": TASK | changes}], correlation=0.05)


def with_counts(plan: Plan, law: np.ndarray, people: int) -> SurveyTally:
    """A tally with the counts that are expected of so many people."""
    return tally_of(plan, np.rint(law * people).astype(int))


def moments_of(tally: SurveyTally, found: RegressionEstimate, draws: int = 0) -> Moments:
    """The moments of a regression with an intercept, as they are or drawn again."""
    policy, decoder = tally.plan.policy, tally.decoder()
    targets = sorted(moment_targets(policy, found.design, intercept=True), key=repr)
    told = decoder.together(targets)
    return moments(policy, found.design, by_target(policy, targets, told.drawn(draws) if draws else told.value))


def law_of(plan: Plan, prior: np.ndarray) -> np.ndarray:
    """The law of (menu, answer) for people of this prior."""
    return np.tensordot(prior, full_kernel(plan), axes=prior.ndim)


def least_squares(design: np.ndarray, target: np.ndarray, weights: np.ndarray) -> np.ndarray:
    return np.linalg.solve(design.T @ (weights[:, None] * design), design.T @ (weights * target))


@pytest.fixture(scope="module")
def mixed() -> tuple[Plan, np.ndarray]:
    plan = make_plan(mixed_policy())
    rng = np.random.default_rng(1)
    return plan, rng.dirichlet(np.full(math.prod(sizes_of(plan)), 0.2)).reshape(sizes_of(plan))


def values_of(plan: Plan, prior: np.ndarray) -> dict[str, np.ndarray]:
    """The records of the enumeration in own units, flat, by feature."""
    grid = dict(zip(plan.policy.features, np.indices(prior.shape).reshape(prior.ndim, -1), strict=True))
    step = {name: place / place.max() for name, place in grid.items()}
    return {"ill": step["ill"], "age": 20 + 60 * step["age"], "region": grid["region"], "hours": 40 * step["hours"]}


def test_exact_counts_give_exact_coefficients(mixed: tuple[Plan, np.ndarray]) -> None:
    """Numbers, a sign and categories: with the counts expected of 10^13 people, least squares of the population."""
    plan, prior = mixed
    found = estimate(with_counts(plan, law_of(plan, prior), 10**13)).regression
    own, weights = values_of(plan, prior), prior.ravel()
    south, east = own["region"] == 1, own["region"] == 2
    design = np.stack([own["ill"], own["age"], south, east, np.ones(prior.size)], axis=1)
    true = least_squares(design, own["hours"], weights)
    assert found is not None
    assert list(found.coefficients) == ["ill", "age", "region[south]", "region[east]"]
    numbers = [*found.coefficients.values(), found.intercept]
    np.testing.assert_allclose([number.value for number in numbers], true, rtol=1e-3, atol=1e-3)
    assert all(number.low <= truth <= number.high for number, truth in zip(numbers, true, strict=True))
    rest = own["hours"] - design @ true
    spread = own["hours"] - weights @ own["hours"]
    assert found.explained.value == pytest.approx(1 - weights @ rest**2 / (weights @ spread**2), abs=1e-4)
    people = {"ill": ["no", "yes"], "age": [30, 70], "region": ["south", "north"]}
    predicted = np.array([[0, 30, 1, 0, 1], [1, 70, 0, 0, 1]]) @ true
    np.testing.assert_allclose(found.predict(plan.policy, people), predicted, rtol=1e-3)
    assert json.loads(json.dumps(found.to_dict()))["coefficients"]["age"].keys() == {"value", "se", "low", "high"}


@pytest.mark.parametrize("interactions", [[["ill", "old"]], [["ill", "region"], ["old", "ill"]], [["old", "region"]]])
def test_features_with_values_interact(interactions: list[list[str]]) -> None:
    """Products of signs and of indicators are columns: with exact counts, least squares of the population."""
    features = {name: FEATURES[name] for name in ("ill", "region", "hours")} | {"old": {"type": "binary"}}
    task = {"target": "hours", "features": ["ill", "old", "region"], "interactions": interactions}
    plan = make_plan(Policy(epsilon=3, features=features, tasks=[{"regression": task}], correlation=0.05))
    prior = np.random.default_rng(1).dirichlet(np.full(math.prod(sizes_of(plan)), 0.3)).reshape(sizes_of(plan))
    found = estimate(with_counts(plan, law_of(plan, prior), 10**13)).regression
    assert found is not None
    grid = dict(zip(plan.policy.features, np.indices(prior.shape).reshape(prior.ndim, -1), strict=True))
    own = {"ill": grid["ill"], "old": grid["old"], "region[south]": grid["region"] == 1}
    own |= {"region[east]": grid["region"] == 2}
    columns = [np.prod([own[part] for part in name.split(" x ")], axis=0) for name in found.coefficients]
    assert len(columns) == 4 + sum(2 if "region" in pair else 1 for pair in interactions)
    design = np.stack([*columns, np.ones(prior.size)], axis=1)
    true = least_squares(design, 40 * grid["hours"] / grid["hours"].max(), prior.ravel())
    numbers = [*found.coefficients.values(), found.intercept]
    np.testing.assert_allclose([number.value for number in numbers], true, rtol=1e-4, atol=1e-3)
    assert set(found.adds) == {"ill", "old", "region", *(" x ".join(pair) for pair in interactions)}
    people = {"ill": ["yes", "no"], "old": [True, True], "region": ["south", "east"]}
    of_them = {"ill": [1, 0], "old": [1, 1], "region[south]": [1, 0], "region[east]": [0, 1]}
    rows = [np.prod([of_them[part] for part in name.split(" x ")], axis=0) for name in found.coefficients]
    np.testing.assert_allclose(found.predict(plan.policy, people), np.stack([*rows, [1, 1]], axis=1) @ true, rtol=1e-3)
    (expected,) = expectations(plan, 10**6)
    assert list(expected.document["standard_errors"]) == list(found.coefficients)


@pytest.mark.parametrize("target", ["hours", "ill"])
def test_no_answer_is_one_more_value(target: str) -> None:
    """With `missing: own` it has a coefficient, or a regression, of its own: with exact counts, least squares."""
    features = {name: FEATURES[name] | {"missing": "own"} for name in ("ill", "region")} | {"hours": FEATURES["hours"]}
    others = ["ill", "region"] if target == "hours" else ["region"]
    policy = Policy(epsilon=3, features=features, tasks=[{"regression": {"target": target, "features": others}}])
    plan = make_plan(policy)
    sizes = sizes_of(plan)
    prior = np.random.default_rng(2).dirichlet(np.full(math.prod(sizes), 0.5)).reshape(sizes)
    grid = dict(zip(plan.policy.features, np.indices(sizes).reshape(prior.ndim, -1), strict=True))
    values = {name: [*plan.policy.features[name].categories] for name in ("ill", "region")}
    assert [listed[-1] for listed in values.values()] == ["no answer"] * 2
    own = {f"{name}[{value}]": grid[name] == n for name, listed in values.items() for n, value in enumerate(listed)}
    own["hours"] = 40 * grid["hours"] / grid["hours"].max()
    fits = estimate(with_counts(plan, law_of(plan, prior), 10**13)).regressions
    assert [fit.target for fit in fits] == (
        ["hours"] if target == "hours" else ["ill[no]", "ill[yes]", "ill[no answer]"]
    )
    for fitted in fits:
        assert [name for name in fitted.coefficients if name.endswith("[no answer]")] == [
            f"{n}[no answer]" for n in others
        ]
        design = np.stack([*(own[name] for name in fitted.coefficients), np.ones(prior.size)], axis=1).astype(float)
        true = least_squares(design, np.asarray(own[fitted.target], dtype=float), prior.ravel())
        numbers = [*fitted.coefficients.values(), fitted.intercept]
        np.testing.assert_allclose([number.value for number in numbers], true, rtol=1e-3, atol=1e-3)
    answers = {"ill": ["yes", None], "region": [None, "south"]}
    rows = [[1 if name in ("ill[yes]", "region[no answer]") else 0 for name in fits[0].coefficients],
            [1 if name in ("ill[no answer]", "region[south]") else 0 for name in fits[0].coefficients]]  # fmt: skip
    slopes = [number.value for number in fits[0].coefficients.values()]
    np.testing.assert_allclose(fits[0].predict(plan.policy, answers), np.array(rows) @ slopes + fits[0].intercept.value)


def test_a_number_that_may_be_missing_is_in_no_regression() -> None:
    features = {"ill": FEATURES["ill"], "hours": FEATURES["hours"] | {"missing": "own"}}
    for task in ({"target": "hours", "features": ["ill"]}, {"target": "ill", "features": ["hours"]}):
        with pytest.raises(InputError, match="got 'hours'; accepted: a feature without `missing: own`"):
            Policy(epsilon=3, features=features, tasks=[{"regression": task}])


def test_a_plan_read_from_a_file_estimates_alike(mixed: tuple[Plan, np.ndarray]) -> None:
    """The canonical text sorts the features, and the plan keeps their order."""
    plan, prior = mixed
    again = Plan.parse(plan.text)
    law = law_of(plan, prior)
    assert list(again.policy.features) == list(FEATURES)
    assert estimate(with_counts(again, law, 10**6)) == estimate(with_counts(plan, law, 10**6))


def test_without_an_intercept_the_line_passes_through_the_middle_of_every_range() -> None:
    plan = make_plan(mixed_policy(intercept=False))
    rng = np.random.default_rng(2)
    prior = rng.dirichlet(np.full(math.prod(sizes_of(plan)), 0.2)).reshape(sizes_of(plan))
    found = estimate(with_counts(plan, law_of(plan, prior), 10**13)).regression
    own = values_of(plan, prior)
    signs = [2.0 * (own["region"] == value) - 1 for value in range(3)]
    design = np.stack([2 * own["ill"] - 1, (own["age"] - 50) / 30, *signs], axis=1)
    true = least_squares(design, (own["hours"] - 20) / 20, prior.ravel())
    assert found is not None
    scale = np.array([2, 2 / 60, 2, 2, 2]) * 20
    np.testing.assert_allclose([c.value for c in found.coefficients.values()], true * scale, rtol=2e-3, atol=2e-3)


def test_what_is_asked_for_a_regression() -> None:
    """Squares of numbers and all pairs of different features; nothing that is known or follows."""
    policy = mixed_policy()
    regression = policy.tasks[0].regression  # type: ignore[attr-defined]
    design = regression.designs(policy)[0]
    assert design == (Column("ill"), Column("age"), Column("region", 1), Column("region", 2), Column("hours"))
    asked: dict[Any, float] = {}
    for target, weight in moment_weights(policy, design, intercept=True, explains=0.1):
        asked[target] = asked.get(target, 0.0) + weight
    products = {target for target in asked if isinstance(target, Product)}
    assert len(products) == 2 + 9  # two squares, and ten pairs of columns without that of two regions
    sign, number, third = 2 / 3, 2 / 9, 8 / 9  # the variances that are planned for
    assert asked[Product(("age", "hours"), (None, None))] == pytest.approx(1 / number)
    assert asked[Product(("age", "ill"), (None, None))] == pytest.approx(2 * 0.1 / 4 * number / (sign * number))
    assert asked[Product(("age", "region"), (None, 2))] == pytest.approx(2 * 0.1 / 4 * number / (third * number))
    assert asked[Product(("age",), (None,))] == pytest.approx(0.1 / 4 * number / number**2 / 4)
    assert {target for target in asked if isinstance(target, Single)} == set(map(Single, FEATURES))
    known = mixed_policy(intercept=False, features=["ill", "age"])
    means = [target for target, _ in known.tasks[0].targets(known) if isinstance(target, Single)]
    assert means == []


def test_the_design_counts_what_each_error_adds_to_that_of_the_predictions() -> None:
    """Of signs without an intercept, 1 for a product with the target and 2 R^2 / d for two features: each is perturbed.

    The population has independent fair signs and coefficients that explain equal parts; the error of the predictions is
    averaged over their signs, and is a parabola in each error but for the fourth order.
    """
    columns, share, step = 4, 0.3, 1e-3
    policy = survey_of([1.0] * (columns + 1), 2.0, 0.1, {"intercept": False, "explains": share})
    task = policy.tasks[0]
    weights: dict[Any, float] = {}
    for target, weight in task.targets(policy):
        weights[target] = weights.get(target, 0.0) + weight
    assert set(weights.values()) == {1.0, 2 * share / columns}
    for target, weight in weights.items():
        places = [int(name[1:]) for name in target.features]
        added = []
        for signs in np.ndindex(*(2,) * columns):
            theta = math.sqrt(share / columns) * (2 * np.array(signs) - 1)
            second = np.eye(columns + 1)
            second[-1, :-1] = second[:-1, -1] = theta
            second[places, places[::-1]] += step
            found = np.linalg.solve(second[:-1, :-1], second[:-1, -1])
            added.append(((found - theta) ** 2).sum() / step**2)
        assert np.mean(added) == pytest.approx(weight, rel=1e-2)


@pytest.mark.parametrize(("q", "least"), [(0.0, 3.0), (0.19, 1.25)])
def test_products_are_told_by_joint_questions_where_these_tell_more(q: float, least: float) -> None:
    """Six signs of three demands: the same classes, if nothing but products is asked for products, and as planned."""
    deltas = [0.3, 0.3, 1.0, 1.0, 2.0, 2.0]
    policy = survey_of(deltas, 2.0, q, {})
    setting = Setting.of(policy, PerFeature(q, {}))
    apart = tuple(replace(c, interaction=()) for c in setting.classes)
    offers = ShapeOffers(apart, setting.epsilon, setting.outside)
    before = design(apart, setting.total, further=offers).objective
    told = information(make_plan(policy))
    after = sum(weight / told[target] for target, weight in setting.weights.items())
    assert before / after > least


def test_the_even_survey_asks_nothing_that_nobody_wants() -> None:
    """Without an intercept no mean is wanted, and the baseline spends nobody on one."""
    policy = survey_of([0.3, 1.0, 2.0], 2.0, 0.1, {"intercept": False})
    plan = plan_evenly(policy, PerFeature(0.1, {}))
    assert [question.kind for question in plan.questions] == ["product"] * 3


# -- the scenario: nine signs, two of them sensitive, and a label ------------------------------------------------------


@pytest.fixture(scope="module")
def scenario() -> tuple[Plan, np.ndarray]:
    policy = survey_of(DELTA, EPSILON, population().q.tolist(), {"intercept": False, "radius": RADIUS})
    plan = make_plan(policy)
    return plan, law_of(plan, population().probabilities.reshape((2,) * 10))


def draw(scenario: tuple[Plan, np.ndarray], people: int, rng: np.random.Generator) -> SurveyTally:
    plan, law = scenario
    return tally_of(plan, rng.multinomial(people, law / law.sum()))


def fitted(scenario: tuple[Plan, np.ndarray], tally: SurveyTally) -> RegressionEstimate:
    policy = scenario[0].policy
    model = policy.tasks[0].regression  # type: ignore[attr-defined]
    return fit(tally.decoder(), model, model.designs(policy)[0], 0.95)


def seen_in(found: RegressionEstimate) -> bool:
    """Whether the remark says that the features help; without the advice, which takes longer."""
    return isinstance(found.evidence, Counted) and found.evidence.helps


def theta_of(found: RegressionEstimate) -> np.ndarray:
    return np.array([number.value for number in found.coefficients.values()])


def test_a_million_people_are_enough(scenario: tuple[Plan, np.ndarray]) -> None:
    """Excess risk at most 0.012 with 10^5 people, 0.0022 with 10^6; the plan foretells the moments' errors within 5%.

    More than half of the people are asked about a product with the label. The design for all moments alike has twice
    the risk at the same size, with the same estimator.
    """
    plan, _ = scenario
    assert population().q.max() < 0.28
    assert plan.certificate.features["x0"].certified <= 0.2
    weights = dict(plan.policy.tasks[0].targets(plan.policy))
    rng, errors, risks = np.random.default_rng(3), [], []
    for _ in range(60):
        tally = draw(scenario, 1_000_000, rng)
        found = fitted(scenario, tally)
        moments = tally.decoder().means(set(weights))
        true = {t: population().second_moments[tuple(int(name[1:]) for name in t.features)] for t in weights}
        errors.append(sum(weight * float(moments[t][0] - true[t]) ** 2 for t, weight in weights.items()))
        risks.append(excess_risk(theta_of(found)))
        assert found.remark == HELPS
    assert np.mean(risks) <= 0.0022
    assert plan.certificate.objective is not None
    assert np.mean(errors) == pytest.approx(plan.certificate.objective / 1e6, rel=0.05)
    fewer = [excess_risk(theta_of(fitted(scenario, draw(scenario, 100_000, rng)))) for _ in range(60)]
    assert np.mean(fewer) <= 0.012
    asked = [menu.weight for menu in plan.menus if "x9" in plan.questions[menu.questions[0]].features]
    assert sum(asked) / TOTAL > 0.5
    old = Plan.parse(equal_moments(population().q).mechanism.text)
    alike = old, law_of(old, population().probabilities.reshape((2,) * 10))
    assert np.mean([excess_risk(theta_of(fitted(alike, draw(alike, 100_000, rng)))) for _ in range(30)]) > 2 * np.mean(
        fewer
    )


@pytest.mark.parametrize("people", [300, 1_000, 3_000, 10_000, 30_000, 100_000, 300_000])
def test_never_worse_than_predicting_the_mean(scenario: tuple[Plan, np.ndarray], people: int) -> None:
    """On average over 60 trials, at every size; least squares as it comes is far worse at the small ones."""
    rng, risks, plain = np.random.default_rng(4), [], []
    for _ in range(60):
        tally = draw(scenario, people, rng)
        found = fitted(scenario, tally)
        risks.append(excess_risk(theta_of(found)))
        middle = centred(moments_of(tally, found), False)
        if middle.known:
            plain.append(excess_risk(trust_region(middle.matrix, middle.slope, RADIUS)))
    nothing = excess_risk(np.zeros(9))
    assert nothing == pytest.approx(THETA @ (0.95 * np.eye(9) + 0.05) @ THETA / 2)  # any two features: 0.05
    slack = (
        3 * np.std(risks) / math.sqrt(60) if people < 1_000 else 0.0
    )  # with seven people to a menu nothing can be learned
    assert np.mean(risks) <= nothing + slack
    assert people < 1_000 or people > 30_000 or np.mean(plain) > nothing


def test_intervals_cover(scenario: tuple[Plan, np.ndarray]) -> None:
    """300 collections of a million people, judged by how often intervals miss and by their squared distances.

    False alarm 1e-9 for each: a coefficient missed more often than 95% intervals do, by the exact law of the count; a
    mean squared distance, in standard errors, that is not 1, for each and for all. Intervals 15% too narrow or too
    wide are caught.
    """
    rng, trials = np.random.default_rng(6), 300
    beside = []
    for _ in range(trials):
        numbers = list(fitted(scenario, draw(scenario, 1_000_000, rng)).coefficients.values())
        low, high = np.array([(number.low, number.high) for number in numbers]).T
        beside.append(((low + high) / 2 - THETA) / ((high - low) / 2))
    missed = (np.abs(beside) > 1).sum(axis=0)
    assert missed.max() <= binom.isf(1e-9 / 9, trials, 0.05)
    squares = np.square(beside) * norm.ppf(0.975) ** 2
    squares = np.column_stack([squares, squares.mean(axis=1)])

    def distance(width: float) -> np.ndarray:
        """Standard errors between the mean squares and 1, for intervals that are so many times as wide."""
        return (squares.mean(axis=0) - width**2) / (squares.std(axis=0, ddof=1) / math.sqrt(trials))

    assert np.abs(distance(1.0)).max() < 6.2
    assert distance(0.85)[-1] > 6.2
    assert distance(1.15)[-1] < -6.2


def test_few_people_are_told_how_many_it_takes(scenario: tuple[Plan, np.ndarray]) -> None:
    found = fitted(scenario, draw(scenario, 3_000, np.random.default_rng(5)))
    assert "predicting the mean for everybody; collect about " in found.remark
    needed = int(found.remark.split("about ")[1].split(" people")[0].replace(",", ""))
    assert "nine times out of ten, features that explain 10% of the variance." in found.remark
    assert "do not determine the coefficients" in found.remark
    rngs = [np.random.default_rng(seed) for seed in range(60)]
    seen = [[seen_in(fitted(scenario, draw(scenario, n, rng))) for rng in rngs] for n in (needed, needed // 4)]
    assert sum(seen[0]) >= binom.isf(1e-9, 60, 0.5) > sum(seen[1])
    assert found.explained.value == 0
    assert all((c.low, c.high) == (-RADIUS, RADIUS) for c in found.coefficients.values())
    assert found.to_dict()["coefficients"]["x0"]["se"] is None
    nobody = fitted(scenario, SurveyTally(scenario[0]))
    assert np.array_equal(theta_of(nobody), np.zeros(9))
    assert nobody.intercept.value == 0.5
    assert "too few" in nobody.remark


def test_intervals_of_the_share_cover(scenario: tuple[Plan, np.ndarray]) -> None:
    """80 collections of 60,000 people: the share of all features, and what one of them adds to the others.

    False alarm 1e-9 for each, by the exact law of how often 95% intervals miss; a third of their length is caught.
    """
    rng, trials, second = np.random.default_rng(9), 80, population().second_moments

    def share(kept: slice) -> float:
        return float(second[-1, kept] @ np.linalg.solve(second[kept, kept], second[kept, -1]))

    truths = np.array([share(slice(0, 9)), share(slice(0, 9)) - share(slice(0, 8))])
    missed = np.zeros((2, 2))
    for _ in range(trials):
        evidence = fitted(scenario, draw(scenario, 60_000, rng)).evidence
        assert isinstance(evidence, Counted)
        for place, one in enumerate((evidence.explained, evidence._explained.share(np.arange(9) < 8))):
            for row, part in enumerate((1.0, 1 / 3)):
                low, high = (one.value + part * (end - one.value) for end in (one.low, one.high))
                missed[row, place] += not low <= truths[place] <= high
    assert missed[0].max() <= binom.isf(1e-9, trials, 0.05) < missed[1].max()


def test_the_forecast_comes_true(scenario: tuple[Plan, np.ndarray]) -> None:
    """Before anybody is asked: the chance to be seen to help, what predictions lose, and standard errors, as 60
    collections then show them.

    False alarm 1e-9 for each; half of the loss would be noticed. The sizes are those at which it is neither 0 nor 1.
    """
    plan, _ = scenario
    often = np.rint(2**20 * population().probabilities).astype(int)
    records = np.repeat((population().records > 0).astype(int), often, axis=0)
    data = dict(zip(plan.policy.features, records.T, strict=True))
    (told,) = expectations(plan, 20_000, data)
    rng = np.random.default_rng(10)
    collected = [fitted(scenario, draw(scenario, 20_000, rng)) for _ in range(60)]
    seen, chance = sum(map(seen_in, collected)), told.document["chance"]
    assert 0.2 < chance < 0.9
    assert binom.ppf(5e-10, 60, chance) <= seen <= binom.isf(5e-10, 60, chance)
    lost = [2 * excess_risk(theta_of(found)) for found in collected]  # of a variance of 1; risks are half of squares
    room = -norm.ppf(5e-10) * np.std(lost) * math.sqrt(1 / 60 + 1 / 200)  # 200 collections are imagined
    assert abs(np.mean(lost) - told.document["lost"]) < room < np.mean(lost) / 2
    assert "20,000 people show that they help with a chance of" in told.lines[0]
    (later,) = expectations(plan, 3_000_000, data)
    found = fitted(scenario, draw(scenario, 3_000_000, rng))
    errors = [found.coefficients[name].se for name in later.document["standard_errors"]]
    np.testing.assert_allclose(list(later.document["standard_errors"].values()), errors, rtol=0.2)
    assert later.document["to_show"] == told.document["to_show"]
    (guessed,) = expectations(plan, 20_000)
    assert guessed.document["share"] == 0.1
    assert 0.3 < guessed.document["to_show"] / told.document["to_show"] < 3


def test_coefficients_that_are_not_determined_are_not_told(mixed: tuple[Plan, np.ndarray]) -> None:
    """Neither in the rows nor with an interval; the share explained is, and the remedy names what helps."""
    plan, prior = mixed
    few = estimate(with_counts(plan, law_of(plan, prior), 1_000))
    (shares,) = list(few.sections())
    assert [row.name for row in shares.rows] == ["all features", "added by ill", "added by age", "added by region"]
    assert "The answers do not determine the coefficients: " in shares.remarks[0]
    many = estimate(with_counts(plan, law_of(plan, prior), 10**8))
    coefficients, _ = list(many.sections())
    assert [row.name for row in coefficients.rows][:2] == ["intercept", "ill"]


def test_a_constant_feature_does_not_hide_what_the_others_explain(mixed: tuple[Plan, np.ndarray]) -> None:
    """The counts expected of 15,000 people: the ill work 22.5 hours and the others 30, and everybody has one age.

    What the age explains, divided by the noise that its variance is, would drown the rest.
    """
    plan = mixed[0]
    prior = np.zeros(mixed[1].shape)
    prior[0, 4, :, 12], prior[1, 4, :, 9] = 1 / 6, 1 / 6
    tally = with_counts(plan, law_of(plan, prior), 15_000)
    regression = plan.policy.tasks[0].regression  # type: ignore[attr-defined]
    found = fit(tally.decoder(), regression, regression.designs(plan.policy)[0], 0.95)
    assert found.remark.startswith("The answers show that the features help to predict the target. Not counted")
    assert "vary: age." in found.remark
    assert "The answers do not determine the coefficients: leave out age or collect about" in found.remark
    advised = [int(number.replace(",", "")) for number in re.findall(r"[\d,]+(?= people| to )", found.remark)]
    assert "(that is uncertain: with a chance of 80%" in found.remark
    enough, least = advised[-3:-1]
    assert least <= 2 * enough  # what is said lies among what is likely, but for two digits and chance
    assert -7.5 <= found.coefficients["ill"].value < -7.5 / 2
    middle = centred(moments_of(tally, found), intercept=True)
    noise = Noise.of(middle, centred(moments_of(tally, found, draws=500), intercept=True), 0.1)
    assert noise.varies.tolist() == [True, False, True, True]
    each = noise.slope / noise.scale
    drowned = 3 * math.sqrt(2 * float((each**2).sum()))
    assert (middle.slope**2 / noise.scale - each).sum() < drowned


def test_the_same_counts_give_the_same_intervals(scenario: tuple[Plan, np.ndarray]) -> None:
    tally = draw(scenario, 100_000, np.random.default_rng(6))
    assert fitted(scenario, tally) == fitted(scenario, tally)


@pytest.mark.parametrize("changes", [{"ridge": 0.5}, {"ridge": 0.0, "radius": 0.2}, {"radius": 0.2}])
def test_ridge_and_radius_are_kept(mixed: tuple[Plan, np.ndarray], changes: dict[str, float]) -> None:
    """A stated ridge is the only shrinkage; coefficients stay within the ball, on the [-1, 1] scale."""
    plan, prior = make_plan(mixed_policy(**changes)), mixed[1]
    tally = with_counts(plan, law_of(plan, prior), 10**12)
    regression = plan.policy.tasks[0].regression  # type: ignore[attr-defined]
    found = fit(tally.decoder(), regression, regression.designs(plan.policy)[0], 0.95)
    middle = centred(moments_of(tally, found), intercept=True)
    scale = np.array([2, 2 / 60, 2, 2]) * 20
    theta = theta_of(found) / scale
    matrix = middle.matrix + changes.get("ridge", 0.0) * np.eye(4)
    if "radius" in changes:
        assert np.linalg.norm(theta) <= 0.2 + 1e-9
        if "ridge" in changes:
            np.testing.assert_allclose(theta, trust_region(matrix, middle.slope, 0.2), atol=1e-9)
    else:
        np.testing.assert_allclose(theta, np.linalg.solve(matrix, middle.slope), atol=1e-9)


# -- the whole way -----------------------------------------------------------------------------------------------------


def people(count: int) -> tuple[dict[str, Any], np.ndarray]:
    rng = np.random.default_rng(8)
    ill, age, region = rng.integers(0, 2, count), rng.integers(20, 81, count), rng.integers(0, 3, count)
    hours = np.clip(30 - 15 * ill - 0.2 * (age - 50) + 5 * (region == 2) + rng.normal(0, 3, count), 0, 40)
    words = {"ill": np.array(["no", "yes"])[ill], "age": age, "region": np.array(["north", "south", "east"])[region]}
    return words, hours


def test_the_regressor_predicts() -> None:
    """20,000 people at epsilon 3: better than the mean on its own data, and by pandas, arrays and mappings alike.

    Least squares explains 85% here; a score below 0.3 would need an error of more than ten standard errors.
    """
    records, hours = people(20_000)
    model = SurveyRegressor(mixed_policy()).fit(records, hours)
    assert model.coef_.shape == (4,)
    assert model.coef_[0] < 0
    assert 0.3 < model.score(records, hours) < 1
    some = {name: column[:3] for name, column in records.items()}
    expected = model.predict(some)
    assert expected.shape == (3,)
    array = np.column_stack([some["ill"], some["age"], some["region"]]).astype(object)
    array[:, 1] = some["age"]
    np.testing.assert_array_equal(model.predict(array), expected)


def test_means_and_a_regression_share_one_plan() -> None:
    policy = Policy(
        epsilon=3, features=FEATURES, correlation=0.05, tasks=[{"mean": ["ill", "hours"]}, {"regression": TASK}]
    )
    plan = make_plan(policy)
    records, hours = people(20_000)
    found = estimate(Tally(plan).add(privatize(plan, {**records, "hours": hours})))
    assert found.regression is not None
    hours_mean = found.means["hours"]
    assert abs(hours_mean.raw - hours.mean()) < 6.2 * hours_mean.se < 3  # false alarm 6e-10
    document = found.to_dict()
    assert document["regression"]["target"] == "hours"
    tables = {"tables", "groups", "distributions", "shares"}  # which nobody asked for: empty
    assert set(document) == {"people", "level", "means", "frequencies", "regression", "checks"} | tables
    assert not any(document[key] for key in tables)


def test_a_plan_without_regression_says_nothing_of_it() -> None:
    plan = make_plan(Policy(epsilon=1, features={"a": {"type": "binary"}}))
    found = estimate(Tally(plan))
    assert found.regression is None
    assert "regression" not in found.to_dict()


def test_the_regressor_is_one_of_scikit_learn() -> None:
    """Cloned, tuned, in a pipeline and cross-validated; and the checks of scikit-learn that do not choose the data."""
    records, hours = people(3_000)
    frame = pandas.DataFrame(records)
    model = SurveyRegressor(mixed_policy())
    other = clone(model).set_params(policy=mixed_policy(explains=0.3))
    assert other.get_params() == {"policy": mixed_policy(explains=0.3)}
    assert model.get_params() == {"policy": mixed_policy()}
    assert is_regressor(model)
    piped = Pipeline([("as it is", FunctionTransformer()), ("survey", model)])
    assert piped.fit(frame, hours).predict(frame).shape == (3_000,)
    scores = cross_val_score(model, frame, hours, cv=3)
    assert scores.shape == (3,)
    assert scores.max() < 1
    with pytest.raises(NotFittedError):
        check_is_fitted(clone(model))
    with pytest.raises(InputError, match="set_params: got 'seed'; accepted: policy"):
        model.set_params(seed=1)
    for check in (
        estimator_checks.check_estimator_cloneable,
        estimator_checks.check_estimator_repr,
        estimator_checks.check_estimator_tags_renamed,
        estimator_checks.check_valid_tag_types,
        estimator_checks.check_no_attributes_set_in_init,
        estimator_checks.check_get_params_invariance,
        estimator_checks.check_set_params,
        estimator_checks.check_estimators_unfitted,
        estimator_checks.check_do_not_raise_errors_in_init_or_set_params,
        estimator_checks.check_n_features_in_after_fitting,
        estimator_checks.check_mixin_order,
        estimator_checks.check_supervised_y_no_nan,
        estimator_checks.check_parameters_default_constructible,
    ):
        check("SurveyRegressor", clone(model))


def test_what_the_regressor_refuses() -> None:
    with pytest.raises(InputError, match="policy: got '0 regressions"):
        SurveyRegressor(Policy(epsilon=1, features={"a": {"type": "binary"}})).fit({"a": [0]}, [0])
    model = SurveyRegressor(mixed_policy())
    records, hours = people(10)
    with pytest.raises(InputError, match="a call of fit first"):
        model.predict(records)
    with pytest.raises(InputError, match="y: got '9 values'; accepted: one for each of the 10 records"):
        model.fit(records, hours[:9])
    with pytest.raises(InputError, match="X: got 'no column age'"):
        model.fit({"ill": records["ill"], "region": records["region"]}, hours)
    with pytest.raises(InputError, match=r"X: got 'an array of shape \(10, 2\)'"):
        model.fit(np.zeros((10, 2)), hours)
