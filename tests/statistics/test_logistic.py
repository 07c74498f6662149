"""Logistic regression from moments, and one regression for each value: exact where the moments tell all, else honest.

Counts are those expected of very many people, or drawn from the exact law of the answers with fixed seeds.
"""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest
from scipy.special import expit, logit
from scipy.stats import beta, norm

from bcdp import InputError, Plan, Policy, SurveyRegressor, estimate, make_plan
from bcdp.present.plan_summary import expectations
from bcdp.statistics import Product
from bcdp.statistics.regression.fit import fit
from bcdp.statistics.regression.least_squares import Centred
from bcdp.statistics.regression.logistic import IndexFeature, LogitMoments, logistic
from bcdp.statistics.regression.model import Model, RegressionEstimate
from bcdp.statistics.regression.statistic import Regression
from support.helpers import full_kernel, sizes_of, tally_of

pytestmark = pytest.mark.slow

MANY = 10**13
FEATURES: dict[str, Any] = {
    "ill": {"type": "binary", "delta": 1.5},
    "age": {"type": "numeric", "bounds": [20, 80]},
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
    "smoker": {"type": "binary"},
}
BETA = np.array([0.6, 0.02, -0.5, 0.4])  # of ill, age, south and east


def plan_of(target: str, features: list[str], **changes: Any) -> Plan:
    named = {name: FEATURES[name] for name in (*features, target)}
    task = {"regression": {"target": target, "features": features, **changes}}
    return make_plan(Policy(epsilon=3, features=named, tasks=[task], correlation=0.05))


def model_of(plan: Plan) -> Model:
    (task,) = plan.policy.tasks
    assert isinstance(task, Regression)
    return task.regression


def law_of(plan: Plan, prior: np.ndarray) -> np.ndarray:
    law: np.ndarray = np.tensordot(prior, full_kernel(plan), axes=prior.ndim)
    return law / law.sum()


def fitted(plan: Plan, counts: np.ndarray) -> RegressionEstimate:
    model = model_of(plan)
    found = fit(tally_of(plan, counts).decoder(), model, model.designs(plan.policy)[0], 0.95)
    assert found is not None
    return found


def expected_counts(law: np.ndarray, people: int) -> np.ndarray:
    return np.rint(law * people).astype(int)


def columns(prior: np.ndarray) -> np.ndarray:
    """The records of ill, age and region as numbers in own units, and the constant."""
    ill, age, region = np.indices(prior.shape[:3]).reshape(3, -1)
    return np.stack([ill, 20 + 60 * age / (prior.shape[1] - 1), region == 1, region == 2, np.ones(ill.size)], axis=1)


def logistic_fit(x: np.ndarray, weights: np.ndarray, chance: np.ndarray) -> np.ndarray:
    """The coefficients of the population, by Newton's method."""
    found = np.zeros(x.shape[1])
    for _ in range(40):
        each = expit(x @ found)
        found = found + np.linalg.solve(
            x.T @ ((weights * each * (1 - each))[:, None] * x), x.T @ (weights * (chance - each))
        )
    return found


@pytest.fixture(scope="module")
def smokers() -> tuple[Plan, np.ndarray, np.ndarray, np.ndarray]:
    """A plan; people whose features go together, and whose log odds are no line; the law of answers; their fit."""
    plan = plan_of("smoker", ["ill", "age", "region"], link="logit")
    rng = np.random.default_rng(1)
    features = rng.dirichlet(np.full(math.prod(sizes_of(plan)[:-1]), 4.0)).reshape(sizes_of(plan)[:-1])
    x = columns(features)
    chance = expit(x @ [*BETA, -1.6] + 0.3 * rng.standard_normal(len(x)))
    prior = features.ravel()[:, None] * np.stack([1 - chance, chance], axis=1)
    prior = prior.reshape(sizes_of(plan))
    return plan, prior, law_of(plan, prior), logistic_fit(x, features.ravel(), chance)


def test_one_feature_with_values_has_the_odds_ratios_of_its_table() -> None:
    """The moments tell the whole table, so nothing is approximated, however far the odds are apart."""
    plan = plan_of("smoker", ["region"], link="logit")
    prior = np.array([[0.3, 0.02], [0.1, 0.2], [0.28, 0.1]])
    found = fitted(plan, expected_counts(law_of(plan, prior), MANY))
    odds = logit(prior[:, 1] / prior.sum(axis=1))
    values = [one.value for one in (found.intercept, *found.coefficients.values())]
    np.testing.assert_allclose(values, [odds[0], odds[1] - odds[0], odds[2] - odds[0]], rtol=1e-3)
    assert max(one.high - one.low for one in found.coefficients.values()) < 0.01
    people = {"region": ["north", "south", "east"]}
    np.testing.assert_allclose(found.predict(plan.policy, people), expit(odds), rtol=1e-3)


def test_the_intervals_hold_the_fit_of_the_population(smokers: tuple[Plan, np.ndarray, np.ndarray, np.ndarray]) -> None:
    """At any number of people: what moments leave open is in them. Least squares over p (1 - p) is not."""
    plan, prior, law, truth = smokers
    found = fitted(plan, expected_counts(law, MANY))
    numbers = [*found.coefficients.values(), found.intercept]
    assert found.refused is None
    assert all(one.low <= true <= one.high for one, true in zip(numbers, truth, strict=True))
    np.testing.assert_allclose([one.value for one in numbers], truth, rtol=0.03)
    assert max(one.se for one in numbers) < 0.01
    x, chance = columns(prior), prior.reshape(-1, 2)[:, 1] / prior.reshape(-1, 2).sum(axis=1)
    weights = prior.sum(axis=-1).ravel()
    line = np.linalg.solve(x.T @ (weights[:, None] * x), x.T @ (weights * chance))
    share = weights @ chance
    naive = line[:-1] / (share * (1 - share))
    assert not all(one.low <= value <= one.high for one, value in zip(numbers, naive, strict=False))
    assert found.to_dict()["link"] == "logit"
    predicted = found.predict(plan.policy, {"ill": [0, 1], "age": [20, 80], "region": ["south", "east"]})
    np.testing.assert_allclose(predicted, expit(x[[1, -1]] @ truth), atol=0.02)


def test_standard_errors_are_those_of_collections(smokers: tuple[Plan, np.ndarray, np.ndarray, np.ndarray]) -> None:
    """80 collections: the mean squared distance to the exact moments' fit, in standard errors, is 1.

    False alarm 1e-9; standard errors of half or one and a half the size are caught. The plan foretells them.
    """
    plan, prior, law, _ = smokers
    exact = fitted(plan, expected_counts(law, MANY))
    middle = np.array([(one.low + one.high) / 2 for one in (*exact.coefficients.values(), exact.intercept)])
    rng, trials, people, beside = np.random.default_rng(2), 80, 1_000_000, []
    for _ in range(trials):
        found = fitted(plan, rng.multinomial(people, law))
        numbers = [*found.coefficients.values(), found.intercept]
        beside.append([((one.low + one.high) / 2 - m) / one.se for one, m in zip(numbers, middle, strict=True)])
    squares = np.square(beside).mean(axis=1)

    def distance(width: float) -> float:
        return float((squares.mean() - width**2) / (squares.std(ddof=1) / math.sqrt(trials)))

    limit = -norm.ppf(5e-10)
    assert abs(distance(1.0)) < limit
    assert distance(0.5) > limit
    assert distance(1.5) < -limit
    sizes = dict(zip(plan.policy.features, prior.shape, strict=True))
    codes = dict(zip(sizes, np.indices(prior.shape).reshape(prior.ndim, -1), strict=True))
    codes["age"] = 2 * codes["age"] / (sizes["age"] - 1) - 1
    often = np.rint(10**6 * prior.ravel()).astype(int)
    (told,) = expectations(plan, people, {name: np.repeat(code, often) for name, code in codes.items()})
    assert told.document["target"] == "smoker"
    errors = [one.se for one in found.coefficients.values()]
    np.testing.assert_allclose(list(told.document["standard_errors"].values()), errors, rtol=0.2)


def test_numbers_have_the_beta_law_of_their_mean_and_variance() -> None:
    """Three moments of points that are worked out for many collections at once."""
    laws = [(0.5, 0.5), (1.0, 1.0), (0.4, 3.0), (20.0, 5.0)]
    mean, variance = np.array([(2 * beta.mean(a, b) - 1, 4 * beta.var(a, b)) for a, b in laws]).T
    matrix = variance[:, None, None]
    found = Centred(matrix, np.zeros((4, 1)), np.ones(4), np.stack([mean, np.zeros(4)], axis=1))
    ((_, points, weights, _),) = LogitMoments(
        (IndexFeature(np.array([0]), np.array([], dtype=int), True),), found
    )._laws
    numbers = points[..., 0] + mean[:, None]
    assert np.abs(numbers).max() <= 1
    for power in range(6):
        exact = [sum(math.comb(power, k) * 2**k * (-1) ** (power - k) * beta(a, b).moment(k) for k in range(power + 1))
                 for a, b in laws]  # fmt: skip
        np.testing.assert_allclose((weights * numbers**power).sum(axis=-1), exact, atol=1e-9)


def test_what_moments_cannot_tell_is_refused() -> None:
    """Features that tell values apart without error, and coefficients that hang on combinations."""
    plan = plan_of("smoker", ["ill", "age"], link="logit")
    _, age, smoker = np.indices(sizes_of(plan))
    middle = sizes_of(plan)[1] // 2
    parted = np.where((smoker == 1) == (age > middle), 1.0, 0.0)
    counts = expected_counts(law_of(plan, parted / parted.sum()), MANY)
    found = fitted(plan, counts)
    assert found.refused is not None
    assert re.match(r"The log odds are not told: the features may move them by [\d.]+ on average", found.refused)
    assert found.remark.endswith("Leave out the link for least squares.")
    assert all(math.isinf(one.se) for one in found.coefficients.values())
    (shares,) = estimate(tally_of(plan, counts)).sections()
    assert shares.subject == "smoker: share of variance explained"
    chances = found.predict(plan.policy, {"ill": [0, 0], "age": [20, 80]})
    assert 0 < chances[0] < 0.3 < 0.7 < chances[1] < 1
    rare, close = 0.1, 0.95  # two signs that are nearly one, and a rare target
    second = np.array([[1, close, 0.1], [close, 1, 0.08], [0.1, 0.08, 4 * rare * (1 - rare)]])
    moments = Centred(second[:2, :2], second[:2, 2], second[2, 2], np.array([0, 0, 2 * rare - 1]))
    parts = tuple(IndexFeature(np.array([one]), np.array([1 - one]), False) for one in (0, 1))
    again = Centred(
        *(np.asarray(part)[None] for part in (moments.matrix, moments.slope, moments.variance, moments.mean))
    )
    refused = logistic(parts, moments, again).refused
    assert refused is not None
    assert "they depend on combinations of features" in refused


def test_a_categorical_target_has_one_regression_for_each_value() -> None:
    """Least squares of each indicator; together they predict 1. All products with a value are asked about."""
    plan = plan_of("region", ["ill", "age"])
    assert Plan.parse(plan.text).text == plan.text
    rng = np.random.default_rng(3)
    prior = rng.dirichlet(np.full(math.prod(sizes_of(plan)), 0.5)).reshape(sizes_of(plan))
    found = estimate(tally_of(plan, expected_counts(law_of(plan, prior), MANY)))
    ill, age, region = np.indices(prior.shape).reshape(3, -1)
    x = np.stack([ill, 20 + 60 * age / (prior.shape[1] - 1), np.ones(ill.size)], axis=1)
    weights = prior.ravel()
    assert [one.target for one in found.regressions] == ["region[north]", "region[south]", "region[east]"]
    for value, one in enumerate(found.regressions):
        true = np.linalg.solve(x.T @ (weights[:, None] * x), x.T @ (weights * (region == value)))
        numbers = [*one.coefficients.values(), one.intercept]
        np.testing.assert_allclose([number.value for number in numbers], true, rtol=2e-3, atol=1e-4)
        assert all(number.low <= t <= number.high for number, t in zip(numbers, true, strict=True))
    people = {"ill": [0, 1], "age": [30, 70]}
    np.testing.assert_allclose(sum(one.predict(plan.policy, people) for one in found.regressions), 1, atol=1e-3)
    assert [one["target"] for one in found.to_dict()["regressions"]] == [one.target for one in found.regressions]
    assert [section.subject for section in found.sections()][:2] == [
        "region = north by least squares",
        "region = north: share of variance explained",
    ]
    asked = {target for target, _ in plan.policy.tasks[0].targets(plan.policy) if isinstance(target, Product)}
    assert {t.categories for t in asked if t.features == ("age", "region")} == {(None, 0), (None, 1), (None, 2)}
    with pytest.raises(InputError, match="got 'the categorical target region'; accepted: a target that is a number or"):
        SurveyRegressor(plan.policy).fit(people, ["north", "east"])
    (*told,) = expectations(plan, 10**6)
    assert [one.document["target"] for one in told] == [one.target for one in found.regressions]
