"""Jointly shaped tables and the bounds on any mechanism: certified, attained, never worse, close to the limit."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from bcdp import Policy, make_plan
from bcdp.correlation import correlation_of
from bcdp.errors import InputError
from bcdp.notions import bcdp_from, levels
from bcdp.plan import certify, joint_delta
from bcdp.survey import information, lower_bound
from bcdp.survey.design import design
from bcdp.survey.limit import closed_form
from bcdp.survey.planner import Setting
from bcdp.survey.shapes import Demand, best_shape, shaped_table, sign_vectors
from helpers import full_kernel

EVEN = ((0.1, 0.1, 0.8),)


def paper(q, features=10, sensitive=2):
    """The paper's setting: two sensitive features of ten, epsilon 2."""
    deltas = [0.2] * sensitive + [2.0] * (features - sensitive)
    return Policy(
        epsilon=2.0, features={f"x{i}": {"type": "binary", "delta": d} for i, d in enumerate(deltas)}, correlation=q
    )


def conditionals(priors, features):
    """For each prior and feature, the laws of the other features given its two values: shape (features, n, 2, rest)."""
    cube = priors.reshape(-1, *(2,) * features)
    laws = []
    for i in range(features):
        joint = np.moveaxis(cube, i + 1, 1).reshape(len(priors), 2, -1)
        laws.append(joint / joint.sum(axis=2, keepdims=True))
    return laws


def priors_within(q, features, count, rng):
    """Random laws whose every feature is within q of the others: random ones pulled towards independence."""
    corners = rng.dirichlet(np.full(2**features, 0.2), size=count) + 1e-12
    corners /= corners.sum(axis=1, keepdims=True)
    sides = rng.uniform(0.05, 0.95, size=(count, features))
    independent = np.ones((count, 1))
    for i in range(features):
        side = np.stack([sides[:, i], 1 - sides[:, i]], axis=1)
        independent = (independent[:, :, None] * side[:, None]).reshape(count, -1)

    def distances(share):
        mixed = share[:, None] * corners + (1 - share[:, None]) * independent
        laws = conditionals(mixed, features)
        return mixed, np.max([np.abs(law[:, 0] - law[:, 1]).sum(axis=1) / 2 for law in laws], axis=0)

    low, high = np.zeros(count), np.ones(count)
    for _ in range(30):
        middle = (low + high) / 2
        fits = distances(middle)[1] <= q
        low, high = np.where(fits, middle, low), np.where(fits, high, middle)
    mixed, distance = distances(low)
    assert np.all(distance <= q + 1e-9)
    return mixed


def exact_delta(priors, kernel, features):
    """The exact BCDP level of every feature under every prior, shape (n, features)."""
    flat = kernel.reshape(2**features, -1)
    columns = []
    for i in range(features):
        joint = np.moveaxis(priors.reshape(-1, *(2,) * features), i + 1, 1).reshape(len(priors), 2, -1)
        order = np.moveaxis(np.arange(2**features).reshape((2,) * features), i, 0).reshape(2, -1)
        laws = [joint[:, a] / joint[:, a].sum(axis=1, keepdims=True) @ flat[order[a]] for a in range(2)]
        columns.append(np.abs(np.log(laws[0] / laws[1])).max(axis=1))
    return np.stack(columns, axis=1)


def random_policy(rng, most=4):
    features = int(rng.integers(2, most + 1))
    classes = rng.choice([0.1, 0.2, 0.3, 0.5, 0.8, 1.2], size=2)
    deltas = [float(rng.choice([*classes, 2.0])) for _ in range(features)]
    return Policy(
        epsilon=2.0,
        features={f"x{i}": {"type": "binary", "delta": d} for i, d in enumerate(deltas)},
        correlation=float(rng.choice([0.01, 0.05, 0.12, 0.3, 0.6])),
    )


def test_a_shape_decodes_with_its_squared_means():
    demands = (Demand(0.2, 0.05, False), Demand(0.2, 0.05, False), Demand(2.0, 0.0, False))
    shape = best_shape(np.array([40.0, 40.0, 1.0]), demands, 2.0, EVEN)
    table = shaped_table(shape)
    for place in range(3):
        target = -sign_vectors(3)[:, place]  # level numbers count -1 first
        assert 1 / table.second_moments(target).mean() == pytest.approx(shape.means[place] ** 2, rel=1e-6)


def test_a_shape_keeps_its_demands_and_beats_independent_answers():
    q = 0.05
    demands = (Demand(0.2, q, False), Demand(0.2, q, False), Demand(2.0, 0.0, False))
    prices = np.array([40.0, 40.0, 1.0])
    shape = best_shape(prices, demands, 2.0, EVEN)
    table = shaped_table(shape)
    assert table.level <= 2.0
    for place, demand in enumerate(demands):
        assert joint_delta(table, (2, 2, 2), place, Fraction(1), demand.q, demand.shared) <= demand.delta
    # independent answers: both sensitive features at a common budget, the rest of any total to the third
    best = 0.0
    for total, budget in itertools.product(np.linspace(0.01, 2, 200), np.linspace(0.001, 0.2, 200)):
        if 2 * budget <= total and bcdp_from(budget, total, q) <= 0.2:
            told = np.tanh(np.array([budget, budget, total - 2 * budget]) / 2) ** 2
            best = max(best, float(prices @ told))
    assert prices @ np.array(shape.means) ** 2 > 1.05 * best


def test_numbers_ask_for_more_than_bits():
    """Two numbers may share a level, so their certificate is stricter, and the shape for them tells less."""
    told = {}
    for shared in (False, True):
        demands = (Demand(0.2, 0.12, shared), Demand(0.2, 0.12, shared), Demand(2.0, 0.0, False))
        shape = best_shape(np.array([9.0, 9.0, 1.0]), demands, 2.0, EVEN)
        assert joint_delta(shaped_table(shape), (2, 2, 2), 0, Fraction(1), 0.12, shared) <= 0.2
        told[shared] = float(np.array([9.0, 9.0, 1.0]) @ np.array(shape.means) ** 2)
    assert told[True] < told[False]


@pytest.mark.parametrize(
    ("q", "most"),
    [(1e-9, 332), (0.01, 380), (0.05, 575), (0.12, 1010), (0.23, 1788), (0.34, 2665), (0.45, 3672)],
)
def test_objective_on_the_papers_setting(q, most):
    assert make_plan(paper(q)).certificate.objective <= most


def test_within_three_percent_of_the_limit_for_fifty_correlations():
    for q in np.linspace(0.005, 1.0, 50):
        policy = paper(float(q))
        plan, correlation = make_plan(policy), correlation_of(policy)
        bound = lower_bound(policy, correlation, plan)
        assert bound.closed_form <= bound.numerical <= plan.certificate.objective <= 1.03 * bound.numerical


def test_never_worse_than_without_shapes():
    """20 random policies, d from 3 to 12, two to three classes, q from 0 to 1."""
    rng = np.random.default_rng(10)
    distances = []
    for _ in range(20):
        classes = np.sort(rng.uniform(0.05, 1.5, size=rng.integers(1, 3)))
        deltas = [float(rng.choice([*classes, 2.0])) for _ in range(rng.integers(3, 13))]
        policy = Policy(
            epsilon=2.0,
            features={f"x{i}": {"type": "binary", "delta": d} for i, d in enumerate(deltas)},
            correlation=float(rng.uniform(0, 1) ** 2),
        )
        correlation = correlation_of(policy)
        setting = Setting.of(policy, correlation)
        plain = design(setting.classes, setting.total)
        plan = make_plan(policy)
        assert plan.certificate.objective <= plain.objective * 1.0005
        distances.append(plan.certificate.objective / lower_bound(policy, correlation, plan).numerical)
    assert min(distances) >= 1 - 1e-9
    assert np.median(distances) <= 1.02


def test_no_violation_under_ten_thousand_priors_for_fifty_plans():
    rng = np.random.default_rng(11)
    shaped = 0
    for _ in range(50):
        policy = random_policy(rng)
        plan = make_plan(policy)
        shaped += any(len(question.features) > 1 for question in plan.questions)
        features = len(policy.features)
        priors = priors_within(correlation_of(policy).q("x0", ["x1"]), features, 10_000, rng)
        exact = exact_delta(priors, full_kernel(plan), features).max(axis=0)
        certified = [plan.certificate.features[f"x{i}"].certified for i in range(features)]
        assert np.all(exact <= np.array(certified) + 1e-9)
    assert shaped >= 10  # the plans really use joint tables


def test_the_same_check_catches_a_plan_made_for_less_correlation():
    """Power: plans made for a quarter of the true correlation are exceeded by priors within the true one."""
    rng = np.random.default_rng(12)
    caught = 0
    for _ in range(10):
        policy = random_policy(rng)
        q = correlation_of(policy).q("x0", ["x1"])
        bold = make_plan(Policy(**{**policy.to_dict(), "correlation": q / 4}))
        features = len(policy.features)
        exact = exact_delta(priors_within(q, features, 10_000, rng), full_kernel(bold), features).max(axis=0)
        certified = [bold.certificate.features[f"x{i}"].certified for i in range(features)]
        caught += bool(np.any(exact > np.array(certified) + 1e-6))
    assert caught >= 3


def test_the_vectorised_check_is_the_exact_level():
    rng = np.random.default_rng(13)
    plan = make_plan(random_policy(rng, most=3))
    features = len(plan.policy.features)
    kernel = full_kernel(plan)
    for prior in priors_within(0.3, features, 20, rng):
        expected = levels(prior.reshape((2,) * features), kernel).bcdp
        np.testing.assert_allclose(exact_delta(prior[None], kernel, features)[0], expected, atol=1e-9)


def test_each_certificate_is_attained():
    """The worst prior of section 4 for each feature of a shaped plan: common mass at one point, the rest at the end."""
    plan = make_plan(paper(0.05, features=3))
    kernel = full_kernel(plan).reshape(8, -1)
    claims = certify(plan)
    for i, (name, claimed) in enumerate(claims.delta.items()):
        q = plan.correlation_model.q(name, ["other"])
        own = np.moveaxis(np.arange(8).reshape(2, 2, 2), i, 0).reshape(2, -1)
        worst = 0.0
        for y, a in itertools.product(range(kernel.shape[1]), range(2)):
            f = kernel[own[:, :], y]
            for z in range(4):
                high = (1 - q) * f[a, z] + q * f[a].max()
                low = (1 - q) * f[1 - a, z] + q * f[1 - a].min()
                worst = max(worst, math.log(high / low))
        assert worst == pytest.approx(claimed, abs=1e-6)


def test_closed_form_bound_is_water_filling():
    """Equal features: the trace is shared equally; a cap that binds leaves the rest to the others."""
    policy = Policy(epsilon=2.0, features={f"x{i}": {"type": "binary"} for i in range(10)})
    equal = closed_form(policy, dict.fromkeys(policy.features, 1.0))
    assert equal == pytest.approx(100 / math.sinh(1) ** 2)
    tight = Policy(epsilon=2.0, features={"a": {"type": "binary", "delta": 0.2}, "b": {"type": "binary"}})
    caps = [math.tanh(0.1) ** 2, math.tanh(1) ** 2]
    assert closed_form(tight, {"a": 1.0, "b": 1.0}) == pytest.approx(1 / caps[0] + 1 / caps[1])


def test_closed_form_holds_for_random_answers():
    """Random answers within LDP 2 never tell more than the trace bound allows, and one within LDP 4 does."""
    rng = np.random.default_rng(14)
    signs = sign_vectors(4)
    for _ in range(2000):
        law = np.exp(rng.choice([0.0, 2.0], size=16) if rng.random() < 0.5 else rng.uniform(0, 2.0, size=16))
        means = law / law.mean() @ signs / 16
        assert (means**2).sum() <= math.sinh(1) ** 2
    law = np.where(signs.sum(axis=1) == 4, math.exp(4.0), 1.0)
    means = law / law.mean() @ signs / 16
    assert (means**2).sum() > math.sinh(1) ** 2


def test_bound_is_for_binary_features():
    policy = Policy(epsilon=2.0, features={"age": {"type": "numeric", "bounds": [0, 1]}})
    with pytest.raises(InputError, match=r"features\.age\.type: got 'numeric'; accepted: binary features only"):
        lower_bound(policy, correlation_of(policy), make_plan(policy))


def test_information_predicts_the_objective():
    plan = make_plan(paper(0.05))
    assert sum(1 / told for told in information(plan).values()) == pytest.approx(plan.certificate.objective)
