"""What is forecast of a regression before anybody is asked: the noise is that of the answers, exactly."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from bcdp import Plan, Policy, make_plan
from bcdp.mechanisms.survey.prospect import SurveyProspect
from bcdp.present.planned import expectations
from bcdp.statistics import Target
from bcdp.statistics.columns import by_target, moment_targets, moments
from bcdp.statistics.least_squares import centred, own_units
from bcdp.statistics.typical import typical, typical_records
from helpers import full_kernel, sizes_of, tally_of

MANY = 10**13
FEATURES: dict[str, Any] = {
    "ill": {"type": "binary", "delta": 1.0},
    "old": {"type": "binary"},
    "region": {"type": "categorical", "values": ["north", "south", "east"]},
    "hours": {"type": "numeric", "bounds": [0, 40]},
}
INTERACTING = {"target": "hours", "features": ["ill", "old", "region"], "interactions": [["ill", "old"]]}
POLICIES = {
    "joint questions": ([{"regression": {"target": "hours", "features": ["ill", "old", "region"]}}], 0.0),
    "interaction": ([{"regression": INTERACTING}], 0.05),
    "several questions of a menu": (
        [{"regression": INTERACTING}, {"mean": ["ill", "old", "hours"], "weight": 50}],
        0.0,
    ),
}


@pytest.fixture(scope="module", params=POLICIES)
def world(request: pytest.FixtureRequest) -> tuple[Plan, np.ndarray, dict[str, np.ndarray]]:
    """A plan, how many people there are of every possible record, and their codes."""
    tasks, q = POLICIES[request.param]
    plan = make_plan(Policy(epsilon=3, features=FEATURES, tasks=tasks, correlation=q))
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
