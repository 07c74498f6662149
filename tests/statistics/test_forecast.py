"""What is forecast of a regression before anybody is asked: the noise is that of the answers, exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bcdp import Plan, Policy, make_plan
from bcdp.mechanisms.survey.estimation.prospective_covariance import SurveyProspect
from bcdp.present.plan_summary import expectations
from bcdp.statistics import Target
from bcdp.statistics.regression.default_population import typical, typical_records
from bcdp.statistics.regression.design_matrix import by_target, moment_targets, moments
from bcdp.statistics.regression.least_squares import centred, own_units
from support.helpers import full_kernel, sizes_of, tally_of

MANY = 10**13
FEATURES: dict[str, Any] = {
    "ill": {"type": "binary"},
    "old": {"type": "binary"},
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
    "hours": {"type": "numeric", "bounds": [0, 40]},
}
INTERACTING = {"target": "hours", "features": ["ill", "old", "region"], "interactions": [["ill", "old"]]}
MEANS = {"mean": ["ill", "old", "hours"], "weight": 5000}
POLICIES = {  # the demands of the first feature and of the others, and the tasks
    "joint questions": (1.0, 3.0, [{"regression": {"target": "hours", "features": ["ill", "old", "region"]}}]),
    "interaction": (1.0, 3.0, [{"regression": INTERACTING}]),
    "several questions of a menu": (1.0, 1.0, [{"regression": INTERACTING}, MEANS]),
}


@pytest.fixture(scope="module", params=POLICIES)
def world(request: pytest.FixtureRequest) -> tuple[Plan, np.ndarray, dict[str, np.ndarray]]:
    """A plan, how many people there are of every possible record, and their codes."""
    ill, others, tasks = POLICIES[request.param]
    features = {name: {**feature, "delta": others} for name, feature in FEATURES.items()}
    features["ill"]["delta"] = ill
    plan = make_plan(Policy(epsilon=3, features=features, tasks=tasks, correlation=0))
    assert (max(len(menu.questions) for menu in plan.menus) > 1) == (request.param == "several questions of a menu")
    sizes = sizes_of(plan)
    rare = np.prod(np.meshgrid([5, 1], [4, 1], [3, 2, 1], np.linspace(3, 1, sizes[-1]), indexing="ij"), axis=0)
    people = np.random.default_rng(1).poisson(rare)
    places = np.repeat(np.indices(sizes).reshape(len(sizes), -1), people.ravel(), axis=1)
    codes = dict(zip(plan.policy.features, places, strict=True))
    codes["hours"] = 2 * codes["hours"] / (sizes[-1] - 1) - 1
    return plan, people, codes


def targets_of(plan: Plan) -> list[Target]:
    design = plan.policy.tasks[0].regression.designs(plan.policy)[0]  # type: ignore[attr-defined]
    return sorted(moment_targets(plan.policy, design, intercept=True), key=repr)


def test_the_noise_is_that_of_the_answers(world: tuple[Plan, np.ndarray, dict[str, np.ndarray]]) -> None:
    """Beside what the decoder makes of the counts that enumeration expects of 10^13 people."""
    plan, people, codes = world
    targets = targets_of(plan)
    law = np.tensordot(people / people.sum(), full_kernel(plan), axes=people.ndim)
    counted = tally_of(plan, np.rint(law * MANY).astype(int)).decoder().together(targets)
    told = SurveyProspect(plan).together(targets, MANY, codes)
    np.testing.assert_allclose(told.value, counted.value, atol=1e-6)
    scale = np.sqrt(np.outer(np.diag(counted.covariance), np.diag(counted.covariance)))
    np.testing.assert_allclose(told.covariance / scale, counted.covariance / scale, atol=1e-5)
    assert np.abs(counted.covariance / scale - np.eye(len(scale))).max() > 0.2  # no two would be independent


def test_standard_errors_are_those_of_the_noise(world: tuple[Plan, np.ndarray, dict[str, np.ndarray]]) -> None:
    """The derivative of the coefficients times the exact covariance of the counts.

    Each target's own error, as if they were independent, is off by more than is allowed.
    """
    plan, people, codes = world
    policy, targets = plan.policy, targets_of(plan)
    model = policy.tasks[0].regression  # type: ignore[attr-defined]
    design = model.designs(policy)[0]
    law = np.tensordot(people / people.sum(), full_kernel(plan), axes=people.ndim)
    counted = tally_of(plan, np.rint(law * MANY).astype(int)).decoder().together(targets)

    def coefficients(value: np.ndarray) -> np.ndarray:
        found = centred(moments(policy, design, by_target(policy, targets, value)), intercept=True)
        return own_units(policy, design)[:-1, :-2] @ np.linalg.solve(found.matrix, found.slope)

    steps = 1e-6 * np.eye(len(counted.value))
    slopes = [(coefficients(counted.value + s) - coefficients(counted.value - s)) / 2e-6 for s in steps]
    jacobian, number = np.array(slopes).T, 10**8
    errors = {target: SurveyProspect(plan).errors[target] for target in targets}
    exact = np.sqrt(np.diag(jacobian @ counted.covariance @ jacobian.T) * MANY / number)
    alone = [error / size for target, error in errors.items() for size in [target.size(policy)] for _ in range(size)]
    apart = np.sqrt(np.diag(jacobian @ np.diag(alone) @ jacobian.T) / number)
    told = expectations(plan, number, codes)[0].document["standard_errors"]
    # 1,000 draws: a standard deviation is within 14% but for a chance of 1e-9
    np.testing.assert_allclose(list(told.values()), exact, rtol=0.14)
    assert np.abs(apart / exact - 1).max() > 0.14


def test_covariances_are_those_of_the_counts(world: tuple[Plan, np.ndarray, dict[str, np.ndarray]]) -> None:
    """Given how many answered each menu, values are linear in the counts: enumerated, answer by answer."""
    plan, people, _ = world
    targets, sizes = targets_of(plan), [math.prod(digits) for digits in plan.symbols]
    law = np.tensordot(people / people.sum(), full_kernel(plan), axes=people.ndim)
    counts = np.random.default_rng(3).multinomial(4_000, law / law.sum())
    found = tally_of(plan, counts).decoder().together(targets)
    total, start = np.zeros_like(found.covariance), 0
    for size in sizes:
        own = slice(start, start + size)
        start, number = own.stop, counts[own].sum()
        values = []
        for answer in range(size):  # given by all who were asked this menu
            every = counts.copy()
            every[own] = number * (np.arange(size) == answer)
            values.append(tally_of(plan, every).decoder().together(targets).value)
        if number:
            shares = (counts[own] + 4 / size) / (number + 4)
            total += np.cov(np.array(values).T, aweights=shares, ddof=0) / max(number - 1, 1)
    np.testing.assert_allclose(found.covariance, total, atol=1e-9 * total.max())
    drawn = found.drawn(20_000)
    error = np.sqrt(np.diag(total)) / math.sqrt(20_000)
    assert (np.abs(drawn.mean(axis=0) - found.value) <= 6.8 * error + 1e-12).all()  # false alarm below 1e-9
    half, twice = (drawn.var(axis=0)[error > 0] / (scale * np.diag(total)[error > 0]) for scale in (0.5, 2.0))
    assert half.min() > 1.8
    assert twice.max() < 0.56


@pytest.mark.parametrize("intercept", [True, False])
def test_typical_people_are_those_that_a_regression_is_planned_for(intercept: bool) -> None:
    policy = Policy(epsilon=3, features=FEATURES)
    records = typical_records(policy, intercept)
    for name, category in (("ill", None), ("hours", None), *((("region", 1),) if intercept else ())):
        worth = policy.features[name].worth(records[name], category)
        squared, variance = typical(policy, ((name, category),), intercept)
        assert worth.mean() ** 2 == pytest.approx(squared, abs=1e-3)
        assert worth.var() == pytest.approx(variance, abs=1e-3)
    signs = [policy.features[name].worth(records[name]) for name in ("ill", "old", "hours")]
    assert np.abs(np.corrcoef(signs) - np.eye(3)).max() < 6.2 / math.sqrt(len(signs[0]))
    # so every two columns are nearly uncorrelated, and products have the variance that is planned for
    both = typical(policy, (("ill", None), ("old", None)), intercept)
    assert np.var(signs[0] * signs[1]) == pytest.approx(both[1], abs=0.03)


def test_the_mean_of_a_sign_takes_a_third_of_its_second_moment() -> None:
    """As stated: of two values the second is had by 21%, (1 - 3^-1/2) / 2; checked against that number itself."""
    policy = Policy(epsilon=1, features={"a": {"type": "binary"}, "b": {"type": "binary"}})
    records = typical_records(policy, intercept=True)
    assert float(np.mean(records["a"])) == pytest.approx(0.21132486540518713, abs=1 / 2**13)
    assert typical(policy, (("a", None),), intercept=True) == pytest.approx((1 / 3, 2 / 3))
    assert typical(policy, (("a", None), ("b", None)), intercept=True) == pytest.approx((1 / 9, 8 / 9))
